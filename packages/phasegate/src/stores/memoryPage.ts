import { countWithin, createCutter, leavingOut, placeOf, withPlaces } from '@phasegate/audit';
import { type AuditRecord, canonicalJson, type Json } from '@phasegate/core';
import type { Reading } from '../runtime/ports.ts';

/** A page of records that are held whole, with as much of them as is asked for. */
export function pageOf<T extends AuditRecord>(
  records: readonly T[],
  { after, limit }: { readonly after: number; readonly limit: number },
  reading: Reading,
): readonly T[] {
  const page = records.slice(after, limit < 0 ? undefined : after + limit);
  if (reading.most === undefined && reading.values === undefined) return page;
  const stored = page.map(({ data }) => storedText(data));
  const wanted = page.slice(0, countWithin(stored, reading));
  if (reading.values !== 'left_out') return wanted;
  return wanted.map((record, index) => ({
    ...record,
    data: JSON.parse(leavingOut(stored[index] ?? '')) as Json,
  }));
}

/** As a store with rows has it. */
function storedText(data: Json): string {
  if (typeof data !== 'object' || data === null) return canonicalJson(data);
  const known = storedTexts.get(data);
  if (known !== undefined) return known;
  const text = withPlaces(createCutter().canonical(data, canonicalJson(data)), (part) => placeOf(0, part));
  storedTexts.set(data, text);
  return text;
}

/** Data of records never changes. */
const storedTexts = new WeakMap<object, string>();
