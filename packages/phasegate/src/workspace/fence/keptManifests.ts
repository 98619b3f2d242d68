import { hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Manifest, readManifest, writeManifest } from './manifest.ts';

/** The measures of runs, by hash: in memory where this process took or read them, on disk once a run is to have them. */
export interface KeptManifests {
  /** The manifest, or why there is none that can be trusted. */
  read(runId: string, tree: string): Manifest | string;
  /** Gives a measure that a run may come to have its hash. Nothing is on disk before `keep`. */
  draft(runId: string, manifest: Manifest): string;
  /** Puts it on disk where it is not there already; a run that has it may be saved from then on. */
  keep(runId: string, tree: string): void;
  /** The run will have none of the measures that were drafted for it and not kept. */
  release(runId: string): void;
  /** The one that was taken last, of any run; null where there is none. */
  newest(): TakenMeasure | null;
  /** The workspace was looked at again and was the same: what is known of it is as new as that. */
  sawAgain(tree: string, later: Manifest): void;
  /** The newest look at which the workspace was as that measure has it. */
  lastLook(tree: string, manifest: Manifest): Manifest;
  /** A run does not have these any more. Those that another run may have stay. */
  drop(runId: string, trees: readonly string[]): void;
  /** A run ended with this one: the next begins with it. */
  pass(runId: string, tree: string): void;
}

/** A measure with the hash it is known by. */
export interface TakenMeasure {
  readonly tree: string;
  readonly manifest: Manifest;
}

/** The folders that measures are in. */
export interface MeasureFolders {
  /** Each is of one run alone, which drops it when it is through with it. */
  readonly own: string;
  /** Several runs may have them: they are dropped when no run has them, by `sweepMeasures`. */
  readonly shared: string;
  /** A folder for each run, as versions before 0.2 left them. */
  readonly older: string;
  /** Names the measure with which the last run ended. */
  readonly last: string;
  /** What an earlier version had in its place: the measure itself. */
  readonly olderLast: string;
}

/** Where measures are in the folder of a fence. */
export function measureFolders(folder: string): MeasureFolders {
  return {
    own: join(folder, 'own'),
    shared: join(folder, 'shared'),
    older: join(folder, 'runs'),
    last: join(folder, 'last'),
    olderLast: join(folder, 'last.json'),
  };
}

/** A shared measure is only dropped when nobody has asked for it in this time, and no run has it. */
export const GRACE_MS = 3_600_000;

const MISSING = 'the measure of the workspace that was taken when the phase was entered is missing';
const ALTERED = 'the measure of the workspace that was taken when the phase was entered was altered';

/**
 * Keeps them in two folders. INVARIANT: a measure moves from `own` to `shared` and never back, by one rename, so that the
 * run that drops its own cannot drop what another run was given meanwhile, in whichever process.
 */
