import { randomUUID } from 'node:crypto';
import { copyFileSync, linkSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { own } from '@phasegate/core';
import { copyOut, syncPath } from './copies.ts';

/** Copies a database, in use or not, into the folder `backups` beside it, under the time. */
export async function makeBackup(database: DatabaseSync, file: string, now: number): Promise<string> {
  const folder = backupFolder(file);
  const draft = join(folder, `.${randomUUID()}.partial`);
  await copyOut(database, draft, statSync(file).mode & 0o777);
  try {
    return linkFree(draft, join(folder, `${nameOf(file)}-${stamp(now)}`));
  } finally {
    rmSync(draft);
    syncPath(folder);
  }
}

/** Keeps a file that is not a backup, and that nobody removes, among the backups. */
export function keepAside(from: string, file: string, now: number, why = 'conflict'): string {
  const folder = backupFolder(file);
  const draft = join(folder, `.${randomUUID()}.partial`);
  copyFileSync(from, draft);
  try {
    syncPath(draft);
    return linkFree(draft, join(folder, `${nameOf(file)}-${why}-${stamp(now)}`));
  } finally {
    rmSync(draft);
    syncPath(folder);
  }
}

/** Removes the oldest backups of a database until so many are left, and never the ones to spare. */
export function pruneBackups(file: string, keep: number, spare: readonly string[]): void {
  const folder = backupFolder(file);
  const prefix = `${nameOf(file)}-`;
  const found = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && STAMPED.test(name.slice(prefix.length)))
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .sort(byAge)
    .map((name) => join(folder, name));
  for (const path of found.slice(0, Math.max(0, found.length - keep))) {
    if (!spare.includes(path)) rmSync(path, { force: true });
  }
}

const STAMPED = /^\d{8}T\d{9}Z(?:-\d+)?\.db$/;

function backupFolder(file: string): string {
  const folder = join(dirname(file), 'backups');
  mkdirSync(folder, { recursive: true });
  return folder;
}

function nameOf(file: string): string {
  return basename(file, extname(file));
}

function stamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:.]/g, '');
}

/** Those of the same moment are numbered on, from the highest there is. */
function linkFree(draft: string, stem: string): string {
  const [folder, prefix] = [dirname(stem), basename(stem)];
  const taken = readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map(turnOf);
  for (let turn = Math.max(0, ...taken) + 1; ; turn++) {
    const path = turn === 1 ? `${stem}.db` : `${stem}-${turn}.db`;
    try {
      // A link, unlike a rename, fails where a file has come to be meanwhile.
      linkSync(draft, path);
      return path;
    } catch (error) {
      if (own(error, 'code') !== 'EEXIST') throw error;
    }
  }
}

function turnOf(name: string): number {
  return Number(/Z-(\d+)\.db$/.exec(name)?.[1] ?? 1);
}

function byAge(a: string, b: string): number {
  const [older, newer] = [momentOf(a), momentOf(b)];
  if (older === newer) return turnOf(a) - turnOf(b);
  return older < newer ? -1 : 1;
}

function momentOf(name: string): string {
  return /\d{8}T\d{9}Z/.exec(name)?.[0] ?? '';
}
