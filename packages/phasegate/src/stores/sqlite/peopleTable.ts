import type { DatabaseSync } from 'node:sqlite';
import { recordMac, sameMac, tampered } from '@phasegate/audit';
import type { StoredHuman } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { HumanRecord, Seal } from '../../runtime/ports.ts';
import { lazily, type SqlRow, text, textOrNull } from './statements.ts';

/** Humans. Every row is sealed: one put in from outside is nobody's. */
export interface PeopleTable {
  /** Throws `state_tampered` where there is none and the project's chain says that one was added. */
  humans(): readonly HumanRecord[];
  putHuman(human: HumanRecord): void;
  /** False when there is no such human. */
  removeHuman(name: string, time: string): boolean;
  /** To be called when another process may have written. */
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** Opens the table. */
export function openPeopleTable(database: DatabaseSync, seal: Seal): PeopleTable {
  const readHumans = lazily(database, 'SELECT * FROM humans WHERE removed_at IS NULL ORDER BY name');
  const readHuman = lazily(database, 'SELECT * FROM humans WHERE name = ? AND removed_at IS NULL');
  const writeHuman = lazily(
    database,
    'INSERT OR REPLACE INTO humans (name, public_key, data, removed_at, mac) VALUES (?, ?, ?, ?, ?)',
  );
  const readHead = lazily(database, 'SELECT max(project_seq) AS project_seq FROM heads');
  const readAdded = lazily(database, ADDED);

  function write(human: HumanRecord, removedAt: string | null): void {
    const data = JSON.stringify(human);
    const mac = recordMac(seal, 'human', [data, removedAt]);
    writeHuman().run(human.name, human.publicKey, data, removedAt, mac);
  }

  function remove(name: string, time: string): boolean {
    // All are looked at before the first is written: a fault must leave nothing behind.
    const found = readHuman()
      .all(name)
      .map((row) => requireSealed(seal, row));
    for (const human of found) write(human, time);
    return found.length > 0;
  }

  /** Records of the project's chain up to this one were looked at, and none said that a human was added. */
  let looked = 0;

  /** Looks at what is newer than last time: every start asks, and the chain grows with every start. */
  function wasAdded(): boolean {
    const head = Number(readHead().get()?.project_seq ?? 0);
    if (head < looked) looked = 0;
    const { present, added } = readAdded().get(looked, head, looked) ?? {};
    if (Number(added) > 0 || Number(present) < head - looked) return true;
    looked = head;
    return false;
  }

  /** What nobody has written past; every start asks, and people are seldom written. */
  let kept: readonly HumanRecord[] | undefined;

  function allHumans(): readonly HumanRecord[] {
    const found = readHumans()
      .all()
      .map((row) => requireSealed(seal, row));
    // The last human cannot be removed: where one was ever added there is one, or somebody deleted the rows.
    if (found.length === 0 && wasAdded()) throw gone();
    return found;
  }

  return {
    humans() {
      kept ??= allHumans();
      return kept;
    },
    putHuman(human) {
      kept = undefined;
      remove(human.name, human.changedAt ?? human.addedAt);
      write(human, null);
    },
    removeHuman(name, time) {
      kept = undefined;
      return remove(name, time);
    },
    doubt() {
      kept = undefined;
    },
    committed: () => undefined,
    discarded() {
      kept = undefined;
    },
  };
}

/** Whether the project's chain says that a human was added, or has lost records that may have said so. */
const ADDED = `SELECT
  (SELECT count(*) FROM audit WHERE run = 0 AND seq > ? AND seq <= ?) AS present,
  EXISTS (SELECT 1 FROM audit WHERE run = 0 AND seq > ? AND event = 'human_added') AS added`;

/** A human from its row, with whether the row is sealed. */
export function storedHuman(seal: Seal, row: SqlRow): StoredHuman {
  const [data, removedAt] = [text(row, 'data'), textOrNull(row, 'removed_at')];
  const sealed =
    sameMac(text(row, 'mac'), recordMac(seal, 'human', [data, removedAt])) && isHumanNamed(data, row);
  const human = sealed ? (JSON.parse(data) as HumanRecord) : unreadable(text(row, 'name'));
  return { human, removed: removedAt !== null, removedAt, sealed };
}

function gone(): PhasegateError {
  return new PhasegateError('state_tampered', 'a human was set up in this project, and is gone', {
    hint: '`phasegate audit verify` says more; put a backup back with `phasegate restore FILE`',
  });
}

function requireSealed(seal: Seal, row: SqlRow): HumanRecord {
  const { human, sealed } = storedHuman(seal, row);
  if (!sealed) throw tampered(`human \`${human.name}\``);
  return human;
}

function isHumanNamed(data: string, row: SqlRow): boolean {
  const { name, publicKey } = JSON.parse(data) as HumanRecord;
  return name === text(row, 'name') && publicKey === text(row, 'public_key');
}

/** Stands for a row nobody may rely on; only its name is ever shown. */
function unreadable(name: string): HumanRecord {
  const wrappedKey = { kdf: 'scrypt', n: 0, r: 0, p: 0, salt: '', iv: '', tag: '', ciphertext: '' } as const;
  return { name, publicKey: '', wrappedKey, addedAt: '' };
}
