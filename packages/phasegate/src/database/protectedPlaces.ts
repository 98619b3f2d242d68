import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { own } from '@phasegate/core';
import type { WorkflowDatabase } from '@phasegate/core/model';

/** A database that is kept out of every write scope, by its paths inside the project. */
type Place = Pick<WorkflowDatabase, 'file' | 'migrations'>;

/** Where the databases of a project that are protected are kept. */
export const PROTECTED = 'protected';

/** Keeps on disk which paths belong to a database. */
export function keepPlace(stateDir: string, { file, migrations }: Place): void {
  const text = `${JSON.stringify({ file, migrations })}\n`;
  const folder = join(stateDir, PROTECTED);
  // Workflows may share a database and have migrations of their own: each is kept.
  const at = join(folder, `${createHash('sha256').update(text).digest('hex').slice(0, 32)}.json`);
  if (textOf(at) === text) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${at}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  renameSync(draft, at);
}

/** Whether a path belongs to one of the databases that are kept. */
export function protectionOf(stateDir: string): (path: string) => boolean {
  const folder = join(stateDir, PROTECTED);
  const places = namesIn(folder).map((name) => placeAt(join(folder, name)));
  return (path) => places.some((place) => belongs(folded(path), place));
}

const JOURNALS = /-(?:wal|shm|journal)$/;

function belongs(path: string, { file, migrations }: Place): boolean {
  const [database, folder] = [folded(file), dirname(folded(file))];
  if (path.replace(JOURNALS, '') === database) return true;
  if (path.startsWith(folder === '.' ? 'backups/' : `${folder}/backups/`) && path.endsWith('.db'))
    return true;
  return migrations !== null && path.startsWith(`${folded(migrations)}/`) && path.endsWith('.sql');
}

/** On some file systems `BOOK.DB` is `book.db`, and where it is not, refusing it costs nobody anything. */
function folded(path: string): string {
  return path.normalize('NFKC').toLowerCase();
}

function placeAt(at: string): Place {
  const value: unknown = JSON.parse(textOf(at) ?? 'null');
  const [file, migrations] = [own(value, 'file'), own(value, 'migrations')];
  // INVARIANT: what protects is not passed over where it cannot be read.
  if (typeof file !== 'string' || (migrations !== null && typeof migrations !== 'string'))
    throw new Error(`\`${at}\` names no database`);
  return { file, migrations };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch (error) {
    const code = own(error, 'code');
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = own(error, 'code');
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
