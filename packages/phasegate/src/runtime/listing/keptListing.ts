import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import { unloadable } from '@phasegate/core/model';
import { readRegularIfAny } from '../../files/readRegular.ts';
import type { CatalogEntry, Loader, Peeked } from '../ports.ts';
import { factsOf } from './fileFacts.ts';
import { indexText, type KnownFile, type ListingIndex, type NamedFile, readIndex } from './listingIndex.ts';
import { liesInPlace, placesOf } from './places.ts';
import { type Cut, insideOf, keptFiles, pathIn } from './projectFiles.ts';
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
  /** Every definition there is now, as far as they were looked at. */
  entries(): Promise<Entries>;
  /** Every definition there is now by its names alone, which an earlier process may have read. */
  names(): Promise<Names>;
  /** Whether a path is that of a file that would be found, whatever lies beside it. */
  holds(path: string): boolean;
  /** What a file is that lies where definitions do, by itself; null where there is none. `again` reads it in any case. */
  at(path: string, again: boolean): Promise<Pick<KnownFile, 'line' | 'sha256'> | null>;
  /** Reads a file once more: what it defines, and the hash of its bytes where the loader says it. */
  read(path: string): Promise<Pick<KnownFile, 'line' | 'sha256'>>;
  /** The next look reads everything. */
  forget(): void;
  /** Writes down what is known, for the next process. */
  keep(): Promise<void>;
}

/** What was found, with all that a listing shows of it. */
export interface Entries {
  readonly entries: readonly CatalogEntry[];
  /** Where there is more than was looked at. */
  readonly cut: Cut | null;
}

/** What was found by name. */
export interface Names {
  readonly files: readonly NamedFile[];
  /** Whether each was read for this very look. */
  readonly fresh: boolean;
  /** Where there is more than was looked at. */
  readonly cut: Cut | null;
}

/** Of files that are not looked at any could define what a name means, so no name is believed. */
export function tooMuch(cut: Cut): PhasegateError {
  const { of, most, below, byGlob } = cut;
  const place = below === '' ? 'the project' : `\`${below}\``;
  const what = of === 'files' ? 'workflow files' : 'folders to look for workflows in';
  const narrower = byGlob ? ', or narrow the globs under `workflows` in the config' : '';
  return new PhasegateError('too_large', `there are more than ${most} ${what}, most of them below ${place}`, {
    hint: `remove ${of} below ${place}${narrower}; a workflow starts by its path meanwhile: \`phasegate start PATH\``,
  });
}

/** A file that this process read, or an earlier one, which leaves the entry to be read. */
interface ListedFile extends KnownFile {
  readonly entry?: CatalogEntry | null;
}

