import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckInput } from '../../runtime/ports.ts';
import { FileFinder } from '../../workspace/findFiles.ts';
import { readBeneath } from '../../workspace/readBeneath.ts';
import { type Canary, canaryFor } from './canaryText.ts';

/** A test file, and the tests that must fail in it now. */
export interface Planted {
  readonly path: string;
  /** What it held before. */
  readonly text: string;
  /** How those tests are called. */
  readonly titles: readonly string[];
}

/**
 * Adds tests that must fail to every test file of a room: they run in the same process as what the file imports, so what
 * was done to assertions, or to the end of the process, is done to them too. INVARIANT: only ever in a copy of the
 * engine's own.
 */
export async function plantCanary(
  globs: readonly string[],
  { workspace, signal }: Pick<CheckInput, 'workspace' | 'signal'>,
): Promise<readonly Planted[]> {
  const root = await realpath(workspace);
  const finder = new FileFinder(root, signal as AbortSignal);
  const paths = new Set<string>();
  for (const glob of globs)
    for (const { path, kind } of await finder.find(glob)) if (kind === 'file') paths.add(path);
  const planted: Planted[] = [];
  for (const path of paths) {
    const { content } = await readBeneath(root, path, LARGEST);
    const text = content.toString('utf8');
    const canary: Canary | null = canaryFor(path, text);
    if (canary === null) continue;
    await writeFile(join(root, path), canary.text);
    planted.push({ path, text, titles: canary.titles });
  }
  return planted;
}

const LARGEST = 16 * 1024 * 1024;
