import { hash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PhasegateError } from '@phasegate/core';
import { isInHome } from '@phasegate/core/model';
import type { Compared, Fence, FenceChange } from '@phasegate/core/ports';
import { ownFilesOf } from '../../files/secondName.ts';
import { compareTrees, type PathChange, secondNames } from './compareTrees.ts';
import { type Contents, createContents } from './contents.ts';
import { createFileSystems } from './fileSystems.ts';
import { createFolderLists } from './folderLists.ts';
import { createHomeReader } from './homeEntries.ts';
import { compileIgnoreRules, type IgnoreRules, type RuleFile } from './ignoreRules.ts';
import { createKeptManifests, measureFolders, type TakenMeasure } from './keptManifests.ts';
import type { Manifest } from './manifest.ts';
import { mappedFiles } from './mappedFiles.ts';
import { measuredChanges } from './measuredChanges.ts';
import { repositoryOf, rulesAround, rulesIn, trackedIn } from './repository.ts';
import { isRuledAlike, isSameMeasure } from './sameMeasure.ts';
import { MOST_AT_A_CALL, stateOf, wholeStateOf } from './stateOf.ts';
import { createSweep } from './sweepMeasures.ts';
import { TooMany, walkTree } from './walkTree.ts';

/** Where a workspace is, and where its measures are kept. */
export interface FencePlace {
  readonly root: string;
  /** The folder of the fence in the state directory. */
  readonly folder: string;
  /** The whole state directory, which is never part of a workspace. */
  readonly stateDir: string;
  /** Folders whose files are shown by no name, in a workspace either. Default: the state directory. */
  readonly own?: () => readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether Phasegate guards a path in another way, as it does the databases of workflows. */
  readonly guardsOtherwise: () => Promise<(path: string) => boolean>;
}

