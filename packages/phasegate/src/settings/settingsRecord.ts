import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, own } from '@phasegate/core';
import type { Placed } from './settingsFile.ts';

/** What was written for clients, so that it can be renewed, compared and taken back. */
export interface SettingsRecord {
  /** The version that wrote it. */
  readonly phasegate: string;
  readonly mcp: Placed['mcp'];
  /** Where clients that can ask by HTTP do so; absent where none does. */
  readonly http?: Placed['http'];
  /** Whether clients that can offer their models the tools of the phase alone. */
  readonly narrow?: boolean;
  readonly clients: readonly string[];
  readonly files: readonly RecordedFile[];
  /** SHA-256 of each client's hook program. */
  readonly programs: Readonly<Record<string, string>>;
}

/** One file of settings as it was written. */
export interface RecordedFile {
  readonly client: string;
  readonly path: string;
  /** SHA-256 of what was written. */
  readonly after: string;
  /** What was there without ours; null where there was no file. */
  readonly before: string | null;
  /** Folders that were made for it, from the root, the outermost first. */
  readonly made: readonly string[];
}

/** The record of a project; null where no client was set up, or it cannot be read. */
export function readRecord(stateDir: string): SettingsRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(stateDir, FILE), 'utf8'));
    const sound =
      isJsonObject(value) &&
      typeof own(value, 'phasegate') === 'string' &&
      isJsonObject(own(value, 'mcp')) &&
      isJsonObject(own(value, 'programs')) &&
      Array.isArray(own(value, 'clients')) &&
      Array.isArray(own(value, 'files'));
    return sound ? (value as unknown as SettingsRecord) : null;
  } catch {
    return null;
  }
}

/** Keeps it, whole or not at all; null removes it. */
export function writeRecord(stateDir: string, record: SettingsRecord | null): void {
  const file = join(stateDir, FILE);
  if (record === null) {
    rmSync(file, { force: true });
    return;
  }
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

/** SHA-256 of a text. */
export function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const FILE = 'clients.json';
