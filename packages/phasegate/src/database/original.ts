import { constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { own } from '@phasegate/core';
import { beginReading, connect, copyOut, schemaOf } from './copies.ts';
import { fingerprintBytes, fingerprintFile } from './fingerprint.ts';
import { type Patience, whenFree } from './whenFree.ts';

/** An author's database while an attempt is made on a copy of it. */
export interface Original {
  /** Of what was copied. */
  readonly fingerprint: string;
  readonly schema: string;
  /** Whether anybody has written to it since. */
  changed(): boolean;
  /** Keeps everybody from writing. */
  hold(): void;
  letGo(): void;
  close(): void;
}

/** Copies a database, and watches it from that very state on. */
export async function watchOriginal(file: string, copy: string, patience: Patience): Promise<Original> {
  const database = connect(file);
  try {
    await whenFree(file, patience, () => beginReading(database));
    const isWal = own(database.prepare('PRAGMA journal_mode').get(), 'journal_mode') === 'wal';
    const version = () => own(database.prepare('PRAGMA data_version').get(), 'data_version');
    const seen = { version: version(), head: headOf(file) };
    const schema = schemaOf(database);
    await copyOut(database, copy);
    database.exec('COMMIT');
    const fingerprint = await fingerprintFile(copy);
    return {
      fingerprint,
      schema,
      changed() {
        const head = headOf(file);
        if (head.identity !== seen.head.identity) return true;
        // Without WAL, every commit counts up in the file's head, which can be read while others are locked out.
        if (!isWal) return head.counter !== seen.head.counter;
        // With it, SQLite tells this connection; sometimes for tidying up alone, hence the second look.
        return version() !== seen.version && fingerprintBytes(database.serialize()) !== fingerprint;
      },
      hold: () => database.exec('BEGIN IMMEDIATE'),
      letGo() {
        if (database.isTransaction) database.exec('ROLLBACK');
      },
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Descriptors stay open as long as the process: closing any descriptor of a file drops every lock that the process
 * has on it, also those of SQLite.
 */
const descriptors = new Map<string, number>();

function headOf(file: string): { readonly identity: string; readonly counter: number } {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { identity: 'gone', counter: 0 };
  const identity = `${stats.dev}:${stats.ino}`;
  if (!stats.isFile()) return { identity: 'replaced', counter: 0 };
  // Without waiting: a pipe may have come in its place since.
  const { O_RDONLY, O_NONBLOCK } = constants;
  const descriptor = descriptors.get(identity) ?? openSync(file, O_RDONLY | O_NONBLOCK);
  descriptors.set(identity, descriptor);
  if (fstatSync(descriptor).ino !== stats.ino || !fstatSync(descriptor).isFile())
    return { identity: 'replaced', counter: 0 };
  const counter = Buffer.alloc(4);
  readSync(descriptor, counter, 0, 4, CHANGE_COUNTER);
  return { identity, counter: counter.readUInt32BE() };
}

/** Where in a database's head its commits are counted. */
const CHANGE_COUNTER = 24;
