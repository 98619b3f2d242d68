import type { Json } from '../../json.ts';

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

/** Carries an error out of the parser or the evaluator; never leaves the functions that export them. */
export class ExpressionFault extends Error {
  readonly error: ExpressionError;

  constructor(error: ExpressionError) {
    super(error.message);
    this.error = error;
  }
}

/** True for a word that may stand after a dot, such as `delta`. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
