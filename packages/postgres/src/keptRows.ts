import { recordMac, sameMac, tampered } from '@phasegate/audit';
import type { JsonObject, PhasegateError } from '@phasegate/core';
import type { KeptRecord, Seal } from '@phasegate/core/ports';
import type { Query } from './database.ts';
import { isStorable, type Row, text } from './rows.ts';
import type { Found } from './runReader.ts';

/** The key of a kept record among others. */
export function keptKey(kind: string, key: string): string {
  return `${kind.length}:${kind}${key}`;
}

/** Reads some kept records. */
export async function readKept(
  query: Query,
  seal: Seal,
  asked: readonly Pick<KeptRecord, 'kind' | 'key'>[],
): Promise<ReadonlyMap<string, Found<JsonObject>>> {
  const keys = asked.filter(({ key }) => isStorable(key));
  if (keys.length === 0) return new Map();
  const { rows } = await query(SOME, [keys.map(({ kind }) => kind), keys.map(({ key }) => key)]);
  return new Map(
    rows.map((row) => {
      const record = storedKept(seal, row);
      return [keptKey(text(row, 'kind'), text(row, 'key')), record?.data ?? unsealed(row)] as const;
    }),
  );
}

/** A kept record from its row, or null where the row is not sealed. */
export function storedKept(seal: Seal, row: Row): KeptRecord | null {
  const [kind, key, data] = [text(row, 'kind'), text(row, 'key'), text(row, 'data')];
  if (!sameMac(text(row, 'mac'), keptMac(seal, { kind, key, text: data }))) return null;
  return { kind, key, data: JSON.parse(data) as JsonObject };
}

/** The seal of a kept record. */
export function keptMac(
  seal: Seal,
  { kind, key, text: data }: { readonly kind: string; readonly key: string; readonly text: string },
): string {
  return recordMac(seal, 'kept', [kind, key, data]);
}

const SOME = `SELECT k.* FROM unnest($1::text[], $2::text[]) AS u(kind, key)
  JOIN kept k ON k.kind = u.kind AND k.key = u.key`;

/** The fault of one that does not match its seal. */
export function unsealed(row: Row): PhasegateError {
  return tampered(`${text(row, 'kind')} \`${text(row, 'key')}\``);
}