/** Builds the fence of a workspace on this machine. */
export function createFence(place: FencePlace): Fence {
  const root = realpathSync(place.root);
  const name = nameOf(root, place.stateDir);
  const own = place.own ?? (() => [place.stateDir]);
  const contents = createContents(join(place.folder, 'contents'));
  const kept = createKeptManifests(place.folder);
  const readHome = createHomeReader(place.env.HOME);
  /** What was last looked at for a receipt, so that a file is read once and not for every program that runs after. */
  let latest: { readonly tree: string; readonly manifest: Manifest } | null = null;
  const nextState = new Map<string, Promise<string | null>>();
  let stateLook: Promise<unknown> = Promise.resolve();
  const folders = createFolderLists();
  const sweep = createSweep({ folders: measureFolders(place.folder), contents });
  let inState: string | null = null;
  let next: NextLook | null = null;

  async function leaveOut(): Promise<(path: string) => boolean> {
    const guards = await place.guardsOtherwise();
    if (inState === null && existsSync(place.stateDir))
      inState = relative(root, realpathSync(place.stateDir));
    const inside = inState;
    const isInside = inside !== null && inside !== '' && !inside.startsWith('..') && !inside.startsWith(sep);
    return isInside ? (path) => path === inside || guards(path) : guards;
  }

  /** With the guard's files of the home folder, unless it is for a measure that was taken without. */
  async function measureNow(taking: Taking): Promise<Manifest> {
    if (taking.like !== null && taking.like.home !== true) return measureHere(taking);
    const { entries: home, notes } = await readHome();
    const made = await measureHere({ ...taking, home });
    return { ...made, notes: taking.like === null ? [...made.notes, ...notes] : made.notes, home: true };
  }

  /** All who ask before a look begins share it: it is about a workspace as it is after each of them asked. */
  function take(like: Manifest | null, before: Manifest | null): Promise<Manifest> {
    if (next !== null && next.like === like && next.before === before) return next.taken;
    const taken = nextTurn().then(() => {
      if (next?.taken === taken) next = null;
      return takeNow(like, before);
    });
    next = { like, before, taken };
    return taken;
  }

  async function takeNow(like: Manifest | null, before: Manifest | null): Promise<Manifest> {
    const keeping = contents.begin();
    try {
      const isLeftOut = await leaveOut();
      const taking = { like, before, leaveOut: isLeftOut, keep: keeping.keep };
      const made = await measureNow(taking);
      keeping.end();
      return made;
    } catch (cause) {
      keeping.abandon();
      throw notMeasured(cause);
    }
  }

  async function measureHere({ like, ...taking }: Taking): Promise<Manifest> {
    const started = String(BigInt(Date.now()) * 1_000_000n);
    const systems = createFileSystems();
    // Which folders those are is in a file: most looks find no file with several names, and need not read it.
    const isOurs = ownFilesOf(own);
    const walking = { root, ...taking, mapped: mappedFiles, systems, isOurs };
    if (like !== null) {
      const { rules, tracked, notes } = like;
      const lists = folders.under(root, rules, systems);
      const entries = await walkTree({ ...walking, rules: compileIgnoreRules(rules), tracked, lists });
      return { root: name, started, rules, tracked, notes, mapped: true, entries };
    }
    const repository = repositoryOf(root);
    const files: RuleFile[] = [...rulesAround(root, place.env, repository)];
    const foundRules = (folder: string): IgnoreRules => {
      files.push(rulesIn(root, folder));
      return compileIgnoreRules(files);
    };
    const rules = compileIgnoreRules(files);
    const entries = await walkTree({ ...walking, rules, tracked: [], foundRules });
    const { paths, notes } = trackedIn(root, repository);
    const final = compileIgnoreRules(files);
    const tracked = paths.filter((path) => final.ignoresWithin(path));
    const first: Manifest = { root: name, started, rules: files, tracked, notes, mapped: true, entries };
    if (tracked.length === 0) return first;
    return { ...first, entries: await walkTree({ ...walking, before: first, rules: final, tracked }) };
  }

  /** The measure of that hash, or why there is none. */
  function measured(runId: string, tree: string): Manifest | string {
    const found = kept.read(runId, tree);
    if (typeof found === 'string') return found;
    if (found.root === name) return found;
    const there = found.root === '' ? 'the main folder of the project' : `\`${found.root}\``;
    return `the phase was entered in ${there}, and this is \`${root}\``;
  }

  function demand(runId: string, tree: string): Manifest {
    const found = measured(runId, tree);
    if (typeof found !== 'string') return found;
    throw new PhasegateError('fence_failed', found, {
      hint: `phasegate fence ${runId} accept --all --reason TEXT`,
    });
  }

  /** How the workspace is now, by the rules of a measure. */
  async function lookLike(tree: string, before: Manifest): Promise<Manifest> {
    const after = await take(before, kept.lastLook(tree, before));
    if (isSameMeasure(before, after)) kept.sawAgain(tree, after);
    return after;
  }

  /** One look at a time, for all who asked before it began: programs in a loop would else look without a pause. */
  function stateOnce(tree: string, entered: Manifest): Promise<string | null> {
    const waiting = nextState.get(tree);
    if (waiting !== undefined) return waiting;
    const found = stateLook.then(() => {
      nextState.delete(tree);
      return stateNow(tree, entered);
    });
    nextState.set(tree, found);
    stateLook = found.then(() => nextTurn());
    return found;
  }

  async function stateNow(tree: string, entered: Manifest): Promise<string | null> {
    const before = latest?.tree === tree ? latest.manifest : entered;
    try {
      const isLeftOut = await leaveOut();
      const walking = { like: entered, before, leaveOut: isLeftOut, keep: () => undefined };
      latest = { tree, manifest: await measureNow(walking) };
      return stateOf(latest.manifest);
    } catch {
      // What a program did stands, whether or not it can be measured.
      return null;
    }
  }

  /** The measure that says the same as this one, where there is such a one; else this one. */
  function same(runId: string, newest: TakenMeasure | null, taken: Manifest): string {
    if (newest === null || !isSameMeasure(newest.manifest, taken) || !isRuledAlike(newest.manifest, taken))
      return kept.draft(runId, taken);
    kept.sawAgain(newest.tree, taken);
    // It may be another run's, which does not ask this one before it drops it.
    return kept.draft(runId, newest.manifest);
  }

  async function measureAnew(runId: string): Promise<TakenMeasure> {
    const newest = kept.newest();
    const base = newest === null ? null : kept.lastLook(newest.tree, newest.manifest);
    const manifest = await take(null, base);
    return { tree: same(runId, newest, manifest), manifest };
  }

  return {
    async measure(runId, like) {
      if (like === undefined) return (await measureAnew(runId)).tree;
      const before = demand(runId, like);
      const after = await lookLike(like, before);
      return isSameMeasure(before, after) ? like : kept.draft(runId, after);
    },

    async standing(runId) {
      const { tree, manifest } = await measureAnew(runId);
      return { tree, state: wholeStateOf(manifest) };
    },

    async compare(runId, tree): Promise<Compared> {
      const before = measured(runId, tree);
      if (typeof before === 'string') return { ok: false, reason: before };
      const after = await lookLike(tree, before);
      const state = stateOf(after);
      return {
        ok: true,
        ...(state === null ? {} : { state }),
        tree: isSameMeasure(before, after) ? tree : kept.draft(runId, after),
        changes: changesBetween(before, after, contents),
        notes: after.notes,
      };
    },

    async survey(runId, tree) {
      const before = measured(runId, tree);
      if (typeof before === 'string') return { ok: false, reason: before };
      const after = await lookLike(tree, before);
      return { ok: true, changes: changesBetween(before, after, contents), notes: after.notes };
    },

    async moved(runId, tree) {
      const before = demand(runId, tree);
      return changesBetween(before, await lookLike(tree, before), contents);
    },

    async state(runId, tree) {
      const entered = measured(runId, tree);
      if (typeof entered === 'string' || entered.entries.size > MOST_AT_A_CALL) return null;
      return stateOnce(tree, entered);
    },

    async accept(runId, { tree, seen }, paths) {
      const before = demand(runId, tree);
      // Not what stands there by now, which nobody has looked at.
      const now = demand(runId, seen);
      const entries = new Map(before.entries);
      for (const path of paths) {
        const entry = now.entries.get(path);
        if (entry === undefined) entries.delete(path);
        else entries.set(path, entry);
      }
      return kept.draft(runId, { ...before, entries });
    },

    async materialise(runId, tree, into) {
      const found = measured(runId, tree);
      if (typeof found === 'string') return { ok: false, reason: found };
      return (await import('./materialise.ts')).materialise(found, contents, into);
    },

    async keep(runId, trees) {
      try {
        for (const tree of trees) kept.keep(runId, tree);
      } catch (cause) {
        throw notMeasured(cause);
      }
    },

    release: async (runId) => kept.release(runId),
    restore: async (runId, tree, paths) =>
      (await import('./putBackPaths.ts')).restorePaths({
        root,
        contents,
        paths: demandHere(paths),
        before: demand(runId, tree),
      }),
    quarantine: async (runId, paths) => {
      const stamp = new Date().toISOString().replace(/[:.]/g, '-');
      return (await import('./putBackPaths.ts')).quarantinePaths({
        root,
        paths: demandHere(paths),
        to: join(place.folder, 'quarantine', runId, stamp),
      });
    },
    async between(runId, { from, to }) {
      const [before, after] = [measured(runId, from), measured(runId, to)];
      if (typeof before === 'string') return before;
      return typeof after === 'string' ? after : measuredChanges(before, after, contents);
    },
    contentOf: async (content) => contents.read(content),
    diff: async (runId, tree, paths) =>
      (await import('./diffText.ts')).diffText({
        root,
        contents,
        // Of files in the home folder no content is kept.
        paths: paths.filter((path) => !isInHome(path)),
        before: demand(runId, tree),
        folder: place.folder,
        own: own(),
      }),
    async settle(runId, { had, has, inUse }) {
      const [last, ...others] = had.filter((tree) => !has.includes(tree));
      if (last === undefined) return;
      if (has.length > 0) return kept.drop(runId, [last, ...others]);
      kept.drop(runId, others);
      kept.pass(runId, last);
      await sweep(inUse);
    },
  };
}

