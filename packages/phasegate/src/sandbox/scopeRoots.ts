import { segmentsOfGlob } from '@phasegate/core/model';

/** Where a write scope begins in the tree. */
export interface ScopeRoots {
  /** Folders everything below which may be written; none lies in another. `''` is the workspace. */
  readonly whole: readonly string[];
  /** Folders some names in which, or below which, may be written. */
  readonly partly: readonly string[];
  /** Whether anything below this folder could be in the scope. */
  mayHold(folder: string): boolean;
}

/** Reads the folders out of the globs of a scope. */
export function scopeRoots(writes: readonly string[]): ScopeRoots {
  const globs = writes.flatMap(segmentsOfGlob);
  const whole = outermost(globs.filter(isWhole).map((glob) => glob.slice(0, -2).join('/')));
  const partly = outermost(globs.filter((glob) => !isWhole(glob)).map(placeOf));
  return {
    whole,
    partly: partly.filter((folder) => !whole.some((root) => lies(folder, root))),
    mayHold: (folder) => {
      const names = folder.split('/');
      return globs.some((glob) => mayReach(glob, names));
    },
  };
}

/** True when a path is a folder or lies below it. */
export function lies(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** `dir/**`, written out as `dir`, `**`, `*`. */
function isWhole(glob: readonly string[]): boolean {
  return glob.at(-1) === '*' && glob.at(-2) === '**' && glob.slice(0, -2).every(isPlain);
}

/** The folder that the first name with a choice in it stands in; of a plain path, the folder it stands in. */
function placeOf(glob: readonly string[]): string {
  const choice = glob.findIndex((segment) => !isPlain(segment));
  return glob.slice(0, choice < 0 ? -1 : choice).join('/');
}

function isPlain(segment: string): boolean {
  return !/[*?[\]{}]/.test(segment);
}

function outermost(folders: readonly string[]): readonly string[] {
  const all = [...new Set(folders)];
  return all.filter((folder) => !all.some((other) => other !== folder && lies(folder, other)));
}

/** Whether a glob could match something below a folder of these names. Said too often costs nothing but time. */
function mayReach(glob: readonly string[], names: readonly string[]): boolean {
  for (const [place, name] of names.entries()) {
    const segment = glob[place];
    if (segment === '**') return true;
    if (segment === undefined || (isPlain(segment) && segment !== name)) return false;
  }
  return glob.length > names.length;
}
