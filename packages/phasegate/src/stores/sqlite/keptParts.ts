import type { DatabaseSync } from 'node:sqlite';
import { recordMac, sameMac, tampered, writtenDrafts } from '@phasegate/audit';
import { canonicalJson, type JsonObject, PhasegateError } from '@phasegate/core';
import type { KeptRecord, KeptStore, Seal, WrittenDraft } from '../../runtime/ports.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { HeadTable } from './headTable.ts';
import type { RunRow, RunTable } from './runTable.ts';
import { lazily, type SqlRow, text } from './statements.ts';

/** The kept records of a store, each written with what goes on a chain because of it. */
export function keptParts(parts: {
  readonly database: DatabaseSync;
  readonly seal: Seal;
  readonly commits: GroupCommit;
  readonly asking: <T>(question: () => T) => Promise<T>;
  readonly runs: Pick<RunTable, 'current'>;
  readonly heads: Pick<HeadTable, 'require' | 'append'>;
  /** Chains records to a run whose state stays as it is. */
  readonly grow: (before: RunRow, drafts: readonly WrittenDraft[]) => void;
}): KeptStore {
  const { database, seal, commits, asking, runs, heads, grow } = parts;
  const readOne = lazily(database, 'SELECT * FROM kept WHERE kind = ? AND key = ?');
  const readAll = lazily(database, 'SELECT * FROM kept WHERE kind = ? AND key >= ? AND key < ? ORDER BY key');
  const readLast = lazily(
    database,
    'SELECT * FROM kept WHERE kind = ? AND key >= ? AND key < ? AND key < ? ORDER BY key DESC LIMIT ?',
  );
  const write = lazily(database, 'INSERT OR REPLACE INTO kept (kind, key, data, mac) VALUES (?, ?, ?, ?)');
  const remove = lazily(database, 'DELETE FROM kept WHERE kind = ? AND key >= ? AND key < ?');
  const removeOne = lazily(database, 'DELETE FROM kept WHERE kind = ? AND key = ?');

  function opened(row: SqlRow): KeptRecord {
    const record = storedKept(seal, row);
    if (record === null) throw tampered(`${text(row, 'kind')} \`${text(row, 'key')}\``);
    return record;
  }

  function find(kind: string, key: string): JsonObject | undefined {
    const row = readOne().get(kind, key);
    return row === undefined ? undefined : opened(row).data;
  }

  return {
    kept: (kind, key) => asking(() => find(kind, key)),
    keptAll: (kind, prefix = '', part) =>
      asking(() => {
        const [from, to] = range(prefix);
        if (part === undefined) return readAll().all(kind, from, to).map(opened);
        const { limit, before = to } = part;
        return readLast().all(kind, from, to, before, limit).reverse().map(opened);
      }),
    async keep({ kind, key, data }, { run, audit, epoch, was }) {
      if (!key.isWellFormed())
        throw new PhasegateError('request_invalid', `the key of a ${kind} is not valid Unicode`);
      const drafts = writtenDrafts(audit);
      const told = canonicalJson(data);
      return commits.submit(() => {
        const before = run === null ? null : runs.current(run);
        if (before === undefined || (epoch !== undefined && before?.run.epoch !== epoch)) return false;
        if (was !== undefined && !isSame(was, find(kind, key))) return false;
        write().run(kind, key, told, recordMac(seal, 'kept', [kind, key, told]));
        if (before !== null) grow(before, drafts);
        else if (drafts.length > 0) {
          heads.require();
          heads.append(drafts);
        }
        return true;
      });
    },
    dropKept: (kind, prefix, isKey = false) =>
      commits.submit(() =>
        Number((isKey ? removeOne().run(kind, prefix) : remove().run(kind, ...range(prefix))).changes),
      ),
  };
}

/** A kept record from its row, or null where the row is not sealed. */
export function storedKept(seal: Seal, row: SqlRow): KeptRecord | null {
  const [kind, key, data] = [text(row, 'kind'), text(row, 'key'), text(row, 'data')];
  if (!sameMac(text(row, 'mac'), recordMac(seal, 'kept', [kind, key, data]))) return null;
  return { kind, key, data: JSON.parse(data) as JsonObject };
}

/** No character comes after the last one. */
function range(prefix: string): [from: string, to: string] {
  return [prefix, `${prefix}\u{10FFFF}`];
}

function isSame(was: JsonObject | null, found: JsonObject | undefined): boolean {
  return canonicalJson(was) === canonicalJson(found ?? null);
}
