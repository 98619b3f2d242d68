import type { GuardedChange, GuardedEntry, GuardedMeasure, GuardedReading } from '../ports.ts';

/** What of a reading is not as it has to be. */
export function guardedChanges(
  { files, beyond }: GuardedMeasure,
  { tree }: GuardedReading,
): readonly GuardedChange[] {
  // Whether a file that is seen for the first time was there before is only known where somebody looked.
  const isNew = (path: string) =>
    !Object.hasOwn(files, path) && !beyond.some((folder) => path.startsWith(`${folder}/`));
  const paths = [...Object.keys(files), ...[...tree.keys()].filter(isNew)].sort();
  const changes = paths.flatMap((path): readonly GuardedChange[] => {
    const before = (Object.hasOwn(files, path) ? files[path] : undefined) ?? null;
    const after = tree.get(path) ?? null;
    return isSame(before, after) ? [] : [{ path, before, after }];
  });
  // What was added goes first: it may stand where something belongs.
  return [
    ...changes.filter(({ before }) => before === null),
    ...changes.filter(({ before }) => before !== null),
  ];
}

function isSame(before: GuardedEntry | null, after: GuardedEntry | null): boolean {
  if (before?.kind !== after?.kind || before?.digest !== after?.digest) return false;
  return before?.mode === undefined || after?.mode === undefined || runs(before.mode) === runs(after.mode);
}

/** A hook that nobody may run is a hook that is switched off. Who may read a file does not change what it says. */
function runs(mode: number): number {
  return mode & 0o111;
}

/** A reading as the measure of what comes after it. */
export function measureOf({ tree, beyond }: GuardedReading): GuardedMeasure {
  return { files: Object.fromEntries(tree), beyond };
}

/** A measure after some of what differs from it was accepted. */
export function withAccepted(
  measure: GuardedMeasure,
  changes: readonly Pick<GuardedChange, 'path' | 'after'>[],
): GuardedMeasure {
  const files = new Map(Object.entries(measure.files));
  for (const { path, after } of changes) {
    if (after === null) files.delete(path);
    else files.set(path, after);
  }
  return { ...measure, files: Object.fromEntries(files) };
}
