import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** The commits in the log of a database, oldest first, each as the numbers of the pages it appended. */
export function logFrames(log: string): readonly (readonly number[])[] {
  const bytes = readFileSync(log);
  const frame = FRAME_HEAD + bytes.readUInt32BE(8);
  const salt = bytes.subarray(16, 24);
  const commits: number[][] = [];
  let pages: number[] = [];
  for (let at = LOG_HEAD; at + frame <= bytes.length; at += frame) {
    // What is behind the newest frame is left over from before the log was begun again.
    if (!bytes.subarray(at + 8, at + 16).equals(salt)) break;
    pages.push(bytes.readUInt32BE(at));
    if (bytes.readUInt32BE(at + 4) === 0) continue;
    commits.push(pages);
    pages = [];
  }
  return commits;
}

const LOG_HEAD = 32;
const FRAME_HEAD = 24;

/** What a table or index takes in the database. */
export interface Room {
  readonly name: string;
  readonly bytes: number;
  /** Bytes of its pages that hold nothing. */
  readonly unused: number;
}

/** Whose each page is, and what each takes at rest; the head of the file and the schema share the first page. */
export function roomsOf(file: string): {
  readonly owners: ReadonlyMap<number, string>;
  readonly rooms: readonly Room[];
} {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const owners = new Map<number, string>();
    for (const { name, pageno, pagetype } of database.prepare(PAGES).all())
      owners.set(
        Number(pageno),
        Number(pageno) === 1 ? 'first page' : `${name}${pagetype === 'leaf' ? '' : `, ${pagetype}`}`,
      );
    const rooms = database
      .prepare(ROOMS)
      .all()
      .map(({ name, bytes, unused }) => ({
        name: String(name),
        bytes: Number(bytes),
        unused: Number(unused),
      }));
    return { owners, rooms };
  } finally {
    database.close();
  }
}

const PAGES = 'SELECT name, pageno, pagetype FROM dbstat';
const ROOMS = `SELECT name, sum(pgsize) AS bytes, sum(unused) AS unused FROM dbstat
  GROUP BY name ORDER BY bytes DESC`;
