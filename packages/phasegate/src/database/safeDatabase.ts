/** A value of a row, or bound to a statement. */
export type DatabaseValue = null | number | bigint | string | Uint8Array;

/** A row by the names of its columns. */
export type DatabaseRow = Readonly<Record<string, DatabaseValue>>;

/** What follows a statement: values in order, or first an object of named ones. */
export type DatabaseParams = readonly (DatabaseValue | Readonly<Record<string, DatabaseValue>>)[];

/** Which rows: columns with their values, all of which must match, or a condition with its parameters. */
export type Where =
  | Readonly<Record<string, DatabaseValue>>
  | { readonly sql: string; readonly params: readonly DatabaseValue[] };

/** The right to delete what was counted: once, and not for long. */
export interface DeleteConfirmation {
  readonly token: string;
  /** How many rows go. */
  readonly count: number;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/**
 * An author's database, as steps and checks get it: rows are read, added and changed, deleted only with a
 * confirmation, and the schema stays as migrations made it.
 */
export interface SafeDatabase {
  /** The first row, or undefined. */
  get(sql: string, ...params: DatabaseParams): DatabaseRow | undefined;
  all(sql: string, ...params: DatabaseParams): readonly DatabaseRow[];
  run(
    sql: string,
    ...params: DatabaseParams
  ): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  /** All of it or nothing. One inside another is undone alone. The function must not be async. */
  transaction<Value>(work: () => Value): Value;
  /** Counts what a delete would remove and gives the token for exactly that delete. */
  getDeleteConfirmation(table: string, where: Where): DeleteConfirmation;
  /** Deletes what was confirmed; gives how many rows went. */
  delete(table: string, where: Where, token?: string): number;
  /** Always refused. */
  dropTable(table?: string): never;
  /** Always refused. */
  truncateTable(table?: string): never;
  /** Always refused. */
  deleteDatabase(): never;
  /** For the one who opened it. */
  close(): void;
}
