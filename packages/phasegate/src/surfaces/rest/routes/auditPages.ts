import type { AuditRecord } from '@phasegate/core';
import type { Reading } from '../../../runtime/ports.ts';

/** Reads records after a number, oldest first. */
export type ReadAfter<T extends AuditRecord> = (
  after: number,
  limit: number,
  reading: Reading,
) => Promise<readonly T[]>;

/** A page of records, and the number after which the next one begins. */
export interface AuditPageRead<T extends AuditRecord> {
  readonly records: readonly T[];
  readonly next: number | null;
}

/**
 * In characters of data, as which records are read at once and answered at most: evidence of many completions would stop
 * everybody while one answer is made of it. A page has one record at least, and then says where the next begins.
 */
export const MOST_DATA = 4 * 1024 * 1024;

/** A page that is bounded by its records and by their data. It is the last one only where it says so. */
export async function auditPageAfter<T extends AuditRecord>(
  read: ReadAfter<T>,
  { after, limit }: { readonly after: number; readonly limit: number },
  numberOf: (record: T) => number,
): Promise<AuditPageRead<T>> {
  const found = await read(after, limit + 1, { most: MOST_DATA });
  const records = found.slice(0, limit);
  const last = records.at(-1);
  if (last === undefined) return { records, next: null };
  const next = numberOf(last);
  const isMore = found.length > limit || (await read(next, 1, { values: 'left_out' })).length > 0;
  return { records, next: isMore ? next : null };
}