export function createKeptManifests(folder: string): KeptManifests {
  const folders = measureFolders(folder);
  const known = new Map<string, Known>();
  // INVARIANT: what was drafted for a run is dropped for that run's sake alone: others cannot make its command fail.
  const drafts = new Map<string, Draft>();
  const hashes = new WeakMap<Manifest, string>();
  let newest: TakenMeasure | null = null;
  let passed: string | null = null;
  let hasOlder: boolean | null = null;

  // Not by `join`, which every transition would pay for: the folders are joined already.
  const ownFile = (tree: string) => `${folders.own}/${tree}.json`;
  const sharedFile = (tree: string) => `${folders.shared}/${tree}.json`;

  function remember(tree: string, manifest: Manifest): Manifest {
    known.delete(tree);
    known.set(tree, { manifest, look: manifest, shared: false });
    hashes.set(manifest, tree);
    let entries = 0;
    for (const one of known.values()) entries += one.manifest.entries.size;
    for (const [oldest, { manifest: old }] of known) {
      if (known.size <= FEWEST_KNOWN || (known.size <= MOST_KNOWN && entries <= MOST_ENTRIES)) break;
      known.delete(oldest);
      entries -= old.entries.size;
    }
    return manifest;
  }

  /** Shared ones that were there in this turn of the event loop: runs that are judged together have the same one. */
  const seen = new Set<string>();

  function isShared(tree: string): boolean {
    if (seen.has(tree)) return true;
    if (!existsSync(sharedFile(tree))) return false;
    if (seen.size === 0) setImmediate(() => seen.clear());
    seen.add(tree);
    return true;
  }

  /** Where it is; another process may have moved it since this one looked. */
  function fileOf(runId: string, tree: string): string | null {
    const shared = sharedFile(tree);
    if (isShared(tree)) return shared;
    const own = ownFile(tree);
    if (existsSync(own)) return own;
    if (existsSync(shared)) return shared;
    hasOlder ??= existsSync(folders.older);
    const older = join(folders.older, runId, `${tree}.json`);
    return hasOlder && existsSync(older) ? older : null;
  }

  function letGo(runId: string, tree: string): void {
    const draft = drafts.get(tree);
    draft?.of.delete(runId);
    if (draft?.of.size === 0) drafts.delete(tree);
  }

  /** Gives whether it is there for several runs now. */
  function share(tree: string): boolean {
    try {
      mkdirSync(folders.shared, { recursive: true, mode: 0o700 });
      renameSync(ownFile(tree), sharedFile(tree));
      return true;
    } catch {
      return existsSync(sharedFile(tree));
    }
  }

  /** Tells a sweep that it is in use. Gives whether it is there. */
  function touch(tree: string): boolean {
    const stats = statSync(sharedFile(tree), { throwIfNoEntry: false });
    if (stats === undefined) return false;
    const held = known.get(tree);
    if (held !== undefined) held.shared = true;
    if (Date.now() - stats.mtimeMs < GRACE_MS / 2) return true;
    try {
      utimesSync(sharedFile(tree), new Date(), new Date());
      return true;
    } catch {
      return false;
    }
  }

  function write(tree: string, text: string): void {
    mkdirSync(folders.own, { recursive: true, mode: 0o700 });
    const part = `${ownFile(tree)}.${process.pid}.part`;
    try {
      writeFileSync(part, text, { mode: 0o600, flush: true });
      // Never over one that is there: that is another run's, and becomes a shared one.
      if (!linked(part, ownFile(tree)) && !share(tree)) renameSync(part, ownFile(tree));
    } finally {
      rmSync(part, { force: true });
    }
    flushFolder(folders.own);
  }

  return {
    read(runId, tree) {
      const draft = drafts.get(tree);
      if (draft !== undefined) return draft.manifest;
      const file = fileOf(runId, tree);
      // A measure that somebody removed is gone, also for a process that remembers it.
      if (file === null) return MISSING;
      const held = known.get(tree);
      if (held !== undefined) return held.manifest;
      let text: string;
      try {
        text = readFileSync(file, 'utf8');
      } catch {
        return MISSING;
      }
      return hash('sha256', text, 'hex') === tree ? remember(tree, readManifest(text)) : ALTERED;
    },
    draft(runId, manifest) {
      const has = hashes.get(manifest);
      const tree = has ?? writeManifest(manifest).tree;
      hashes.set(manifest, tree);
      const draft = drafts.get(tree) ?? { manifest, isNew: has === undefined, of: new Set() };
      draft.of.add(runId);
      drafts.delete(tree);
      drafts.set(tree, draft);
      const own = [...drafts].filter(([, { of }]) => of.has(runId));
      for (const [oldest] of own.slice(0, -MOST_DRAFTS)) letGo(runId, oldest);
      newest = { tree, manifest };
      return tree;
    },
    keep(runId, tree) {
      const draft = drafts.get(tree);
      letGo(runId, tree);
      if (draft?.isNew === true) {
        write(tree, writeManifest(draft.manifest).text);
        remember(tree, draft.manifest);
        draft.isNew = false;
        return;
      }
      if (touch(tree) || share(tree)) return;
      const held = draft ?? known.get(tree);
      const made = held === undefined ? null : writeManifest(held.manifest);
      if (made?.tree !== tree) throw new Error('the measure that was taken of it is lost');
      write(tree, made.text);
    },
    release(runId) {
      for (const tree of [...drafts.keys()]) letGo(runId, tree);
    },
    newest() {
      if (newest !== null) return newest;
      newest = passedOn(folders);
      if (newest !== null) remember(newest.tree, newest.manifest);
      return newest;
    },
    sawAgain(tree, later) {
      const held = known.get(tree);
      if (held === undefined) return;
      // The same entries, as of that time: the next look tells by them that nothing is different.
      held.look = { ...later, entries: held.manifest.entries };
      known.delete(tree);
      known.set(tree, held);
      newest = { tree, manifest: held.manifest };
    },
    lastLook: (tree, manifest) => known.get(tree)?.look ?? manifest,
    drop(runId, trees) {
      for (const tree of trees) {
        if (known.get(tree)?.shared !== true) rmSync(ownFile(tree), { force: true });
        hasOlder ??= existsSync(folders.older);
        if (hasOlder) rmSync(join(folders.older, runId, `${tree}.json`), { force: true });
      }
    },
    pass(runId, tree) {
      hasOlder ??= existsSync(folders.older);
      if (hasOlder) rmSync(join(folders.older, runId), { recursive: true, force: true });
      if (passed === tree || !(touch(tree) || share(tree))) return;
      const part = `${folders.last}.${process.pid}.part`;
      writeFileSync(part, tree, { mode: 0o600 });
      renameSync(part, folders.last);
      if (passed === null) rmSync(folders.olderLast, { force: true });
      passed = tree;
    },
  };
}

interface Known {
  readonly manifest: Manifest;
  /** The newest look that found the same. */
  look: Manifest;
  /** It was seen among the shared ones, where it stays until no run has it. */
  shared: boolean;
}

/** A server remembers so many, and no more than so many paths in all of them, but always a few. */
const MOST_KNOWN = 64;
const MOST_ENTRIES = 200_000;
const FEWEST_KNOWN = 4;
/** A measure that nobody has yet. */
interface Draft {
  readonly manifest: Manifest;
  /** Nobody has put it on disk. */
  isNew: boolean;
  /** The runs that may come to have it. */
  readonly of: Set<string>;
}

/** Of one run, at a time: its commands are judged one after the other, with room to spare. */
const MOST_DRAFTS = 16;

/** The measure with which the last run ended, of this or an earlier version. */
function passedOn({ last, shared, olderLast }: MeasureFolders): TakenMeasure | null {
  try {
    const tree = readFileSync(last, 'utf8').trim();
    const text = readFileSync(join(shared, `${tree}.json`), 'utf8');
    return hash('sha256', text, 'hex') === tree ? { tree, manifest: readManifest(text) } : null;
  } catch {
    // Of an earlier version, or none: then the first measure takes longer.
  }
  try {
    const text = readFileSync(olderLast, 'utf8');
    return { tree: hash('sha256', text, 'hex'), manifest: readManifest(text) };
  } catch {
    return null;
  }
}

/** Gives a file its name, unless there is one of that name. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A file system without second names.
    if (existsSync(to)) return false;
    renameSync(from, to);
    return true;
  }
}

function flushFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
