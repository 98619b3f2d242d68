/** Paths, or where there are too many some of them, with a count for every folder they are in. */
export interface FoldedPaths {
  readonly paths: readonly string[];
  /** How many paths are not among them; absent where all are. */
  readonly more?: number;
  /** Every folder with how many paths it has; absent where all paths are told. */
  readonly folders?: readonly FolderCount[];
  /** How many folders are not among them; absent where all are. */
  readonly moreFolders?: number;
}

/** A folder, with a slash behind it, and how many of the paths are in it. */
export interface FolderCount {
  readonly folder: string;
  readonly count: number;
}

/** No card grows with what a program can do to a tree. */
const MOST_FOLDERS = 200;

/**
 * So many paths at most, taken from every folder by turns: a crowd of files in one must not push the only one of
 * another behind the end. The folders are those below the folder that all paths have in common.
 */
export function foldPaths(paths: readonly string[], most: number): FoldedPaths {
  if (paths.length <= most) return { paths };
  const common = commonFolder(paths);
  const byFolder = new Map<string, string[]>();
  for (const path of paths) {
    const slash = path.indexOf('/', common.length);
    const folder = slash === -1 ? common || './' : path.slice(0, slash + 1);
    const known = byFolder.get(folder);
    if (known === undefined) byFolder.set(folder, [path]);
    else known.push(path);
  }
  const folders = [...byFolder].map(([folder, inside]) => ({ folder, count: inside.length }));
  const moreFolders = folders.length - MOST_FOLDERS;
  const told = byTurns([...byFolder.values()], most);
  return {
    paths: told,
    more: paths.length - told.length,
    folders: folders.slice(0, MOST_FOLDERS),
    ...(moreFolders > 0 ? { moreFolders } : {}),
  };
}

function byTurns(groups: readonly (readonly string[])[], most: number): readonly string[] {
  const taken: string[] = [];
  for (let turn = 0; taken.length < most; turn += 1) {
    const found = groups.flatMap((group) => group[turn] ?? []);
    if (found.length === 0) break;
    taken.push(...found.slice(0, most - taken.length));
  }
  return taken.sort();
}

function commonFolder(paths: readonly string[]): string {
  let common = paths[0] ?? '';
  for (const path of paths) while (!path.startsWith(common)) common = common.slice(0, -1);
  return common.slice(0, common.lastIndexOf('/') + 1);
}
