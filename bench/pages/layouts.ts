import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openBareSqlite } from '../wholeRuns/bareSqlite.ts';
import type { Contender } from '../wholeRuns/contender.ts';
import { openPhasegate } from '../wholeRuns/phasegate.ts';

/** A database to be compared with ours as it is. */
export interface Layout {
  readonly name: string;
  open(folder: string): Promise<Contender>;
}

/** Ours first: the others are told in shares of it. Those with other pages, or less to write, are there to be measured. */
export const LAYOUTS: readonly Layout[] = [
  { name: 'phasegate', open: openPhasegate },
  { name: 'phasegate again', open: openPhasegate },
  { name: 'pages of 1 KB', open: (folder) => changed(folder, pagesOf(1024)) },
  { name: 'pages of 2 KB', open: (folder) => changed(folder, pagesOf(2048)) },
  { name: 'without three indexes', open: (folder) => changed(folder, WITHOUT_INDEXES) },
  { name: 'bare SQLite', open: openBareSqlite },
];

/** Indexes that nothing asks for while runs are walked. */
const WITHOUT_INDEXES = 'DROP INDEX runs_by_workflow; DROP INDEX runs_quiet; DROP INDEX runs_not_over';

/** The pages of a database keep their size, also when it is opened by another version. */
function pagesOf(size: number): string {
  return `PRAGMA journal_mode=DELETE; PRAGMA page_size=${size}; VACUUM`;
}

/** A project whose database was changed before anybody worked with it. */
async function changed(folder: string, sql: string): Promise<Contender> {
  await (await openPhasegate(folder)).close();
  const database = new DatabaseSync(databaseIn(folder));
  database.exec(sql);
  database.close();
  return openPhasegate(folder);
}

/** The one database in a folder. */
export function databaseIn(folder: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((file) =>
    file.endsWith('.db'),
  );
  if (found === undefined) throw new Error(`there is no database in ${folder}`);
  return join(folder, found);
}

/** Brings all that is in the log of a database to its place. */
export function emptyLog(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}
