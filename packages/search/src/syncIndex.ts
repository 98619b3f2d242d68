import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';
import { type Document, documentOf, phaseInPath } from './documentOf.ts';
import { type FoundDocument, findDocuments } from './findDocuments.ts';
import { inTransaction } from './indexDatabase.ts';
import { type Breathe, createBreathe } from './inSteps.ts';
import { isLeftOut, type ReadText, readText } from './readText.ts';

/** What a sync is about. */
export interface SyncRequest {
  readonly database: DatabaseSync;
  /** A real path. */
  readonly root: string;
  readonly docs: readonly string[];
  /** Milliseconds since 1970. */
  now(): number;
}

/** What a sync changed. */
export interface Synced {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/**
 * Brings the index to what is on disk. A file whose time and size are as before is not opened; a text that stands in
 * several places is indexed once, where its path is shortest.
 */
export async function syncIndex(request: SyncRequest): Promise<Synced> {
  const { database } = request;
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const generation = generationOf(database);
    const plan = await planOf(request);
    if (plan.puts.length === 0 && plan.removed.length === 0 && plan.touched.length === 0)
      return countsOf(plan);
    const done = inTransaction(database, () => {
      // Another process brought the index up to date while we read: what we planned may be wrong now.
      if (generationOf(database) !== generation) return false;
      carryOut(database, plan);
      return true;
    });
    if (done) return countsOf(plan);
  }
  throw new PhasegateError(
    'store_unavailable',
    'the documentation index changes faster than it can be read',
    {
      hint: 'try again',
    },
  );
}

const MOST_ATTEMPTS = 20;
/** A file changed this lately may change again within the same tick of its clock. */
const FRESH_MS = 50;
/** Stands for a time no file has, so that the file is read again next time. */
const READ_AGAIN = -1;

interface Known {
  readonly path: string;
  readonly mtime: number;
  readonly size: number;
  readonly sha256: string;
  readonly same_as: string | null;
}

interface Put {
  readonly path: string;
  readonly mtime: number;
  readonly size: number;
  readonly sha256: string;
  readonly sameAs: string | null;
  readonly isNew: boolean;
  readonly document: Document;
}

interface Plan {
  readonly puts: readonly Put[];
  readonly touched: readonly { readonly path: string; readonly mtime: number }[];
  readonly removed: readonly string[];
}

interface Seen extends FoundDocument {
  readonly sha256: string;
  readonly read: ReadText | null;
}

async function planOf(request: SyncRequest): Promise<Plan> {
  const { database, root } = request;
  const known = new Map(
    (database.prepare('SELECT path, mtime, size, sha256, same_as FROM file').all() as unknown as Known[]).map(
      (row) => [row.path, row],
    ),
  );
  // Someone may want to say how long it takes, and a server has others to answer.
  const breathe = createBreathe();
  const seen = await look(request, known, breathe);
  const originals = originalsOf(seen);
  const puts: Put[] = [];
  const touched: { path: string; mtime: number }[] = [];
  for (const file of seen) {
    const before = known.get(file.path);
    const original = originals.get(textKey(file)) as string;
    const sameAs = original === file.path ? null : original;
    if (before?.sha256 === file.sha256 && before.same_as === sameAs) {
      if (before.mtime !== file.mtime) touched.push({ path: file.path, mtime: file.mtime });
      continue;
    }
    const read = file.read ?? readText(root, file.path);
    if (read === null) continue;
    await breathe();
    const document = await documentFrom({ path: file.path, read, sameAs }, breathe);
    puts.push({ ...file, sha256: read.sha256, sameAs, isNew: before === undefined, document });
  }
  const there = new Set(seen.map(({ path }) => path));
  return { puts, touched, removed: [...known.keys()].filter((path) => !there.has(path)) };
}

