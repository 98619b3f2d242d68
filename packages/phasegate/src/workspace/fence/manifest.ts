import { hash } from 'node:crypto';
import type { RuleFile } from './ignoreRules.ts';

/** What a path of the workspace is: `other` is a pipe, a socket or a device, `closed` is what cannot be read. */
export type EntryType = 'file' | 'link' | 'other' | 'closed';

/** One path of the workspace as it was measured. */
export interface TreeEntry {
  readonly type: EntryType;
  readonly mode: number;
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  /** In nanoseconds. */
  readonly mtime: bigint;
  readonly ctime: bigint;
  readonly links: bigint;
  /** SHA-256 of the content of a file, the text of a link; empty for anything else. */
  readonly content: string;
}

/** The workspace as it was measured: what decides whether anything changed. */
export interface Manifest {
  /** Which of the folders that share a state it is of; empty for the one whose state it is. */
  readonly root: string;
  /** When the measuring began, in nanoseconds as text, by the clock that files are dated with. */
  readonly started: string;
  /** Ignore rules as they were then: what is written to such files later hides nothing. */
  readonly rules: readonly RuleFile[];
  /** Paths that count though the rules leave them out, as git has them in its index. */
  readonly tracked: readonly string[];
  /** What could not be taken into account, in words. */
  readonly notes: readonly string[];
  /** Whether the guard's files of the home folder are among the entries, as `~/…`; absent in measures from before. */
  readonly home?: true;
  /** Whether files that a process had in its memory to write to were told from others; absent in measures from before. */
  readonly mapped?: true;
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

/** Path, type, mode, then device, inode, size, dates and links as text, and the content. */
type Row = readonly [string, EntryType, number, string, string];

/** The text of a manifest, and the hash it is known by. */
export function writeManifest(manifest: Manifest): { readonly text: string; readonly tree: string } {
  const rows: string[] = [];
  for (const [path, entry] of manifest.entries) rows.push(rowOf(path, entry));
  const { root, started, rules, tracked, notes, home, mapped } = manifest;
  const head = JSON.stringify({ version: 1, root, started, rules, tracked, notes, home, mapped });
  const text = `${head.slice(0, -1)},"rows":[${rows.join(',')}]}`;
  return { text, tree: hash('sha256', text, 'hex') };
}

/** Most entries are in one measure after another, and to spell them takes longer than to hash them. */
function rowOf(path: string, entry: TreeEntry & { spelled?: Spelled }): string {
  // A copy of an entry has what was spelled of the one it was made from.
  if (entry.spelled?.entry === entry && entry.spelled.path === path) return entry.spelled.row;
  const { type, mode, device, inode, size, mtime, ctime, links, content } = entry;
  const facts = `${device} ${inode} ${size} ${mtime} ${ctime} ${links}`;
  const row = JSON.stringify([path, type, mode, facts, content] satisfies Row);
  entry.spelled = { entry, path, row };
  return row;
}

interface Spelled {
  readonly entry: TreeEntry;
  readonly path: string;
  readonly row: string;
}

/** The manifest of a text; throws where it is none. */
export function readManifest(text: string): Manifest {
  const read = JSON.parse(text) as Manifest & { readonly version: number; readonly rows: readonly Row[] };
  if (read.version !== 1) throw new Error('it was written by another version of Phasegate');
  const entries = new Map<string, TreeEntry>();
  for (const [path, type, mode, facts, content] of read.rows) {
    const [device, inode, size, mtime, ctime, links] = facts.split(' ').map(BigInt) as Numbers;
    entries.set(path, { type, mode, device, inode, size, mtime, ctime, links, content });
  }
  const { root, started, rules, tracked, notes } = read;
  const looked: Pick<Manifest, 'home' | 'mapped'> = {
    ...(read.home === true ? { home: true } : {}),
    ...(read.mapped === true ? { mapped: true } : {}),
  };
  return { root, started, rules, tracked, notes, ...looked, entries };
}

type Numbers = [bigint, bigint, bigint, bigint, bigint, bigint];
