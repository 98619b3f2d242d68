import { opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { compileGlob } from '@phasegate/core/model';
import { findBeneath } from './openBeneath.ts';

/** Something a glob matched. Links are named, never followed. */
export interface Match {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** The most entries one check looks at; past that it has no answer. */
export const MAX_ENTRIES = 50_000;

/** Finds what globs match in a workspace. One finder serves one check, so that its limit holds for all its globs. */
export class FileFinder {
  readonly #root: string;
  readonly #signal: AbortSignal;
  readonly #walked = new Map<string, readonly Match[]>();
  readonly #limit: number;
  #entries = 0;

  /** `root` is a real path. */
  constructor(root: string, signal: AbortSignal, limit = MAX_ENTRIES) {
    this.#root = root;
    this.#signal = signal;
    this.#limit = limit;
  }

  /** Everything a glob matches. A glob whose fixed part leads through a link matches that link. */
  async find(glob: string): Promise<readonly Match[]> {
    const matches = compileGlob(glob);
    const { fixed, whole } = fixedPart(glob);
    const found = await findBeneath(this.#root, fixed);
    if (found.kind === 'missing') return [];
    if (found.kind === 'link') return [{ path: found.at, kind: 'link' }];
    if (whole) return [{ path: fixed, kind: found.kind }];
    if (found.kind !== 'folder') return [];
    const named = glob.split(/[/{},]/u);
    const skipped = SKIPPED.filter((name) => !named.includes(name));
    return (await this.#below(fixed, skipped)).filter(({ path }) => matches(path));
  }

  async #below(folder: string, skipped: readonly string[]): Promise<readonly Match[]> {
    const key = JSON.stringify([folder, skipped]);
    const known = this.#walked.get(key);
    if (known !== undefined) return known;
    const found: Match[] = [];
    const open = [folder];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const match of await this.#entriesOf(next)) {
        if (skipped.includes(match.path.slice(match.path.lastIndexOf('/') + 1))) continue;
        found.push(match);
        if (match.kind === 'folder') open.push(match.path);
      }
    }
    this.#walked.set(key, found);
    return found;
  }

  async #entriesOf(folder: string): Promise<readonly Match[]> {
    const place = join(this.#root, folder);
    const entries: Match[] = [];
    for await (const entry of await opendir(place)) {
      this.#signal.throwIfAborted();
      this.#entries += 1;
      if (this.#entries > this.#limit) {
        throw new Error(
          `the workspace has more than ${this.#limit} entries to look at; name a narrower glob`,
        );
      }
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const kind = entry.isFile()
        ? 'file'
        : entry.isDirectory()
          ? 'folder'
          : entry.isSymbolicLink()
            ? 'link'
            : 'other';
      entries.push({ path, kind });
    }
    // A folder that became a link between two looks would have led us outside.
    if ((await realpath(place)) !== place) throw new Error(`\`${folder}\` changed while it was read`);
    return entries;
  }
}

const SKIPPED = ['.git', 'node_modules'] as const;

/** The leading components of a glob without any sign of its language; `whole` when that is all of it. */
function fixedPart(glob: string): { readonly fixed: string; readonly whole: boolean } {
  const names = (glob.startsWith('./') ? glob.slice(2) : glob).split('/');
  const sign = names.findIndex((name) => /[*?[\]{}]/u.test(name));
  if (sign === -1) return { fixed: names.join('/'), whole: true };
  // A group such as `{a/b,c}` holds a slash, so nothing after its start is fixed.
  return { fixed: names.slice(0, sign).join('/'), whole: false };
}
