import { mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GuardedEntry } from './guardedEntry.ts';
import { createGuardedReader, type GuardedReader, type GuardedReading } from './guardedTree.ts';
import { putBackGuarded } from './putBackGuarded.ts';

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
  return {
    async read(known: Iterable<string>): Promise<GuardedReading> {
      reader ??= realpath(root).then((real) => createGuardedReader(real));
      return (await reader).read(known);
    },
    async putBack({ path, before, after }: FileChange): Promise<void> {
      if (after?.content != null) await keep(keptIn(), after.digest, after.content);
      await putBackGuarded({ root: await realpath(root), path, before, after });
    },
  };
}

const MOST_KEPT = 1_000;

async function keep(folder: string, name: string, content: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, name), content, { mode: 0o600, flag: 'w' });
  await dropOldest(folder, name);
}

/** What was found last is what somebody will look for. */
async function dropOldest(folder: string, newest: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== newest);
  if (names.length < MOST_KEPT) return;
  const aged = await Promise.all(
    names.map(async (name) => ({ name, age: (await stat(join(folder, name))).mtimeMs })),
  );
  const oldest = aged.sort((one, other) => one.age - other.age).slice(0, names.length + 1 - MOST_KEPT);
  for (const { name } of oldest) await rm(join(folder, name), { force: true });
}
