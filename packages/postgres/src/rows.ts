/** A row as the driver gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** A column that holds a text; anything else fits no seal. */
export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : '';
}

/** A column that holds a text or nothing. */
export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null || row[column] === undefined ? null : text(row, column);
}

/** A column that holds a whole number. */
export function integer(row: Row, column: string): number {
  return Number(row[column] ?? 0);
}

/** The hexadecimal text of a column of bytes. */
export function hex(row: Row, column: string): string {
  const value = row[column];
  return Buffer.isBuffer(value) ? value.toString('hex') : '';
}

/** Bytes for a column, from their hexadecimal text. */
export function bytes(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** Rows turned into one list for each column, as `unnest` takes them. */
export function columns(rows: readonly (readonly unknown[])[], width: number): readonly unknown[][] {
  return Array.from({ length: width }, (_, index) => rows.map((row) => row[index] ?? null));
}

/** Whether a text can be in the database at all. One that cannot names no row, and is not asked for. */
export function isStorable(name: string): boolean {
  return !name.includes('\0') && name.isWellFormed();
}
