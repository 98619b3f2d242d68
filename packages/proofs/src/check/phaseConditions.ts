import type { Check, Phase, Workflow } from '@phasegate/core/model';
import { type Expression, parseExpression, pathsOf, SCOPE_ROOTS } from '@phasegate/core/model';
import { contradictionIn, type Length, type NameOf, type ValuesAt } from './contradiction.ts';
import { evidenceValues, paramValues } from './schemaValues.ts';
import { ANYTHING } from './valueSet.ts';

type Path = Expression & { readonly kind: 'path' };
type Wanted = readonly [Expression, boolean];

/** The condition of an `expression` check, or what a check on submitted numbers comes to; null for any other. */
export function conditionOf(check: Check): Expression | null {
  const known = conditions.get(check);
  if (known !== undefined) return known;
  const condition = readCondition(check);
  conditions.set(check, condition);
  return condition;
}

/** What is asked of a phase's evidence too much, with or without its schemas; null where something can satisfy it. */
export function clashOf(
  workflow: Workflow,
  phase: Phase,
  asked: { readonly wanted: readonly Wanted[]; readonly schemas: boolean },
): string | null {
  const valuesAt: ValuesAt = (path, length) =>
    asked.schemas ? valuesFor(workflow, phase, path, length) : ANYTHING;
  return contradictionIn(asked.wanted, valuesAt, (path) => nameIn(phase, path));
}

/** What must hold of the same evidence that the way on is told by, as far as it can be read. */
export function leavingConditions(phase: Phase): readonly Wanted[] {
  // Of a parallel phase that is the joined result, and its postconditions are about each item.
  const checks = phase.parallel === null ? [...phase.postconditions, ...phase.blockers] : phase.blockers;
  return checks.flatMap((check): Wanted[] => {
    const expression = conditionOf(check);
    if (expression === null) return [];
    // What a human decides stands in the checkpoint afterwards, so it is another one.
    const moves = phase.humanGate !== null && pathsOf(expression).some(({ root }) => root === 'checkpoint');
    return moves ? [] : [[expression, true]];
  });
}

// It is asked of in every state, and a definition does not change.
const conditions = new WeakMap<Check, Expression | null>();

function readCondition(check: Check): Expression | null {
  if (check.use === 'expression') return parsed(check.with.condition);
  const artifact = typeof check.with.artifact === 'string' ? check.with.artifact : 'test_run_result';
  const meaning = SUBMITTED[check.use];
  return meaning === undefined ? null : parsed(meaning.replaceAll('RUN', artifact));
}

const SUBMITTED: Readonly<Record<string, string>> = {
  tests_are_failing: 'RUN.failed > 0',
  tests_are_passing: 'RUN.failed === 0 && RUN.passed > 0',
  no_skipped_tests: 'RUN.skipped === 0',
};

function parsed(source: unknown): Expression | null {
  if (typeof source !== 'string') return null;
  const result = parseExpression(source);
  return result.ok ? result.expression : null;
}

/** The same evidence under one name, however it is reached, and nothing else under it. */
function nameIn(phase: Phase, path: Path): ReturnType<NameOf> {
  const steps = stepsIn(phase, path);
  const named = steps ?? [path.root, ...path.steps];
  return { key: JSON.stringify([steps === null, ...named]), name: named.join('.') };
}

function stepsIn(phase: Phase, { root, steps }: Path): readonly (string | number)[] | null {
  if (root === 'result') return steps;
  if (root === 'artifacts') return asksFor(phase, String(steps[0])) ? steps : null;
  // An artifact is a root of its own, a field is not; and the name of another root means that.
  const artifact = phase.evidence.artifacts.some(({ type }) => type === root);
  return artifact && !SCOPE_ROOTS.includes(root) ? [root, ...steps] : null;
}

function asksFor({ evidence }: Phase, name: string): boolean {
  return (
    evidence.artifacts.some(({ type }) => type === name) ||
    evidence.fields.some((field) => field.name === name)
  );
}

function valuesFor(workflow: Workflow, phase: Phase, path: Path, length: Length) {
  const steps = stepsIn(phase, path);
  if (steps !== null && steps.length > 0 && phase.parallel === null)
    return evidenceValues(phase, steps, length);
  const param =
    path.root === 'params' && path.steps.length === 1 ? workflow.params[String(path.steps[0])] : undefined;
  return param === undefined || length !== 'none' ? ANYTHING : paramValues(param);
}
