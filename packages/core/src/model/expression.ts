import type { Json } from '../json.ts';

/** A parsed condition: plain data, evaluated without `eval`. Positions are offsets into the source. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: Json; readonly at: number }
  | {
      readonly kind: 'path';
      readonly root: string;
      readonly steps: readonly (string | number)[];
      readonly at: number;
    }
  | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly at: number }
  | { readonly kind: 'not'; readonly operand: Expression; readonly at: number }
  | { readonly kind: 'length'; readonly operand: Expression; readonly at: number }
  | {
      readonly kind: 'compare';
      readonly operator: '===' | '!==' | '<' | '<=' | '>' | '>=' | 'in';
      readonly left: Expression;
      readonly right: Expression;
      readonly at: number;
    }
  | {
      readonly kind: 'and' | 'or';
      readonly left: Expression;
      readonly right: Expression;
      readonly at: number;
    };

/** What a condition may look at, by root name. */
export type Scope = { readonly [root: string]: Json | undefined };

/** Why a condition has no answer. A missing path is an error, never false. */
export interface ExpressionError {
  readonly code: 'syntax' | 'unknown_root' | 'missing_path' | 'wrong_type';
  readonly message: string;
  /** Offset into the source. */
  readonly at: number;
}

/** Parses a condition; errors carry the offset of what is wrong. */
export declare function parseExpression(
  source: string,
):
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly error: ExpressionError };

/** Evaluates to true or false, or says why there is no answer. */
export declare function evaluate(
  expression: Expression,
  scope: Scope,
): { readonly ok: true; readonly value: boolean } | { readonly ok: false; readonly error: ExpressionError };

/** Every path the expression names, for checks at definition time. */
export declare function pathsOf(expression: Expression): readonly (Expression & { kind: 'path' })[];
