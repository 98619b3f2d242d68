import { createHash } from 'node:crypto';
import { isInHome } from '@phasegate/core/model';
import type { Manifest } from './manifest.ts';

/** A larger workspace is not read for every program that runs in it: that would cost more than most programs do. */
export const MOST_AT_A_CALL = 10_000;

/**
 * One hash of what a workspace holds: every path that counts with its kind, permissions and content. Unlike the hash of a
 * measure it says nothing of dates and inodes, so that the same files have the same hash wherever they are.
 */
export function stateOf({ entries }: Pick<Manifest, 'entries'>): string | null {
  if (entries.size > MOST_AT_A_CALL) return null;
  // Most looks find the very entries that were there before.
  const known = states.get(entries);
  if (known !== undefined) return known;
  const state = stateSum({ entries });
  states.set(entries, state);
  return state;
}

/** The same however many there are. */
export function stateSum({ entries }: Pick<Manifest, 'entries'>): string {
  return sumOf(
    entries,
    [...entries.keys()].filter((one) => !isInHome(one)),
  );
}

const states = new WeakMap<Manifest['entries'], string>();

/** The same with the files of the home folder, however many there are. */
export function wholeStateOf({ entries }: Pick<Manifest, 'entries'>): string {
  return sumOf(entries, [...entries.keys()]);
}

function sumOf(entries: Manifest['entries'], paths: string[]): string {
  const sum = createHash('sha256');
  for (const path of paths.sort()) {
    const { type, mode, content } = entries.get(path) as NonNullable<ReturnType<typeof entries.get>>;
    sum.update(`${path}\0${type}\0${type === 'file' ? mode.toString(8) : ''}\0${content}\0`);
  }
  return sum.digest('hex');
}