/** Lists the definitions of a project. */
export function createListing({ root, globs, loaders, index }: ListingOptions): KeptListing {
  const shared = new Shared<Look>();
  const places = placesOf(globs);
  const accepts = (path: string) => loaders.some((one) => one.accepts(path));
  let find = keptFiles(root, places, accepts);
  let files: Files | null = null;
  /** What was found last, and what is known of each. */
  let last: { readonly paths: readonly string[]; readonly files: Files } | undefined;
  let named: { readonly of: unknown; readonly files: readonly NamedFile[] } = { of: null, files: [] };
  /** Files that were asked for by themselves, without a look at what else there is. */
  const alone = new Map<string, ListedFile>();
  let written: string | null = null;
  /** Whether more was read since it was last written down. */
  let more = false;
  /** Raised when all is forgotten: a look that began before must not bring it back. */
  let forgotten = 0;

  async function look(whole: boolean): Promise<Look> {
    const began = forgotten;
    const kept = files ?? (whole ? NOTHING : await restored());
    const { files: paths, cut } = await find();
    const before = began === forgotten ? (files ?? kept) : kept;
    const question = { whole, there: existence(root) };
    // As a rule nothing came, went or changed, and one question for each file is all there is to do.
    const isSameList = last?.paths === paths && last.files === before;
    if (isSameList && everyOne(before, (known, path) => stands(known, path, question)))
      return { files: before, fresh: before.size === 0, cut };
    const { next, changed, fresh } = await readAll(paths, before, question);
    if (began === forgotten) {
      if (changed > 0 || next.size !== before.size) more = true;
      files = next;
      last = { paths, files };
    }
    return { files: next, fresh: fresh === next.size, cut };
  }

  /** What there is to know of these files, and of how many it was not known before. */
  async function readAll(paths: readonly string[], before: Files, question: Question) {
    const next = new Map<string, ListedFile>();
    let [changed, fresh] = [0, 0];
    for (const path of paths) {
      const loader = loaders.find((one) => one.accepts(path));
      if (loader === undefined) continue;
      const known = before.get(path);
      if (known !== undefined && stands(known, path, question)) {
        next.set(path, known);
        continue;
      }
      const same = known === undefined ? null : rehashed(known, path, question);
      next.set(path, same ?? (await peek(path, loader)));
      changed += 1;
      if (same === null) fresh += 1;
      // Anyone who may write files may write many large ones, and reading each keeps everybody waiting.
      await new Promise((resume) => setImmediate(resume));
    }
    return { next, changed, fresh };
  }

  /** Whether what is known of a file is true of it now, and all that is asked for. */
  function stands(known: ListedFile, path: string, question: Question): boolean {
    if (known.facts === null || !isAnswered(known, question)) return false;
    return factsOf(pathIn(root, path), 'refuse')?.facts === known.facts;
  }

  /**
   * What is known of a file whose facts changed, if its bytes did not: a line follows from them and from what lies at
   * other paths. Anyone may touch thousands of files, and parsing one takes far longer than reading it.
   */
  function rehashed(known: ListedFile, path: string, question: Question): ListedFile | null {
    if (known.sha256 === null || !isAnswered(known, question)) return null;
    const now = factsOf(pathIn(root, path), 'refuse');
    const bytes = readRegularIfAny(pathIn(root, path), { most: MOST_BYTES, links: 'refuse' });
    if (bytes === null || hash('sha256', bytes) !== known.sha256) return null;
    return { ...known, facts: now?.settled === true ? now.facts : null };
  }

  async function peek(path: string, loader: Loader): Promise<ListedFile> {
    const now = factsOf(pathIn(root, path), 'refuse');
    const looked: Record<string, boolean> = {};
    let sha256: string | null = null;
    let peeked: Peeked | null;
    try {
      peeked = await loader.peek(
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
    } catch (error) {
      // One file must not hide the others. It goes by the name of the file, as one whose id cannot be read, and is read
      // again at the next look.
      const entry = { ...unreadable(path, error), path, format: loader.format };
      return { facts: null, sha256: null, looked: {}, line: lineOf(entry), entry };
    }
    const entry = peeked && { ...peeked, path, format: loader.format };
    const line = entry && lineOf(entry);
    return { facts: now?.settled === true ? now.facts : null, sha256, looked, line, entry };
  }

  async function restored(): Promise<Files> {
    const text = (await index?.read()) ?? null;
    written = text;
    return readIndex(text, globs);
  }

  const holds = (path: string) =>
    accepts(path) && liesInPlace(path, { root, places, isInside: insideOf(root) });

  return {
    async entries() {
      const { files: all, cut } = await shared.ask('whole', () => look(true));
      return { entries: [...all.values()].flatMap(({ entry }) => entry ?? []), cut };
    },

    async names() {
      const { files: all, fresh, cut } = await shared.ask('names', () => look(false));
      if (named.of !== all) named = { of: all, files: [...all.values()].flatMap(({ line }) => line ?? []) };
      return { files: named.files, fresh, cut };
    },

    holds,

    async at(path, again) {
      const loader = loaders.find((one) => one.accepts(path));
      if (loader === undefined || !holds(path)) return null;
      const known = again ? undefined : (alone.get(path) ?? files?.get(path));
      const question = { whole: true, there: existence(root) };
      if (known !== undefined && stands(known, path, question)) return known;
      const now = (known && rehashed(known, path, question)) ?? (await peek(path, loader));
      alone.delete(path);
      alone.set(path, now);
      const [oldest] = alone.keys();
      if (alone.size > MOST_ALONE && oldest !== undefined) alone.delete(oldest);
      return now;
    },

    async read(path) {
      const loader = loaders.find((one) => one.accepts(path)) as Loader;
      const known = files?.get(path);
      if (known?.entry !== undefined) return known;
      const began = forgotten;
      const now = await peek(path, loader);
      if (began !== forgotten) return now;
      files = new Map(files ?? []).set(path, now);
      more = true;
      return now;
    },

    forget() {
      forgotten += 1;
      // What this process made of bytes follows from them: it is used again where the same are read again.
      const own = [...(files ?? [])].filter(([, { entry }]) => entry !== undefined);
      files = new Map(own.map(([path, known]) => [path, { ...known, facts: null }]));
      find = keptFiles(root, places, accepts);
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
  readonly files: Files;
  readonly fresh: boolean;
  readonly cut: Cut | null;
}

type Files = ReadonlyMap<string, ListedFile>;

const NOTHING: Files = new Map();
/** Far more than two thousand files take. */
const LARGEST = 4_000_000;
/** No loader reads a file as large as this. */
const MOST_BYTES = 2_000_000;
/** More workflows than a project has, as a rule. */
const MOST_ALONE = 128;

function isAnswered({ looked, entry }: ListedFile, { whole, there }: Question): boolean {
  if (whole && entry === undefined) return false;
  for (const other in looked) if (there(other) !== looked[other]) return false;
  return true;
}

function lineOf({ id, title, path, format }: CatalogEntry): NamedFile {
  return { id, title, path, format };
}

function unreadable(path: string, error: unknown): Peeked {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const id = name.slice(0, name.indexOf('.', 1)) || name;
  return {
    id,
    title: id,
    phases: null,
    problems: unloadable(path, 'the file cannot be read', error).problems,
  };
}

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
