import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GuardedEntry } from './guardedEntry.ts';
import { createGuardedReader, type GuardedReader, type GuardedReading } from './guardedTree.ts';
import { putBackGuarded, removeAll } from './putBackGuarded.ts';

/** A guarded file that is not as it was. */
export interface FileChange {
  readonly path: string;
  /** Null where it was not there. */
  readonly before: GuardedEntry | null;
  /** Null where it is gone. */
  readonly after: GuardedEntry | null;
}

/**
 * The guard's own files of a workspace. What is found in their place is kept in a folder, by its SHA-256: somebody may
 * have meant it. The newest thousand are kept.
 */
export function createGuardedFiles({
  root,
  keptIn,
}: {
  readonly root: string;
  readonly keptIn: () => string;
}) {
  let reader: Promise<GuardedReader> | undefined;
  const keep = createKept(keptIn);
  const remove = createRemoving(() => realpath(root));
  return {
    async read(known: Iterable<string>): Promise<GuardedReading> {
      reader ??= realpath(root).then((real) => createGuardedReader(real));
      return (await reader).read(known);
    },
    async putBack({ path, before, after }: FileChange): Promise<void> {
      if (after?.content != null) await keep(after.digest, after.content);
      if (before === null && after?.kind !== 'other') return remove(path);
      await putBackGuarded({ root: await realpath(root), path, before, after });
    },
  };
}

/** Removes added files. Those of one folder that are asked for at once go together: a program can leave very many. */
function createRemoving(root: () => Promise<string>) {
  const asked = new Map<string, { readonly names: string[]; readonly done: Promise<void> }>();
  return (path: string): Promise<void> => {
    const at = path.lastIndexOf('/');
    const [folder, name] = [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
    const others = asked.get(folder);
    if (others !== undefined) {
      others.names.push(name);
      return others.done;
    }
    const names = [name];
    const done = nextTurn().then(async () => {
      asked.delete(folder);
      await removeAll(await root(), folder, names);
    });
    asked.set(folder, { names, done });
    return done;
  };
}

const MOST_KEPT = 1_000;

/** Keeps what was found in a folder. What was found last is what somebody will look for, so the oldest goes. */
function createKept(keptIn: () => string) {
  // By their age. Read once: a program can leave so many that asking for all of them each time would take minutes.
  let names: Promise<Set<string>> | undefined;
  return async (name: string, content: Buffer): Promise<void> => {
    const folder = keptIn();
    names ??= namesByAge(folder);
    const kept = await names;
    const isKept = kept.delete(name) && existsSync(join(folder, name));
    kept.add(name);
    if (!isKept) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(join(folder, name), content, { mode: 0o600, flag: 'w' });
    }
    for (const oldest of [...kept].slice(0, Math.max(0, kept.size - MOST_KEPT))) {
      kept.delete(oldest);
      await rm(join(folder, oldest), { force: true });
    }
  };
}

async function namesByAge(folder: string): Promise<Set<string>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aged = await Promise.all(
    (await readdir(folder)).map(async (name) => ({ name, age: (await stat(join(folder, name))).mtimeMs })),
  );
  return new Set(aged.sort((one, other) => one.age - other.age).map(({ name }) => name));
}
