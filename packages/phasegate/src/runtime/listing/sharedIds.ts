import type { Problem } from '@phasegate/core';
import type { CatalogEntry, Place } from '../ports.ts';

/** The id a file defines, and where it does. */
export interface NamedPlace {
  readonly id: string;
  readonly place: Place | null;
}

/** Files that define one workflow: none of them can be started by its name. A file of elsewhere is only a draft. */
export function sharedIds(
  checked: ReadonlyMap<string, NamedPlace>,
  { entries, isListed }: { readonly entries: readonly CatalogEntry[]; isListed(path: string): boolean },
): readonly Problem[] {
  const listed = pathsById(entries.map(({ path, id }) => [path, id]));
  const named = pathsById([...checked].map(([path, { id }]) => [path, id]));
  return [...checked].flatMap(([file, { id, place }]): readonly Problem[] => {
    const same = othersIn([isListed(file) ? listed.get(id) : undefined, named.get(id)], file);
    if (same.length === 0) return [];
    const more = same.length > MOST_NAMED ? ' and more' : '';
    const others = same.slice(0, MOST_NAMED).map((path) => `\`${path}\``);
    const message = `the workflow id \`${id}\` is also that of ${others.join(', ')}${more}: give each its own`;
    const { line, column } = place?.file === file ? place : { line: 1, column: 1 };
    return [{ file, line, column, code: DUPLICATE, message, severity: 'error' }];
  });
}

/** Every entry, with the problem that others have its id. */
export function withSharedIds(entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const names = new Map(entries.map(({ path, id }) => [path, { id, place: null }]));
  const problems = new Map(
    sharedIds(names, { entries, isListed: () => true }).map((problem) => [problem.file, problem]),
  );
  return entries.map((entry) => {
    const problem = problems.get(entry.path);
    return problem === undefined ? entry : { ...entry, problems: [...entry.problems, problem] };
  });
}

const DUPLICATE = 'duplicate_workflow';
/** Thousands of files may have one id, and each is told of the others. */
const MOST_NAMED = 10;

function pathsById(rows: readonly (readonly [string, string])[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, string[]>();
  for (const [path, id] of rows) {
    const known = paths.get(id);
    if (known === undefined) paths.set(id, [path]);
    else known.push(path);
  }
  return paths;
}

/** Other paths of these lists, one more than are named. */
function othersIn(lists: readonly (readonly string[] | undefined)[], file: string): readonly string[] {
  const others = new Set<string>();
  for (const list of lists) {
    for (const path of list ?? []) {
      if (path !== file) others.add(path);
      if (others.size > MOST_NAMED) return [...others];
    }
  }
  return [...others];
}
