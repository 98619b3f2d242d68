import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { own, PhasegateError, type Run } from '@phasegate/core';
import type { AttemptMark } from '../runtime/ports.ts';
import { syncPath } from './copies.ts';

/** What stands beside a copy that may have to be installed after a crash. */
export interface AttemptRecord {
  readonly id: string;
  /** The database, absolute. */
  readonly file: string;
  readonly mark: AttemptMark;
  /** Fingerprints of the database as it was copied, and as it is to be. */
  readonly before: string;
  readonly after: string;
}

/** Where the parts of an attempt are. */
export function attemptFiles(folder: string, id: string) {
  return {
    copy: join(folder, `${id}.db`),
    ready: join(folder, `${id}.ready`),
    record: join(folder, `${id}.json`),
  };
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

/** Reads a record; one that cannot be read stands for something we must not lose. */
export function readRecord(path: string): AttemptRecord {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const [id, file, before, after] = ['id', 'file', 'before', 'after'].map((key) => textIn(value, key));
    const mark = own(value, 'mark');
    const [epoch, item, completions] = [own(mark, 'epoch'), own(mark, 'item'), own(mark, 'completions')];
    if (typeof epoch !== 'number' || (item !== null && typeof item !== 'string')) throw new Error('its mark');
    const known = typeof completions === 'number' ? { completions } : {};
    return {
      id,
      file,
      before,
      after,
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

/** Whether a run was saved as accepting the attempt: it went on, or waits for a human to let it, or has the item. */
export function wasAccepted(run: Run | undefined, mark: AttemptMark): boolean {
  if (run === undefined) return false;
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