/**
 * Empty for the folder whose state it is, which may be copied with its state; else the path: worktrees share a state, and
 * a run is compared in the one it was begun in.
 */
function nameOf(root: string, stateDir: string): string {
  return stateDir.endsWith(hash('sha256', root, 'hex').slice(0, 16)) ? '' : root;
}

/** INVARIANT: nothing is moved or written in the home folder, which is not the workspace's. */
function demandHere(paths: readonly string[]): readonly string[] {
  const there = paths.find(isInHome);
  if (there === undefined) return paths;
  throw new PhasegateError(
    'fence_failed',
    `\`${there}\` is in the home folder, where nothing is moved or written`,
    {
      hint: 'put it right yourself and say so with `accept`, or accept it as it is',
    },
  );
}

/** A look at the workspace that is about to begin. */
interface NextLook {
  readonly like: Manifest | null;
  readonly before: Manifest | null;
  readonly taken: Promise<Manifest>;
}

interface Taking {
  readonly like: Manifest | null;
  readonly before: Manifest | null;
  readonly leaveOut: (path: string) => boolean;
  readonly keep: (content: string, bytes: Buffer) => void;
  readonly home?: Manifest['entries'];
}

function changesBetween(before: Manifest, after: Manifest, contents: Contents): readonly FenceChange[] {
  if (before.entries === after.entries) return [];
  const changes = compareTrees(before, after, (content) => contents.read(content));
  const linked = new Map(secondNames(changes, after).map(({ change, names }) => [change.path, names]));
  return changes.map((change) => {
    const names = linked.get(change.path);
    return { ...changeFacts(change), ...(names === undefined ? {} : { names }) };
  });
}

function changeFacts({ path, how, after, noticed }: PathChange): FenceChange {
  return {
    path,
    how,
    ...(noticed === undefined ? {} : { noticed }),
    content: after?.type === 'file' ? after.content : null,
    ...(after?.type === 'link' ? { link: after.content } : {}),
    mode: after?.mode ?? null,
    at: after === null ? null : Number(after.ctime / 1_000_000n),
  };
}

function notMeasured(cause: unknown): PhasegateError {
  if (cause instanceof PhasegateError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof TooMany) {
    return new PhasegateError('fence_failed', `the workspace cannot be measured: ${message}`, {
      hint: 'leave folders of generated files out with `.gitignore`',
    });
  }
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const hint = full
    ? 'make room on the disk of the state directory and try again'
    : 'look at the folder and try again';
  return new PhasegateError('fence_failed', `the workspace cannot be measured: ${code ?? message}`, {
    cause,
    hint,
  });
}
