import { mayWrite } from '@phasegate/core/engine';
import type { Check, Phase } from '@phasegate/core/model';
import { compileGlob } from '@phasegate/core/model';
import { loadedBy, type TreeFiles } from './loadedFiles.ts';
import { isConfig, nestedConfigs, runsRecipes } from './runnerConfigs.ts';
import { commandsIn, scriptsOf, shellIn } from './scriptsOf.ts';

/** Why the words of a check do not decide alone how it is judged. */
export type Deciding =
  /** A file of the tree that decides, and that the phase may write. */
  | { readonly writable: string }
  /** A command that says only while it runs what it runs, or whose recipe is not read. */
  | { readonly unknown: string };

/**
 * The first file of a tree that decides how a check is judged and that the phase may write; null where there is none. A
 * test is not such a file: it is what the phase works on. The script that is run is, and the config of its runner, and
 * what these load in turn. What cannot be known is told, unless the author has named what decides.
 */
export function writableVerifier(check: Check, phase: Phase, tree: TreeFiles): Deciding | null {
  const { cwd, verifier, argv, shell } = check.with;
  const folder = typeof cwd === 'string' ? cwd.replace(/^(?:\.\/)+|\/+$/g, '').replace(/^\.$/, '') : '';
  const all = tree.paths;
  const place = (path: string) => realIn(folder === '' ? path : `${folder}/${path}`, tree);
  const endsWith = (path: string, end: string) => path === end || path.endsWith(`/${end}`);
  const scripts = scriptsOf(check, {
    isFile: (path) => all.has(place(path)),
    isEnd: (end) => end !== '' && [...all].some((path) => endsWith(path, end)),
  });
  const words = Array.isArray(argv) ? argv.filter((word): word is string => typeof word === 'string') : [];
  const line = typeof shell === 'string' ? shell : shellIn(argv);
  const commands = [words, ...(line === null ? [] : commandsIn(line))];
  const configs = [...all].filter((path) => isConfig(path, folder) && FOLLOWED.test(path));
  const loaded = loadedBy(commands, { folder, tree, configs });
  const named = new Set([...scripts.paths.map(place), ...loaded.files]);
  const canary = scripts.canary.map(place);
  const globs = [...(Array.isArray(verifier) ? verifier : []), ...canary.filter((one) => one.includes('*'))];
  const patterns = globs.flatMap((glob) => (typeof glob === 'string' ? (globOf(glob) ?? []) : []));
  const entersPackages = words.some((word) => ENTERS.test(word));
  const isNested = nestedConfigs([...commands, ...loaded.commands], { red: check.with.expect === 'red' });
  const isDeciding = (path: string) =>
    isConfig(path, folder) ||
    isNested(path) ||
    (entersPackages && path.endsWith('/package.json')) ||
    named.has(path) ||
    canary.some((one) => path === one || path.startsWith(`${one}/`)) ||
    scripts.ends.some((end) => endsWith(path, end)) ||
    patterns.some((matches) => matches(path));
  for (const path of all) {
    if (!isDeciding(path)) continue;
    // A link decides by what it leads to.
    const written = [path, realIn(path, tree)].find((one) => mayWrite(phase, one));
    if (written !== undefined) return { writable: written };
  }
  const recipe = [...commands, ...loaded.commands].find(runsRecipes);
  const unknown = loaded.unknown ?? recipe?.join(' ') ?? null;
  return unknown === null || verifier !== undefined || phase.writes.length === 0 ? null : { unknown };
}

/** Where a path leads to in the tree, through links of the tree; one that leads out of it, or around, stays as it is. */
function realIn(path: string, tree: TreeFiles): string {
  let [done, open] = [[] as string[], path.split('/')];
  for (let hops = 0; open.length > 0; ) {
    const [next = '', ...rest] = open;
    open = rest;
    if (next === '..') done.pop();
    else if (next !== '.' && next !== '') done.push(next);
    const target = next === '..' ? null : tree.link(done.join('/'));
    if (target === null) continue;
    hops += 1;
    if (target.startsWith('/') || hops > MOST_HOPS) return path;
    done = done.slice(0, -1);
    open = [...target.split('/'), ...open];
  }
  return done.join('/');
}

const MOST_HOPS = 20;

/** Config that names what is loaded; the rest names dependencies. */
const FOLLOWED = /(?:\.(?:[cm]?[jt]s|json|ya?ml|ini|toml|cfg)|rc|(?:^|\/)conftest\.py)$/;

/** Null for a word that only looks like one. */
function globOf(glob: string): ((path: string) => boolean) | null {
  try {
    return compileGlob(glob);
  } catch {
    return null;
  }
}

/** Words by which npm, pnpm and yarn run scripts of other folders. */
const ENTERS = /^(?:-ws?|-r|-F|-C|--(?:workspaces?|recursive|filter|prefix|dir|cwd)(?:=.*)?|workspaces?)$/;
