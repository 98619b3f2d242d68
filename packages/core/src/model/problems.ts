import type { DraftProblem } from './draft.ts';
import { MOST_PROBLEMS } from './mostProblems.ts';
import { suggest } from './suggest.ts';

/** A place in a draft. */
export type DraftPath = readonly (string | number)[];

/** How many problems were found and not kept. */
export interface LeftOut {
  readonly errors: number;
  readonly notes: number;
}

/** Whether a problem is to be told. */
export type IsTold = (problem: DraftProblem) => boolean;

/**
 * Gathers what is wrong with a draft, so that it is reported at once; of many problems only the first. Notes take no
 * place from errors, nor does anything that is not to be told: it is not left out either, but the draft is as wrong.
 */
export class Problems {
  readonly list: DraftProblem[] = [];
  readonly #isTold: IsTold;
  readonly #codes = new Set<string>();
  /** Of all errors, told or not. */
  #found = 0;
  #errors = 0;
  #notes = 0;

  constructor(isTold: IsTold = () => true) {
    this.#isTold = isTold;
  }

  error(path: DraftPath, code: string, message: string, offset?: number): void {
    this.#codes.add(code);
    this.#found += 1;
    const at = offset === undefined ? {} : { offset };
    const problem = { path, code, message, severity: 'error' as const, ...at };
    if (!this.#isTold(problem)) return;
    this.#errors += 1;
    if (this.#errors <= MOST_PROBLEMS) this.list.push(problem);
  }

  note(path: DraftPath, code: string, message: string): void {
    this.#codes.add(code);
    const problem = { path, code, message, severity: 'note' as const };
    if (!this.#isTold(problem)) return;
    this.#notes += 1;
    if (this.#notes <= MOST_PROBLEMS) this.list.push(problem);
  }

  /** ` (did you mean …?)`, or nothing: looking for it is work, so the first problems alone have one. */
  hint(word: string | number, known: () => Iterable<string>): string {
    const meant = this.nearest(word, known);
    return meant === null ? '' : ` (did you mean \`${meant}\`?)`;
  }

  /** The word itself that was probably meant. */
  nearest(word: string | number, known: () => Iterable<string>): string | null {
    return this.#found < MOST_PROBLEMS ? suggest(String(word), known()) : null;
  }

  /** Whether something was found, kept or not. */
  has(code: string): boolean {
    return this.#codes.has(code);
  }

  get failed(): boolean {
    return this.#found > 0;
  }

  /** For an answer: only where there is something to say. */
  get more(): { readonly leftOut?: LeftOut } {
    const errors = Math.max(0, this.#errors - MOST_PROBLEMS);
    const notes = Math.max(0, this.#notes - MOST_PROBLEMS);
    return errors + notes === 0 ? {} : { leftOut: { errors, notes } };
  }
}
