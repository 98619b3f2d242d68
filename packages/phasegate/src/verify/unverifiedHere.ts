import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Check, Workflow } from '@phasegate/core/model';
import { readRegularIfAny } from '../files/readRegular.ts';
import type { Unverified } from '../runtime/ports.ts';
import { compileIgnoreRules } from '../workspace/fence/ignoreRules.ts';
import { repositoryOf, rulesAround, rulesIn } from '../workspace/fence/repository.ts';
import { FileFinder, type Match } from '../workspace/findFiles.ts';
import type { TreeFiles } from './loadedFiles.ts';
import { lockfilesIn } from './lockfiles.ts';
import { unlockedIn } from './unlocked.ts';
import { verifierLack } from './verifierLack.ts';

/**
 * The checks of a workflow that ask for a room and would get none, whatever is frozen: what decides them is not known or
 * not out of reach, or nothing says with what they run. As the workspace is now, and before anything is run.
 */
export async function unverifiedHere(
  { root, env }: { readonly root: string; readonly env: Readonly<Record<string, string | undefined>> },
  workflow: Workflow,
): Promise<readonly Unverified[]> {
  const tree = await treeOf(root, env);
  return workflow.phases.flatMap((phase) =>
    [...phase.preconditions, ...phase.postconditions, ...phase.blockers]
      .filter(({ verify, needs }) => verify === true || needs === 'verified')
      .flatMap((check) => {
        const lack = verifierLack(check, phase, tree) ?? unlocked(check, root);
        return lack === null ? [] : [{ phase: phase.id, ...lack }];
      }),
  );
}

function unlocked({ with: given }: Check, root: string): Omit<Unverified, 'phase'> | null {
  const { argv, dependencies, cwd } = given;
  // What the author said is asked when it is run.
  if (Array.isArray(dependencies) || typeof cwd === 'string') return null;
  const words = Array.isArray(argv) ? argv.filter((word) => typeof word === 'string') : [];
  const found = unlockedIn({ folder: root, words, kinds: lockfilesIn(root).map(({ kind }) => kind) });
  return found === null ? null : { code: 'deps_unknown', ...found };
}

/** What a measure of the workspace would hold, but for files that only git knows. */
async function treeOf(root: string, env: Parameters<typeof rulesAround>[1]): Promise<TreeFiles> {
  const all = await everything(root);
  const rules = compileIgnoreRules([
    ...rulesAround(root, env, repositoryOf(root)),
    ...all
      .filter(({ path }) => path === '.gitignore' || path.endsWith('/.gitignore'))
      .map(({ path }) => rulesIn(root, path.slice(0, -'/.gitignore'.length))),
  ]);
  const paths = all.filter(({ path, kind }) => kind !== 'folder' && !rules.ignoresWithin(path));
  return {
    paths: new Set(paths.map(({ path }) => path)),
    read: (path) =>
      readRegularIfAny(join(root, path), { most: LARGEST_CONFIG, links: 'refuse' })?.toString('utf8') ?? null,
    link: (path) => linkAt(join(root, path)),
  };
}

/** Of a workspace with more files than a check looks at, commands and manifests still say what they run. */
async function everything(root: string): Promise<readonly Match[]> {
  try {
    return await new FileFinder(root, new AbortController().signal).find('**');
  } catch {
    return [];
  }
}

/** A larger one is no config that a person wrote. */
const LARGEST_CONFIG = 256 * 1024;

function linkAt(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    // It is none, or not there.
    return null;
  }
}
