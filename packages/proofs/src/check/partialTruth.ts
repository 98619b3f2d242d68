import type { Json, JsonObject } from '@phasegate/core/model';
import { type Expression, evaluate, pathsOf } from '@phasegate/core/model';

/** What may come of a condition, as far as is known: each is there where it can be. */
export interface PossibleTruth {
  readonly yes: boolean;
  readonly no: boolean;
  /** That it has no answer, as a value it names is missing or of another kind. */
  readonly error: boolean;
}

/** The same in a word: its answer, that it has none, or that it depends on what nobody knows yet. */
export type Truth = 'yes' | 'no' | 'error' | 'unknown';

/** What is known while a workflow is explored; what is absent may be anything. */
export interface KnownValues {
  /** Values of the params that are tried one by one. */
  readonly params: Readonly<Record<string, Json>>;
  /** Names of those params; one without a value was not given. */
  readonly tried: ReadonlySet<string>;
  readonly iteration: number | null;
  /** What was handed in, where that is known: nothing, in a parallel phase without items. */
  readonly result?: JsonObject;
}

/** Evaluates as far as params and iteration decide. */
export function possibleTruth(expression: Expression, known: KnownValues): PossibleTruth {
  if (isDecidable(expression, known)) {
    const { params, result: handed, iteration } = known;
    const scope = { params: { ...params }, iteration: iteration ?? undefined, result: handed };
    const result = evaluate(expression, scope);
    if (!result.ok) return { ...NEVER, error: true };
    return result.value ? { ...NEVER, yes: true } : { ...NEVER, no: true };
  }
  switch (expression.kind) {
    case 'and': {
      const left = possibleTruth(expression.left, known);
      const right = left.yes ? possibleTruth(expression.right, known) : NEVER;
      return { yes: right.yes, no: left.no || right.no, error: left.error || right.error };
    }
    case 'or': {
      const left = possibleTruth(expression.left, known);
      const right = left.no ? possibleTruth(expression.right, known) : NEVER;
      return { yes: left.yes || right.yes, no: right.no, error: left.error || right.error };
    }
    case 'not': {
      const { yes, no, error } = possibleTruth(expression.operand, known);
      return { yes: no, no: yes, error };
    }
    default:
      return ANY_TRUTH;
  }
}

/** The same in a word; one that can only be false or have no answer is false. */
export function partialTruth(expression: Expression, known: KnownValues): Truth {
  const { yes, no, error } = possibleTruth(expression, known);
  if (!yes) return no ? 'no' : 'error';
  return no || error ? 'unknown' : 'yes';
}

/** What may come of a condition of which nothing is known. */
export const ANY_TRUTH: PossibleTruth = { yes: true, no: true, error: true };

const NEVER: PossibleTruth = { yes: false, no: false, error: false };

/** True when params that are tried, and the iteration, are all an expression looks at. */
export function isDecidable(
  expression: Expression,
  { tried, iteration, result }: Pick<KnownValues, 'tried' | 'iteration' | 'result'>,
): boolean {
  return pathsOf(expression).every(({ root, steps }) => {
    if (root === 'params') return tried.has(String(steps[0]));
    return root === 'iteration' ? iteration !== null : root === 'result' && result !== undefined;
  });
}

/** The smallest parts of an expression that are true or false by themselves. */
export function atomsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'and' || expression.kind === 'or')
    return [...atomsOf(expression.left), ...atomsOf(expression.right)];
  return expression.kind === 'not' ? atomsOf(expression.operand) : [expression];
}
