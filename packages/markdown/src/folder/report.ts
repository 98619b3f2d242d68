import type { Problem } from '@phasegate/core';
import { firstProblems, MOST_PROBLEMS } from '@phasegate/core/model';
import type { Place } from '@phasegate/core/ports';

export type { Place };

/** What is said about a place. */
export interface Remark {
  readonly code: string;
  readonly message: string;
  /** What to do about it, where that is not plain from the message. */
  readonly hint?: string;
}

/** Gathers everything found while a folder is read, so that all of it is reported at once. */
export class Report {
  readonly #problems: Problem[] = [];
  readonly #found = { error: 0, note: 0 };
  readonly #leftOut = { error: 0, note: 0 };

  error(place: Place, remark: Remark): void {
    this.#add(place, remark, 'error');
  }

  note(place: Place, remark: Remark): void {
    this.#add(place, remark, 'note');
  }

  get failed(): boolean {
    return this.#found.error > 0;
  }

  /** Of very many only the first. By file, `first` before the others, and by place; the same thing only once. */
  inOrder(first: string): readonly Problem[] {
    const unique = new Map(this.#problems.map((problem) => [JSON.stringify(problem), problem]));
    const all = [...unique.values()].toSorted(
      (a, b) =>
        Number(b.file === first) - Number(a.file === first) ||
        a.file.localeCompare(b.file, 'en', { numeric: true }) ||
        a.line - b.line ||
        a.column - b.column,
    );
    return firstProblems(all, {
      errors: this.#leftOut.error,
      notes: this.#leftOut.note,
    });
  }

  /** Others were found, and are not known one by one. */
  leaveOut({ errors, notes } = { errors: 0, notes: 0 }): void {
    this.#leftOut.error += errors;
    this.#leftOut.note += notes;
  }

  #add({ file, line, column }: Place, { code, message, hint }: Remark, severity: Problem['severity']): void {
    this.#found[severity] += 1;
    if (this.#found[severity] > MOST_PROBLEMS) {
      this.#leftOut[severity] += 1;
      return;
    }
    this.#problems.push({
      file,
      line,
      column,
      code,
      message,
      severity,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

/** The beginning of a file. */
export function topOf(file: string): Place {
  return { file, line: 1, column: 1 };
}
