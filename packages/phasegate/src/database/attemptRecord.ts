import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { own, PhasegateError, type Run } from '@phasegate/core';
import type { AttemptMark } from '../runtime/ports.ts';
import { removeDatabase, syncPath } from './copies.ts';

/** What stands beside a copy that may have to be installed after a crash. */
export interface AttemptRecord {
  readonly id: string;
  /** The database, absolute. */
  readonly file: string;
  readonly mark: AttemptMark;
  /** Fingerprints of the database as it was copied, and as it is to be. */
  readonly before: string;
  readonly after: string;
  /** SHA-256 of the sealed copy; absent in records of versions that installed it when a gate opened. */
  readonly sealed?: string;
}

/** Where the sealed copy of an attempt and its record are. */
export function attemptFiles(folder: string, id: string) {
  return { ready: join(folder, `${id}.ready`), record: join(folder, `${id}.json`) };
}

/** A name for a copy to work on, from which nothing of where it is sealed can be told. */
export function workingCopy(folder: string): string {
  const copies = copiesOf(folder);
  mkdirSync(copies, { recursive: true, mode: 0o700 });
  return join(copies, `${randomUUID()}.db`);
}

/** Where the copies are that are worked on, apart from what is sealed. */
export function copiesOf(folder: string): string {
  return join(dirname(dirname(folder)), 'copies', basename(folder));
}

/** Writes a record, all of it or nothing, and waits until the disk has it. */
export function writeRecord(path: string, record: AttemptRecord): void {
  const draft = `${path}.draft`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(descriptor, JSON.stringify(record));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, path);
  syncPath(dirname(path));
}

/** Takes a record back, for good. */
export function removeRecord(path: string): void {
  rmSync(path, { force: true });
  syncPath(dirname(path));
}

/** Forgets a sealed copy, for good. A record without its copy could not be carried out, so the record goes first. */
export function dropCopy(folder: string, id: string): void {
  const { ready, record } = attemptFiles(folder, id);
  removeRecord(record);
  removeDatabase(ready);
}

/** The records in a folder. One that went while we looked was somebody's who had done with it. */
export function recordsIn(folder: string): readonly AttemptRecord[] {
  return filesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return [readRecord(join(folder, name))];
      } catch (error) {
        if (own(own(error, 'cause'), 'code') === 'ENOENT') return [];
        throw error;
      }
    });
}

/** Names in a folder that may not be there. */
export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (own(error, 'code') === 'ENOENT') return [];
    throw error;
  }
}

/** Reads a record; one that cannot be read stands for something we must not lose. */
export function readRecord(path: string): AttemptRecord {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const [id, file, before, after] = ['id', 'file', 'before', 'after'].map((key) => textIn(value, key));
    const mark = own(value, 'mark');
    const [epoch, item, completions] = [own(mark, 'epoch'), own(mark, 'item'), own(mark, 'completions')];
    if (typeof epoch !== 'number' || (item !== null && typeof item !== 'string')) throw new Error('its mark');
    const known = typeof completions === 'number' ? { completions } : {};
    const sealed = own(value, 'sealed') === undefined ? {} : { sealed: textIn(value, 'sealed') };
    return {
      id,
      file,
      before,
      after,
      ...sealed,
      mark: { run: textIn(mark, 'run'), epoch, item, ...known },
    } as AttemptRecord;
  } catch (error) {
    throw new PhasegateError(
      'file_unreadable',
      `\`${path}\`, the record of an accepted step, cannot be read`,
      {
        cause: error,
        hint: 'the database as that step left it is beside it, in the file that ends in `.ready`',
      },
    );
  }
}

/** What is to become of a sealed copy whose owner is gone, as the run was saved. */
export function fateOf(run: Run | undefined, record: AttemptRecord): 'install' | 'keep' | 'drop' {
  if (run === undefined) return 'drop';
  const { mark, sealed } = record;
  if (sealed === undefined) return wasAccepted(run, mark) ? 'install' : 'drop';
  if (run.status === 'waiting' && run.wait.for === 'gate' && run.wait.database === sealed) return 'keep';
  if (mark.item !== null && own(own(run.work.items, mark.item), 'database') === sealed) return 'install';
  // Of the completions since: an earlier one may have led to the very same bytes.
  const since = run.completions.slice(mark.completions ?? 0);
  return since.some(({ database }) => database === sealed) ? 'install' : 'drop';
}

/** As it was before copies waited for the decision: a gate that opened had accepted the attempt. */
function wasAccepted(run: Run, mark: AttemptMark): boolean {
  if (run.status === 'waiting' && run.wait.for === 'gate') return true;
  if (mark.item !== null && own(own(run.work.items, mark.item), 'status') === 'completed') return true;
  if (mark.completions === undefined) return run.epoch !== mark.epoch;
  const decided = run.decisions.some(({ gate }) => gate.endsWith(`#${mark.epoch}`));
  return decided || run.completions.length > mark.completions;
}

function textIn(value: unknown, key: string): string {
  const text = own(value, key);
  if (typeof text !== 'string') throw new Error(`its \`${key}\``);
  return text;
}
