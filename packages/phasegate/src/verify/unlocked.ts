import { join } from 'node:path';
import { isJsonObject, type Json, own } from '@phasegate/core';
import type { DependencyKind } from '@phasegate/core/ports';
import { readRegularIfAny } from '../files/readRegular.ts';

/** Dependencies that no lockfile names, so that nobody can freeze them. */
export interface Unlocked {
  readonly reason: string;
  readonly nextStep: string;
}

/** What is asked: the folder the tests are run in, the words they are run with, and the lockfiles that were found. */
export interface LockQuestion {
  readonly folder: string;
  readonly words: readonly string[];
  readonly kinds: readonly DependencyKind[];
}

/** What the tests of a folder need and no lockfile names; null where nothing is known to be missing. */
export function unlockedIn({ folder, words, kinds }: LockQuestion): Unlocked | null {
  const isNode = kinds.includes('npm') || kinds.includes('pnpm');
  if (!isNode && namesPackages(folder)) {
    return {
      reason:
        '`package.json` names packages, and no lockfile (`package-lock.json`, `pnpm-lock.yaml`) says which',
      nextStep: 'a human runs `npm install --package-lock-only`, then `phasegate deps freeze`',
    };
  }
  const isPython = kinds.includes('pip') || kinds.includes('uv');
  if (!isPython && words.some((word) => /^(?:.*\/)?(?:pytest|py\.test)$/.test(word))) {
    return {
      reason: 'the tests are run by `pytest`, and no lockfile (`requirements.txt`, `uv.lock`) names it',
      nextStep: 'a human writes one that names pytest too, then runs `phasegate deps freeze`',
    };
  }
  return null;
}

const MOST_OF_MANIFEST = 4 * 1024 * 1024;
const LISTS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

function namesPackages(folder: string): boolean {
  const bytes = readRegularIfAny(join(folder, 'package.json'), { most: MOST_OF_MANIFEST, links: 'refuse' });
  if (bytes === null) return false;
  try {
    const manifest = JSON.parse(bytes.toString('utf8')) as Json;
    return LISTS.some((name) => {
      const list = own(manifest, name);
      return isJsonObject(list) && Object.keys(list).length > 0;
    });
  } catch {
    // What npm cannot read names nothing; the tests then say so themselves.
    return false;
  }
}
