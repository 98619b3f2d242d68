import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, type Json, PhasegateError } from '@phasegate/core';

/** Hashes of documents by path. */
export type DocumentHashes = Readonly<Record<string, string>>;

/** What a human last accepted as the project's standards; null where nobody has. */
export function readAccepted(stateDir: string): DocumentHashes | null {
  const file = fileIn(stateDir);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const hashes = JSON.parse(text) as Json;
    if (isJsonObject(hashes)) return hashes as DocumentHashes;
  } catch {
    // Told below: what cannot be read must not count as accepted, nor as never asked.
  }
  throw new PhasegateError('store_corrupt', `\`${file}\` cannot be read`, {
    hint: 'delete it and run phasegate trust',
  });
}

/** Keeps these as accepted; whole or not at all. */
export function writeAccepted(stateDir: string, hashes: DocumentHashes): void {
  const file = fileIn(stateDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(hashes), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Documents that are not as they were accepted, or were not there then. */
export function changedSince(accepted: DocumentHashes | null, now: DocumentHashes): readonly string[] {
  return Object.keys(now).filter(
    (path) => accepted === null || !Object.hasOwn(accepted, path) || accepted[path] !== now[path],
  );
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'standards.accepted.json');
}
