import type { Problem } from '@phasegate/core';
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

  error(place: Place, remark: Remark): void {
    this.#add(place, remark, 'error');
  }

  note(place: Place, remark: Remark): void {
    this.#add(place, remark, 'note');
  }

  get failed(): boolean {
    return this.#problems.some(({ severity }) => severity === 'error');
  }

  /** By file, `first` before the others, and by place; the same thing only once. */
  inOrder(first: string): readonly Problem[] {
    const unique = new Map(this.#problems.map((problem) => [JSON.stringify(problem), problem]));
    return [...unique.values()].toSorted(
      (a, b) =>
        Number(b.file === first) - Number(a.file === first) ||
        a.file.localeCompare(b.file, 'en', { numeric: true }) ||
        a.line - b.line ||
        a.column - b.column,
    );
  }

  #add({ file, line, column }: Place, { code, message, hint }: Remark, severity: Problem['severity']): void {
    if (this.#problems.length >= MOST) return;
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

/** More than anyone reads; a hostile folder must not be able to make a report of its own size. */
const MOST = 1000;

/** The beginning of a file. */
export function topOf(file: string): Place {
  return { file, line: 1, column: 1 };
}
