import type { Dynamic } from './stepContext.ts';

/**
 * The workflow's database as checks, conditions, handlers and helpers see it (`ctx.db`). Checks and conditions only
 * read. Whatever a handler changes is kept if the step is accepted, and forgotten otherwise. The author's helpers
 * are there by their own names.
 */
export interface StepDatabase extends DatabaseMethods {
  readonly [helper: string]: Dynamic;
}

/** What every database can do. */
export interface DatabaseMethods {
  /** The first row, or undefined. */
  get(sql: string, ...params: readonly Dynamic[]): Dynamic;
  all(sql: string, ...params: readonly Dynamic[]): Dynamic[];
  /** Inserts or updates. Anything that destroys is refused before it is run. */
  run(
    sql: string,
    ...params: readonly Dynamic[]
  ): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  /** All of it, or none. The function must not be async. */
  transaction<T>(work: () => T): T;
  /** Counts the rows that match and gives a token for deleting exactly those, once and soon. */
  getDeleteConfirmation(
    table: string,
    where: Where,
  ): { readonly token: string; readonly count: number; readonly expiresAt: string };
  /** Deletes what was confirmed; gives how many rows went. */
  delete(table: string, where: Where, confirmToken?: string): number;
}

/** Columns with the values they must have, or a condition with its parameters. */
type Where =
  | Readonly<Record<string, Dynamic>>
  | { readonly sql: string; readonly params: readonly Dynamic[] };
