import type { Json } from '../../json.ts';
import { type Expression, evaluate, pathsOf } from '../../model/expression.ts';

/** What is known of a condition: its answer, that it has none, or that it depends on what nobody knows yet. */
export type Truth = 'yes' | 'no' | 'error' | 'unknown';

/** What is known while a workflow is explored; what is absent may be anything. */
export interface KnownValues {
  /** Values of the params that are tried one by one. */
  readonly params: Readonly<Record<string, Json>>;
  /** Names of those params; one without a value was not given. */
  readonly tried: ReadonlySet<string>;
  readonly iteration: number | null;
}

/** Evaluates as far as params and iteration decide. */
export function partialTruth(expression: Expression, known: KnownValues): Truth {
  if (isDecidable(expression, known)) {
    const scope = { params: { ...known.params }, iteration: known.iteration ?? undefined };
    const result = evaluate(expression, scope);
    if (!result.ok) return 'error';
    return result.value ? 'yes' : 'no';
  }
  switch (expression.kind) {
    case 'and':
      return both(partialTruth(expression.left, known), () => partialTruth(expression.right, known));
    case 'or':
      return either(partialTruth(expression.left, known), () => partialTruth(expression.right, known));
    case 'not':
      return opposite(partialTruth(expression.operand, known));
    default:
      return 'unknown';
  }
}

/** True when params that are tried, and the iteration, are all an expression looks at. */
export function isDecidable(
  expression: Expression,
  { tried, iteration }: Pick<KnownValues, 'tried' | 'iteration'>,
): boolean {
  return pathsOf(expression).every(({ root, steps }) =>
    root === 'params' ? tried.has(String(steps[0])) : root === 'iteration' && iteration !== null,
  );
}

/** The smallest parts of an expression that are true or false by themselves. */
export function atomsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'and' || expression.kind === 'or')
    return [...atomsOf(expression.left), ...atomsOf(expression.right)];
  return expression.kind === 'not' ? atomsOf(expression.operand) : [expression];
}

function both(left: Truth, right: () => Truth): Truth {
  if (left === 'no' || left === 'error') return left;
  if (left === 'yes') return right();
  return right() === 'no' ? 'no' : 'unknown';
}

function either(left: Truth, right: () => Truth): Truth {
  if (left === 'yes' || left === 'error') return left;
  return left === 'no' ? right() : 'unknown';
}

function opposite(truth: Truth): Truth {
  if (truth === 'yes') return 'no';
  return truth === 'no' ? 'yes' : truth;
}
