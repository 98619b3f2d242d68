import { writtenDrafts } from '@phasegate/audit';
import { canonicalJson, type JsonObject, PhasegateError } from '@phasegate/core';
import type { KeptRecord, KeptStore, Seal } from '@phasegate/core/ports';
import { coalesced } from './coalesced.ts';
import type { Database } from './database.ts';
import { keptKey, readKept, storedKept, unsealed } from './keptRows.ts';
import { isStorable, type Row } from './rows.ts';
import { sound } from './runReader.ts';
import type { Writer } from './writer.ts';

/** The kept records of a store, each written with what goes on a chain because of it. */
export function keptParts(parts: {
  readonly database: Database;
  readonly writer: Writer;
  readonly seal: Seal;
}): KeptStore {
  const { database, writer, seal } = parts;
  // Strangers who guess sessions ask too, as many as have a connection: theirs must not be everybody's questions.
  const one = coalesced(async (keys: readonly Pick<KeptRecord, 'kind' | 'key'>[]) => {
    const found = await readKept(database.query, seal, keys);
    return ({ kind, key }) => found.get(keptKey(kind, key));
  });
  return {
    kept: async (kind, key) => sound(await one({ kind, key })),
    async keptAll(kind, prefix = '', part) {
      if (!isStorable(prefix)) return [];
      const [from, to] = range(prefix);
      if (part === undefined) {
        const { rows } = await database.query(`SELECT * FROM kept WHERE ${BENEATH} ORDER BY key`, [
          kind,
          from,
          to,
        ]);
        return rows.map((row) => opened(seal, row));
      }
      const { limit, before = to } = part;
      const { rows } = await database.query(
        `SELECT * FROM kept WHERE ${BENEATH} AND key < $4 ORDER BY key DESC LIMIT $5`,
        [kind, from, to, before, limit],
      );
      return rows.map((row) => opened(seal, row)).reverse();
    },
    async keep({ kind, key, data }, { run, audit, epoch, was }) {
      if (!isStorable(key))
        throw new PhasegateError('request_invalid', `the key of a ${kind} is not valid Unicode`);
      const drafts = writtenDrafts(audit);
      const told = canonicalJson(data);
      return writer.submit({
        needs: { runs: run === null ? [] : [run], kept: [{ kind, key }] },
        act(batch) {
          const before = run === null ? null : batch.current(run);
          if (before === undefined || (epoch !== undefined && before?.run.epoch !== epoch)) return false;
          const found = batch.kept(kind, key);
          if (was !== undefined && canonicalJson(was) !== canonicalJson(found ?? null)) return false;
          batch.keep(kind, key, { value: JSON.parse(told) as JsonObject, text: told });
          if (before === null) batch.project(drafts);
          else batch.grow(before, drafts);
          return true;
        },
      });
    },
    dropKept: (kind, prefix, isKey = false) =>
      writer.alone(async (query) => {
        const { count } = isKey
          ? await query('DELETE FROM kept WHERE kind = $1 AND key = $2', [kind, prefix])
          : await query(`DELETE FROM kept WHERE ${BENEATH}`, [kind, ...range(prefix)]);
        return count;
      }),
  };
}

const BENEATH = 'kind = $1 AND key >= $2 AND key < $3';

/** No character comes after the last one. */
function range(prefix: string): readonly [from: string, to: string] {
  return [prefix, `${prefix}\u{10FFFF}`];
}

function opened(seal: Seal, row: Row): KeptRecord {
  const record = storedKept(seal, row);
  if (record === null) throw unsealed(row);
  return record;
}
