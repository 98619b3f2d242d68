import type { DraftProblem } from './draft.ts';

/** A place in a draft. */
export type DraftPath = readonly (string | number)[];

/** Gathers everything that is wrong with a draft, so that all of it is reported at once. */
export class Problems {
  readonly list: DraftProblem[] = [];

  error(path: DraftPath, code: string, message: string, offset?: number): void {
    this.list.push({ path, code, message, severity: 'error', ...(offset === undefined ? {} : { offset }) });
  }

  note(path: DraftPath, code: string, message: string): void {
    this.list.push({ path, code, message, severity: 'note' });
  }

  get failed(): boolean {
    return this.list.some((problem) => problem.severity === 'error');
  }
}
