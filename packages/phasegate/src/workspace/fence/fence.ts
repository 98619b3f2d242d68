import { hash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { Compared, Fence, FenceChange } from '@phasegate/core/ports';
import { compareTrees, type PathChange, secondNames } from './compareTrees.ts';
import { type Contents, createContents } from './contents.ts';
import { compileIgnoreRules, type IgnoreRules, type RuleFile } from './ignoreRules.ts';
import { createKeptManifests } from './keptManifests.ts';
import type { Manifest } from './manifest.ts';
import { rulesAround, rulesIn, trackedIn } from './repository.ts';
import { TooMany, walkTree } from './walkTree.ts';

/** Where a workspace is, and where its measures are kept. */
export interface FencePlace {
  readonly root: string;
  /** The folder of the fence in the state directory. */
  readonly folder: string;
  /** The whole state directory, which is never part of a workspace. */
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether Phasegate guards a path in another way, as it does the databases of workflows. */
  readonly guardsOtherwise: () => Promise<(path: string) => boolean>;
}

/** Builds the fence of a workspace on this machine. */
export function createFence(place: FencePlace): Fence {
  const root = realpathSync(place.root);
  const name = nameOf(root, place.stateDir);
  const contents = createContents(join(place.folder, 'contents'));
  const kept = createKeptManifests(place.folder);

  async function leaveOut(): Promise<(path: string) => boolean> {
    const guards = await place.guardsOtherwise();
    const state = existsSync(place.stateDir) ? relative(root, realpathSync(place.stateDir)) : '..';
    const isInside = state !== '' && !state.startsWith('..') && !state.startsWith(sep);
    return isInside ? (path) => path === state || guards(path) : guards;
  }

  async function take(like: Manifest | null, before: Manifest | null): Promise<Manifest> {
    const keeping = contents.begin();
    try {
      const made = await measureNow({ like, before, leaveOut: await leaveOut(), keep: keeping.keep });
      keeping.end();
      return made;
    } catch (cause) {
      keeping.abandon();
      throw notMeasured(cause);
    }
  }

  async function measureNow({ like, before, leaveOut: isLeftOut, keep }: Taking): Promise<Manifest> {
    const started = String(BigInt(Date.now()) * 1_000_000n);
    const walking = { root, before, leaveOut: isLeftOut, keep };
    if (like !== null) {
      const { rules, tracked, notes } = like;
      const entries = await walkTree({ ...walking, rules: compileIgnoreRules(rules), tracked });
      return { root: name, started, rules, tracked, notes, entries };
    }
    const files: RuleFile[] = [...rulesAround(root, place.env)];
    const foundRules = (folder: string): IgnoreRules => {
      files.push(rulesIn(root, folder));
      return compileIgnoreRules(files);
    };
    const rules = compileIgnoreRules(files);
    const entries = await walkTree({ ...walking, rules, tracked: [], foundRules });
    const { paths, notes } = trackedIn(root);
    const final = compileIgnoreRules(files);
    const tracked = paths.filter((path) => final.ignoresWithin(path));
    if (tracked.length === 0) return { root: name, started, rules: files, tracked, notes, entries };
    const first: Manifest = { root: name, started, rules: files, tracked, notes, entries };
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

  async function keep(runId: string, manifest: Manifest): Promise<string> {
    try {
      return kept.write(runId, manifest);
    } catch (cause) {
      throw notMeasured(cause);
    }
  }

  return {
    async measure(runId, like) {
      const from = like === undefined ? null : demand(runId, like);
      const newest = from ?? kept.newest();
      const taken = await take(from, newest);
      const isKnown =
        newest !== null && like === undefined && isSame(newest, taken) && isRuledAlike(newest, taken);
      return (isKnown ? kept.adopt(runId, newest) : null) ?? keep(runId, taken);
    },

    async compare(runId, tree): Promise<Compared> {
      const before = measured(runId, tree);
      if (typeof before === 'string') return { ok: false, reason: before };
      const after = await take(before, before);
      return {
        ok: true,
        tree: isSame(before, after) ? tree : await keep(runId, after),
        changes: changesBetween(before, after, contents),
        notes: after.notes,
      };
    },

    async moved(runId, tree) {
      const before = demand(runId, tree);
      const after = await take(before, before);
      return changesBetween(before, after, contents);
    },

    async accept(runId, tree, paths) {
      const before = demand(runId, tree);
      const now = await take(before, before);
      const entries = new Map(before.entries);
      for (const path of paths) {
        const entry = now.entries.get(path);
        if (entry === undefined) entries.delete(path);
        else entries.set(path, entry);
      }
      return keep(runId, { ...before, entries });
    },

    restore: async (runId, tree, paths) =>
      (await import('./putBackPaths.ts')).restorePaths({
        root,
        contents,
        paths,
        before: demand(runId, tree),
      }),
    quarantine: async (runId, paths) => {
      const stamp = new Date().toISOString().replace(/[:.]/g, '-');
      return (await import('./putBackPaths.ts')).quarantinePaths({
        root,
        paths,
        to: join(place.folder, 'quarantine', runId, stamp),
      });
    },
    diff: async (runId, tree, paths) =>
      (await import('./diffText.ts')).diffText({
        root,
        contents,
        paths,
        before: demand(runId, tree),
        folder: place.folder,
      }),
    async settle(runId, trees) {
      if (trees.length > 0) kept.keepOnly(runId, trees);
      else if (kept.drop(runId) === 0 && contents.size() > MOST_KEPT) contents.drop();
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

/** So much stays on disk when no run needs it any more: the next run begins sooner with it. */
const MOST_KEPT = 256 * 1024 * 1024;

interface Taking {
  readonly like: Manifest | null;
  readonly before: Manifest | null;
  readonly leaveOut: (path: string) => boolean;
  readonly keep: (content: string, bytes: Buffer) => void;
}

function isRuledAlike(one: Manifest, other: Manifest): boolean {
  const said = ({ root, rules, tracked, notes }: Manifest) => JSON.stringify({ root, rules, tracked, notes });
  return said(one) === said(other);
}

/** Whether a new measure would say the same; then the old one serves, which may only look more often. */
function isSame(before: Manifest, after: Manifest): boolean {
  if (before.entries.size !== after.entries.size) return false;
  for (const [path, is] of after.entries) {
    const was = before.entries.get(path);
    if (was === is) continue;
    if (was === undefined || was.ctime !== is.ctime || was.content !== is.content || was.inode !== is.inode)
      return false;
  }
  return true;
}

function changesBetween(before: Manifest, after: Manifest, contents: Contents): readonly FenceChange[] {
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
