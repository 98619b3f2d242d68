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

/**
 * Gathers what is wrong with a draft, so that it is reported at once; of many problems only the first. Notes take no
 * place from errors.
 */
export class Problems {
  readonly list: DraftProblem[] = [];
  readonly #codes = new Set<string>();
  #errors = 0;
  #notes = 0;

  error(path: DraftPath, code: string, message: string, offset?: number): void {
    this.#codes.add(code);
    this.#errors += 1;
    if (this.#errors > MOST_PROBLEMS) return;
    this.list.push({ path, code, message, severity: 'error', ...(offset === undefined ? {} : { offset }) });
  }

  note(path: DraftPath, code: string, message: string): void {
    this.#codes.add(code);
    this.#notes += 1;
    if (this.#notes <= MOST_PROBLEMS) this.list.push({ path, code, message, severity: 'note' });
  }

  /** ` (did you mean …?)`, or nothing; a problem that is not kept needs none, and looking for it is work. */
  hint(word: string | number, known: () => Iterable<string>): string {
    const meant = this.nearest(word, known);
    return meant === null ? '' : ` (did you mean \`${meant}\`?)`;
  }

  /** The word itself that was probably meant. */
  nearest(word: string | number, known: () => Iterable<string>): string | null {
    return this.#errors < MOST_PROBLEMS ? suggest(String(word), known()) : null;
  }

  /** Whether something was found, kept or not. */
  has(code: string): boolean {
    return this.#codes.has(code);
  }

  get failed(): boolean {
    return this.#errors > 0;
  }

  /** For an answer: only where there is something to say. */
  get more(): { readonly leftOut?: LeftOut } {
    const errors = Math.max(0, this.#errors - MOST_PROBLEMS);
    const notes = Math.max(0, this.#notes - MOST_PROBLEMS);
    return errors + notes === 0 ? {} : { leftOut: { errors, notes } };
  }
}
