import { existsSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import type { CatalogEntry, Loader } from '../ports.ts';
import { factsOf } from './fileFacts.ts';
import { indexText, type KnownFile, type ListingIndex, type NamedFile, readIndex } from './listingIndex.ts';
import { keptFiles, pathIn } from './projectFiles.ts';
import { Shared } from './shared.ts';

/** Where definitions are looked for, and with what. */
export interface ListingOptions {
  readonly root: string;
  readonly globs: readonly string[];
  readonly loaders: readonly Loader[];
  readonly index?: ListingIndex;
}

/** The definitions of a project. What did not change since it was read is not read again. */
export interface KeptListing {
  /** Every definition there is now. */
  entries(): Promise<readonly CatalogEntry[]>;
  /** Every definition there is now by its names alone, which an earlier process may have read. */
  names(): Promise<Names>;
  /** Reads a file once more: what it defines, and the hash of its bytes where the loader says it. */
  read(path: string): Promise<Pick<KnownFile, 'line' | 'sha256'>>;
  /** The next look reads everything. */
  forget(): void;
  /** Writes down what is known, for the next process. */
  keep(): Promise<void>;
}

/** What was found by name. */
export interface Names {
  readonly files: readonly NamedFile[];
  /** Whether each was read for this very look. */
  readonly fresh: boolean;
  /** Whether there are more than were looked at. */
  readonly cut: boolean;
}

/** Of files that are not looked at any could define what a name means, so no name is believed. */
export function tooManyFiles(): PhasegateError {
  return new PhasegateError(
    'too_large',
    'there are more than 2000 workflow files, or more than 20000 folders to look for them in',
    {
      hint: 'remove folders and files below `workflows/`, or `.phasegate/workflows/`; a workflow starts by its path meanwhile',
    },
  );
}

/** A file that this process read, or an earlier one, which leaves the entry to be read. */
interface ListedFile extends KnownFile {
  readonly entry?: CatalogEntry | null;
}

/** Lists the definitions of a project. */
export function createListing({ root, globs, loaders, index }: ListingOptions): KeptListing {
  const shared = new Shared<Look>();
  const accepts = (path: string) => loaders.some((one) => one.accepts(path));
  let find = keptFiles(root, globs, accepts);
  let files: ReadonlyMap<string, ListedFile> | null = null;
  /** What was found last, and what is known of each. */
  let last:
    | { readonly paths: readonly string[]; readonly files: ReadonlyMap<string, ListedFile> }
    | undefined;
  let named: { readonly of: unknown; readonly files: readonly NamedFile[] } = { of: null, files: [] };
  let written: string | null = null;
  /** Whether more was read since it was last written down. */
  let more = false;

  async function look(whole: boolean): Promise<Look> {
    const before = files ?? (whole ? NOTHING : await restored());
    const there = existence(root);
    const { files: paths, cut } = find();
    // As a rule nothing came, went or changed, and one question for each file is all there is to do.
    const isSameList = last?.paths === paths && last.files === before;
    if (isSameList && everyOne(before, (known, path) => stands(known, path, { whole, there })))
      return { files: before, fresh: before.size === 0, cut };
    const next = new Map<string, ListedFile>();
    let read = 0;
    for (const path of paths) {
      const loader = loaders.find((one) => one.accepts(path));
      if (loader === undefined) continue;
      const known = before.get(path);
      if (known !== undefined && stands(known, path, { whole, there })) {
        next.set(path, known);
      } else {
        read += 1;
        next.set(path, await peek(path, loader));
        // Anyone who may write files may write many large ones, and reading each keeps everybody waiting.
        await new Promise((resume) => setImmediate(resume));
      }
    }
    if (read > 0 || next.size !== before.size) more = true;
    files = next;
    last = { paths, files };
    return { files: next, fresh: read === next.size, cut };
  }

  /** Whether what is known of a file is true of it now, and all that is asked for. */
  function stands({ facts, looked, entry }: ListedFile, path: string, { whole, there }: Question): boolean {
    if (whole && entry === undefined) return false;
    if (facts === null || factsOf(pathIn(root, path), 'refuse')?.facts !== facts) return false;
    for (const other in looked) if (there(other) !== looked[other]) return false;
    return true;
  }

  async function peek(path: string, loader: Loader): Promise<ListedFile> {
    const now = factsOf(pathIn(root, path), 'refuse');
    const looked: Record<string, boolean> = {};
    let sha256: string | null = null;
    const peeked = await loader.peek(
      { root, path },
      {
        read: (digest) => {
          sha256 = digest;
        },
        isThere: (other) => {
          looked[other] = existsSync(pathIn(root, other));
          return looked[other];
        },
      },
    );
    const entry = peeked && { ...peeked, path, format: loader.format };
    const line = entry && { id: entry.id, title: entry.title, path, format: entry.format };
    return { facts: now?.settled === true ? now.facts : null, sha256, looked, line, entry };
  }

  async function restored(): Promise<ReadonlyMap<string, ListedFile>> {
    const text = (await index?.read()) ?? null;
    written = text;
    return readIndex(text, globs);
  }

  return {
    async entries() {
      const { files: all, cut } = await shared.ask('whole', () => look(true));
      if (cut) throw tooManyFiles();
      return [...all.values()].flatMap(({ entry }) => entry ?? []);
    },

    async names() {
      const { files: all, fresh, cut } = await shared.ask('names', () => look(false));
      if (named.of !== all) named = { of: all, files: [...all.values()].flatMap(({ line }) => line ?? []) };
      return { files: named.files, fresh, cut };
    },

    async read(path) {
      const loader = loaders.find((one) => one.accepts(path)) as Loader;
      const known = files?.get(path);
      if (known?.entry !== undefined) return known;
      const now = await peek(path, loader);
      files = new Map(files ?? []).set(path, now);
      more = true;
      return now;
    },

    forget() {
      files = NOTHING;
      find = keptFiles(root, globs, accepts);
    },

    async keep() {
      if (index === undefined || files === null || !more) return;
      more = false;
      const text = indexText(globs, files);
      if (text === written || text.length > LARGEST) return;
      written = text;
      await index.write(text);
    },
  };
}

interface Question {
  /** Whether all of an entry is asked for, and not its names alone. */
  readonly whole: boolean;
  there(path: string): boolean;
}

interface Look {
  readonly files: ReadonlyMap<string, ListedFile>;
  readonly fresh: boolean;
  readonly cut: boolean;
}

const NOTHING: ReadonlyMap<string, ListedFile> = new Map();
/** Far more than two thousand files take. */
const LARGEST = 4_000_000;

function everyOne<T>(all: ReadonlyMap<string, T>, holds: (one: T, name: string) => boolean): boolean {
  for (const [name, one] of all) if (!holds(one, name)) return false;
  return true;
}

/** Whether things lie at paths, each looked for once: many files ask about the folders above them. */
function existence(root: string): (path: string) => boolean {
  const seen = new Map<string, boolean>();
  return (path) => {
    const known = seen.get(path) ?? existsSync(pathIn(root, path));
    seen.set(path, known);
    return known;
  };
}