/** What is on disk now; a file that is as it was is not opened. */
async function look(
  { root, docs, now }: SyncRequest,
  known: ReadonlyMap<string, Known>,
  breathe: Breathe,
): Promise<readonly Seen[]> {
  const time = now();
  const seen: Seen[] = [];
  for (const found of findDocuments(root, docs)) {
    const before = known.get(found.path);
    const same = before !== undefined && before.mtime === found.mtime && before.size === found.size;
    if (!same) await breathe();
    const read = same ? null : readText(root, found.path);
    if (!same && read === null) continue;
    const unsure = (read?.ok === false && read.passing) || time - found.mtime < FRESH_MS;
    seen.push({
      ...found,
      mtime: !same && unsure ? READ_AGAIN : found.mtime,
      sha256: read?.sha256 ?? (before as Known).sha256,
      read,
    });
  }
  return seen;
}

/** The same text in two phases is two documents. */
function textKey({ path, sha256 }: Seen): string {
  return isLeftOut(sha256) ? `\0${path}` : `${phaseInPath(path)}\0${sha256}`;
}

function originalsOf(files: readonly Seen[]): ReadonlyMap<string, string> {
  const originals = new Map<string, string>();
  for (const file of files) {
    const key = textKey(file);
    const other = originals.get(key);
    if (other === undefined || isShorter(file.path, other)) originals.set(key, file.path);
  }
  return originals;
}

function isShorter(path: string, other: string): boolean {
  const [depth, otherDepth] = [path.split('/').length, other.split('/').length];
  if (depth !== otherDepth) return depth < otherDepth;
  return path.length === other.length ? path < other : path.length < other.length;
}

async function documentFrom(
  { path, read, sameAs }: { readonly path: string; readonly read: ReadText; readonly sameAs: string | null },
  breathe: Breathe,
): Promise<Document> {
  const document = await documentOf(path, read.ok ? read.text : '', breathe);
  if (!read.ok) return { ...document, warnings: [{ line: 1, message: `it ${read.reason}; it is left out` }] };
  return sameAs === null ? document : { ...document, chunks: [], warnings: [] };
}

function carryOut(database: DatabaseSync, { puts, touched, removed }: Plan): void {
  const dropChunks = database.prepare('DELETE FROM chunk WHERE path = ?');
  const dropTags = database.prepare('DELETE FROM file_tag WHERE path = ?');
  const dropFile = database.prepare('DELETE FROM file WHERE path = ?');
  for (const path of [...removed, ...puts.filter(({ isNew }) => !isNew).map((put) => put.path)]) {
    for (const statement of [dropChunks, dropTags, dropFile]) statement.run(path);
  }
  const touch = database.prepare('UPDATE file SET mtime = ? WHERE path = ?');
  for (const { path, mtime } of touched) touch.run(mtime, path);
  const putFile = database.prepare('INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const putTag = database.prepare('INSERT OR IGNORE INTO file_tag VALUES (?, ?)');
  const putChunk = database.prepare(
    'INSERT INTO chunk (path, line, section, title, headings, hooks, body, bodyhash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const { path, mtime, size, sha256, sameAs, document } of puts) {
    const { title, phase, tags, workflows, closed, hooks, chunks, warnings } = document;
    putFile.run(
      ...[path, mtime, size, sha256, sameAs, title, phase, JSON.stringify(tags), listText(workflows)],
      ...[closed ? 1 : 0, chunks.length, JSON.stringify(warnings)],
    );
    for (const tag of tags) putTag.run(path, tag);
    chunks.forEach(({ line, section, headings, body }, index) => {
      const below = headings.filter((heading) => heading !== title).join('\n');
      const first = index === 0 ? hooks : '';
      putChunk.run(
        path,
        line,
        section,
        title,
        below,
        first,
        body,
        hash('sha256', `${title}\n${section}\n${body}`, 'hex'),
      );
    });
  }
  database.exec('UPDATE generation SET number = number + 1');
}

/** Names with a line break on each side, so that one can be looked for whole. */
export function listText(names: readonly string[]): string {
  return names.length === 0 ? '' : `\n${names.join('\n')}\n`;
}

function generationOf(database: DatabaseSync): number {
  return Number(database.prepare('SELECT number FROM generation').get()?.number);
}

function countsOf({ puts, removed }: Plan): Synced {
  const added = puts.filter(({ isNew }) => isNew).length;
  return { added, changed: puts.length - added, removed: removed.length };
}
