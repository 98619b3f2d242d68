import { OUTCOMES, type Target } from '@phasegate/core';
import type { RouteDraft } from '@phasegate/core/model';
import { type Compilation, defined, type Fields, type Path } from './compilation.ts';
import { compileNextCondition } from './compileCondition.ts';

const CONDITION_KEYS = ['condition', 'onTrue', 'onFalse', 'maxIterations', 'onExhausted'];
const OUTCOME_KEYS = [...OUTCOMES, '_default'];

/** Compiles `next`: a step, the end, a condition, or a map of outcomes. */
export function compileRoute(
  compilation: Compilation,
  value: unknown,
  { path, owner }: { readonly path: Path; readonly owner: string },
): RouteDraft | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) {
    const target = compilation.target(value, path);
    return target === undefined ? undefined : { to: target };
  }
  if (CONDITION_KEYS.slice(0, 3).some((key) => Object.hasOwn(value, key))) {
    const fields = compilation.fields(value, path, CONDITION_KEYS);
    return fields && compileConditional(compilation, fields, { path, owner });
  }
  const fields = compilation.fields(value, path, [...OUTCOME_KEYS, 'maxIterations', 'onExhausted']);
  if (fields === undefined) return undefined;
  const outcomes: Record<string, Target> = {};
  for (const key of OUTCOME_KEYS) {
    const target = compilation.target(fields[key], [...path, 'outcomes', key]);
    if (target !== undefined) outcomes[key] = target;
  }
  return { outcomes, ...loop(compilation, fields, path) };
}

function compileConditional(
  compilation: Compilation,
  fields: Fields,
  { path, owner }: { readonly path: Path; readonly owner: string },
): RouteDraft | undefined {
  const condition = compileNextCondition(compilation, fields.condition, {
    path: [...path, 'condition'],
    owner: `${owner}/next`,
  });
  const [onTrue, onFalse] = (['onTrue', 'onFalse'] as const).map((key) => {
    if (fields[key] === undefined)
      compilation.problem([...path, key], 'missing_key', `a condition needs \`${key}\``);
    return compilation.target(fields[key], [...path, key]);
  });
  if (condition === undefined || onTrue === undefined || onFalse === undefined) return undefined;
  return { condition, onTrue, onFalse, ...loop(compilation, fields, path) };
}

function loop(compilation: Compilation, fields: Fields, path: Path) {
  return defined({
    maxIterations: compilation.number(fields.maxIterations, [...path, 'maxIterations']),
    onExhausted: compilation.target(fields.onExhausted, [...path, 'onExhausted']),
  });
}
