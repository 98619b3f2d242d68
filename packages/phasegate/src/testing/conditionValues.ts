import { canonicalJson, type Json, type Phase } from '@phasegate/core';
import { type Expression, pathsOf, schemaAt } from '@phasegate/core/model';
import { type JsonPath, valueAt } from './jsonPath.ts';

/** A value a condition names: in what is submitted, in what the run has had before, or in what its handlers said. */
export interface NamedValue {
  readonly from: 'result' | 'checkpoint' | 'state';
  readonly path: JsonPath;
  /** Where the condition names it. */
  readonly at: ConditionPath;
}

/** The condition of a phase's route as it was parsed; null where it has none, or one that is a function. */
export function routeExpression({ next }: Phase): Expression | null {
  return next.kind === 'when' && next.condition.kind === 'expression' ? next.condition.expression : null;
}

/** The values a condition names that a test can give; params and iterations are the case's own. */
export function namedValues(expression: Expression, phase: Phase): readonly NamedValue[] {
  return pathsOf(expression).flatMap((at): NamedValue[] => {
    const { root, steps } = at;
    if (root === 'result') return [{ from: 'result', path: steps, at }];
    if (root === 'state') return [{ from: 'state', path: steps, at }];
    if (root === 'checkpoint' || root === 'artifacts') return [{ from: 'checkpoint', path: steps, at }];
    return phase.evidence.artifacts.some(({ type }) => type === root)
      ? [{ from: 'result', path: [root, ...steps], at }]
      : [];
  });
}

/** Values that may make a difference to a condition at a path: those it is held against there, then all others. */
export function valuesToTry(expression: Expression, at: ConditionPath, scope: Json): readonly Json[] {
  const use = useOf(expression, at);
  const against = typeof use === 'object' && use !== null ? valuesIn(use, scope) : [];
  const about = [...against, ...valuesIn(expression, scope)];
  const numbers = about.filter((value) => typeof value === 'number');
  const lists = [
    ...numbers
      .filter((value) => Number.isInteger(value) && value >= 0 && value < 100)
      .flatMap((count) => [listOf(count), listOf(count + 1)]),
    about,
    [],
  ];
  const others = [
    // What it is held against comes first, for it is of the same kind; where that is open, most things are counted.
    ...(against.length === 0 ? [1] : against),
    ...about,
    ...numbers.flatMap((value) => [value + 1, value - 1]),
    ...about.map((value) => (typeof value === 'boolean' ? !value : 'something else')),
  ];
  const truths = [true, false];
  const inOrder = {
    list: [...lists, ...others, ...truths],
    truth: [...truths, ...others, ...lists],
    compared: [...others, ...lists, ...truths],
  }[typeof use === 'string' ? use : 'compared'];
  return inOrder.filter(
    (value, index) => inOrder.findIndex((one) => canonicalJson(one) === canonicalJson(value)) === index,
  );
}

function valuesIn(expression: Expression, scope: Json): readonly Json[] {
  const named = pathsOf(expression).flatMap(({ root, steps }) => valueAt(scope, [root, ...steps]) ?? []);
  return [...literalsIn(expression), ...named];
}

/** A path as it stands in a condition. */
export type ConditionPath = Expression & { readonly kind: 'path' };

/** Whether a condition counts or searches what is at a path, asks for its truth, or what it is held against. */
function useOf(expression: Expression, at: ConditionPath): 'list' | 'truth' | Expression | null {
  switch (expression.kind) {
    case 'path':
      return expression === at ? 'truth' : null;
    case 'length':
      return expression.operand === at ? 'list' : useOf(expression.operand, at);
    case 'not':
      return useOf(expression.operand, at);
    case 'compare':
      if (expression.operator === 'in' && expression.right === at) return 'list';
      if (expression.left === at) return expression.right;
      if (expression.right === at) return expression.left;
      return useOf(expression.left, at) ?? useOf(expression.right, at);
    case 'and':
    case 'or':
      return useOf(expression.left, at) ?? useOf(expression.right, at);
    default:
      return null;
  }
}

/** What the schema of an artifact lists for a place in it. */
export function listedValues(phase: Phase, [type, ...path]: JsonPath): readonly Json[] {
  const artifact = phase.evidence.artifacts.find((candidate) => candidate.type === type);
  const schema = schemaAt(artifact?.schema ?? true, path);
  const listed = typeof schema === 'object' && schema !== null && 'enum' in schema ? schema.enum : undefined;
  return Array.isArray(listed) ? listed : [];
}

function literalsIn(expression: Expression): readonly Json[] {
  switch (expression.kind) {
    case 'literal':
      return [expression.value];
    case 'path':
      return [];
    case 'list':
      return expression.items.flatMap(literalsIn);
    case 'not':
    case 'length':
      return literalsIn(expression.operand);
    default:
      return [...literalsIn(expression.left), ...literalsIn(expression.right)];
  }
}

function listOf(length: number): readonly Json[] {
  return Array.from({ length }, (_, index) => `item ${index + 1}`);
}
