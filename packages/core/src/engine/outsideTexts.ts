import type { TreeChange } from './run.ts';

/** What happened to a path, in a few words. */
export function changeText({ path, how, by }: TreeChange): string {
  return `\`${path}\` ${HOW[how]}${by === undefined ? '' : ` (${by})`}`;
}

const HOW: Readonly<Record<TreeChange['how'], string>> = {
  added: 'was added',
  changed: 'was changed',
  removed: 'was removed',
  mode: 'has other permissions',
  type: 'is another kind of file',
  linked: 'has a second name outside of what the phase may write',
  rewritten: 'was written and put back',
  unreadable: 'cannot be read or compared',
};

/**
 * What is said of changes outside a scope, shortest where programs leave many files behind: of a folder that tools make
 * for themselves, one text; of any other folder a few paths.
 */
export function outsideTexts(
  { outside, more }: { readonly outside: readonly TreeChange[]; readonly more: number },
  mayWrite: string,
): readonly string[] {
  const made = new Map<string, TreeChange[]>();
  const others: TreeChange[] = [];
  for (const change of outside) {
    const folder = MADE.exec(change.path)?.[1];
    if (folder === undefined || !isPlain(change)) others.push(change);
    else made.set(folder, [...(made.get(folder) ?? []), change]);
  }
  const isShort = others.length + made.size <= MOST_NAMED;
  const named = isShort ? others : fewOfEach(others).slice(0, MOST_NAMED - MOST_FOLDERS);
  const folders = [...made].slice(0, isShort ? made.size : MOST_FOLDERS);
  const texts = [
    ...named.map((change) => `${changeText(change)}, and ${mayWrite}`),
    ...folders.map(([folder, changes]) => `${folderText(folder, changes, more)}, and ${mayWrite}`),
  ];
  const last = texts.pop();
  const isMade = folders.length > 0 || named.some(({ path }) => LEFT.test(path));
  if (last !== undefined) texts.push(isMade ? `${last}; ${WAY}` : last);
  const told = named.length + folders.reduce((sum, [, { length }]) => sum + length, 0);
  const rest = outside.length - told + more;
  return rest === 0 ? texts : [...texts, `${rest} more paths were changed outside the scope`];
}

/** Not more than a few of each folder at the top, as many as there are in all the others. */
export function fewOfEach<T extends Pick<TreeChange, 'path'>>(changes: readonly T[]): readonly T[] {
  const count = new Map<string, number>();
  const [first, later]: [T[], T[]] = [[], []];
  for (const change of changes) {
    const [top = ''] = change.path.split('/', 1);
    const before = count.get(top) ?? 0;
    count.set(top, before + 1);
    (before < MOST_OF_FOLDER ? first : later).push(change);
  }
  return [...first, ...later];
}

function folderText(folder: string, changes: readonly TreeChange[], more: number): string {
  const [only] = changes;
  if (changes.length === 1 && only !== undefined && more === 0) return changeText(only);
  const hows = new Set(changes.map(({ how }) => HOW[how].replace('was ', '')));
  const count = more === 0 ? String(changes.length) : `${changes.length} or more`;
  return `${count} files in \`${folder}/\` were ${[...hows].join(' or ')}`;
}

function isPlain({ how }: TreeChange): boolean {
  return how === 'added' || how === 'changed' || how === 'removed';
}

/** Folders that test runners, compilers and package managers make for themselves. */
const MADE =
  /^((?:.*?\/)?(?:__pycache__|\.(?:pytest|mypy|ruff)_cache|\.hypothesis|\.tox|\.nox|\.venv|node_modules|\.nyc_output|coverage|\.vitest|\.turbo|\.gradle|target))\//;

/** Files of the same kind. */
const LEFT = /(?:\.tsbuildinfo|(?:^|\/)(?:\.coverage|\.eslintcache))$/;

const WAY =
  'what a program leaves behind is left out with `.gitignore`, before a run is started, or named in the `writes` of the phase';

/** No refusal grows with what a program can do to a tree. */
const MOST_NAMED = 20;
const MOST_FOLDERS = 5;
const MOST_OF_FOLDER = 5;
