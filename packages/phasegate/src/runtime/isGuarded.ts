import { compileGlob, GUARDED_PATHS } from '@phasegate/core';

/**
 * Whether a normal path is one of the guard's own files, or inside a repository's own folder at any depth. Compared
 * without case and without what some file systems leave out of names: on those `.GIT/config` is `.git/config`, and
 * where it is not, refusing it costs nobody anything.
 */
export function isGuarded(path: string): boolean {
  const names = path.split('/').map(folded);
  if (names.some((name) => name === '.git' || /^git~\d+$/.test(name))) return true;
  const plain = names.join('/');
  guards ??= GUARDED_PATHS.map(compileGlob);
  return guards.some((matches) => matches(plain));
}

let guards: readonly ((path: string) => boolean)[] | undefined;

function folded(name: string): string {
  const visible = name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();
  // A final dot or blank is not part of a name on Windows, nor is what follows a colon.
  return visible.replace(/:.*$/u, '').replace(/[. ]+$/u, '') || visible;
}
