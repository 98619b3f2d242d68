import { hash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type Manifest, readManifest, writeManifest } from './manifest.ts';

/** The measures of runs on disk, by run and hash. */
export interface KeptManifests {
  /** The manifest, or why there is none that can be trusted. */
  read(runId: string, tree: string): Manifest | string;
  write(runId: string, manifest: Manifest): string;
  /** Gives a run a measure that another one has; null where it is not there any more. */
  adopt(runId: string, manifest: Manifest): string | null;
  /** The newest of any run, to take content hashes from; null where there is none. */
  newest(): Manifest | null;
  keepOnly(runId: string, trees: readonly string[]): void;
  /** Gives how many runs still have any. */
  drop(runId: string): number;
}

/** Keeps them in a folder; the last of a run that ended stays, for the next to begin with. */
export function createKeptManifests(folder: string): KeptManifests {
  const runs = join(folder, 'runs');
  const last = join(folder, 'last.json');
  /** What this process read or wrote: the same measure is asked for again and again. */
  const known = new Map<string, Manifest>();
  const files = new WeakMap<Manifest, string>();
  const fileOf = (runId: string, tree: string) => join(runs, runId, `${tree}.json`);

  function remember(tree: string, manifest: Manifest): Manifest {
    if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value as string);
    known.delete(tree);
    known.set(tree, manifest);
    return manifest;
  }

  return {
    read(runId, tree) {
      const file = fileOf(runId, tree);
      const held = known.get(tree);
      // A measure that somebody removed is gone, also for a process that remembers it.
      if (held !== undefined && existsSync(file)) return held;
      let text: string;
      try {
        text = readFileSync(file, 'utf8');
      } catch {
        return 'the measure of the workspace that was taken when the phase was entered is missing';
      }
      if (hash('sha256', text, 'hex') !== tree)
        return 'the measure of the workspace that was taken when the phase was entered was altered';
      const manifest = remember(tree, readManifest(text));
      files.set(manifest, file);
      return manifest;
    },
    write(runId, manifest) {
      const { text, tree } = writeManifest(manifest);
      const file = fileOf(runId, tree);
      mkdirSync(join(runs, runId), { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}.part`;
      try {
        writeFileSync(draft, text, { mode: 0o600, flush: true });
        renameSync(draft, file);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
      files.set(remember(tree, manifest), file);
      return tree;
    },
    adopt(runId, manifest) {
      const from = files.get(manifest);
      if (from === undefined) return null;
      const name = basename(from);
      try {
        mkdirSync(join(runs, runId), { recursive: true, mode: 0o700 });
        // Never a second name of the same file: what is done to one would be done to both.
        copyFileSync(from, join(runs, runId, name), constants.COPYFILE_EXCL);
      } catch {
        return null;
      }
      return name.slice(0, -'.json'.length);
    },
    newest() {
      const held = [...known.values()].at(-1);
      if (held !== undefined) return held;
      try {
        return readManifest(readFileSync(last, 'utf8'));
      } catch {
        return null;
      }
    },
    keepOnly(runId, trees) {
      const wanted = new Set(trees.map((tree) => `${tree}.json`));
      for (const name of namesIn(join(runs, runId)))
        if (!wanted.has(name)) rmSync(join(runs, runId, name), { force: true });
    },
    drop(runId) {
      const [name] = namesIn(join(runs, runId));
      if (name !== undefined) {
        try {
          renameSync(join(runs, runId, name), last);
        } catch {
          // Only a start that takes longer.
        }
        rmSync(join(runs, runId), { recursive: true, force: true });
      }
      return namesIn(runs).length;
    },
  };
}

const MOST_KNOWN = 4;

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
