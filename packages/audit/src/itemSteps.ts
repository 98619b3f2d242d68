import type { Json, Run } from '@phasegate/core';
import { changedSince, type Items, standOf } from '@phasegate/core/engine';
import type { CutText, Cutter } from './cutText.ts';

/** All items of a parallel phase, as steps after it change them. */
export const ITEMS = 3;
/** Those of the items that changed, whole. */
export const CHANGED_ITEMS = 4;

type Item = Items[string];

/** Characters of all items where they were last written, and of what changed in them since. */
export interface ItemLengths {
  readonly itemsLength: number;
  readonly changesLength: number;
}

/** A run as it was last stored. */
export interface RunBefore extends ItemLengths {
  readonly run: Run;
  /** Whether its items stand in its steps rather than in its state. */
  readonly itemsApart: boolean;
}

/** Whether the items of a run are stored as its steps; few of them cost less in its state. */
export function standApart({ work }: Pick<Run, 'work'>): boolean {
  return standOf(work.items).total > MOST_IN_STATE;
}

/** The steps that make the stored items of a run into those it has now. */
export function cutItems(
  cutter: Cutter,
  before: RunBefore | undefined,
  run: Run,
): readonly { readonly kind: typeof ITEMS | typeof CHANGED_ITEMS; readonly cut: CutText }[] {
  const { items } = run.work;
  if (items === null) return [];
  const stored = before?.itemsApart === true ? before.run.work.items : null;
  if (stored === items) return [];
  const changed = stored === null ? null : changedIn(stored, items);
  if (changed === null || (changed.length > 0 && hasManyChanges(before)))
    return [{ kind: ITEMS, cut: cutter.json(items as unknown as Json) }];
  if (changed.length === 0) return [];
  const cut = cutter.json(Object.fromEntries(changed) as unknown as Json);
  return [{ kind: CHANGED_ITEMS, cut }];
}

/**
 * INVARIANT: how much is read of a run does not grow with how often its items change: an agent may claim one and give it
 * back as often as it likes. All that changed since all items were written is several times as much as they are, so that
 * what writing them anew costs is a part of what was written since.
 */
function hasManyChanges(before: RunBefore | undefined): boolean {
  if (before === undefined) return false;
  return before.changesLength > FEW_CHANGES + MANY_CHANGES * before.itemsLength;
}

/** In characters; not worth the trouble, whatever the items are. */
const FEW_CHANGES = 128_000;
const MANY_CHANGES = 4;

/** Null where these are not the same items any more. */
function changedIn(stored: Items, items: Items): readonly (readonly [string, Item])[] | null {
  const keys = changedSince(stored, items) ?? sameKeys(stored, items);
  if (keys === null) return null;
  const changed: [string, Item][] = [];
  for (const key of keys) {
    const [was, is] = [stored[key], items[key] as Item];
    // Where all items are looked through, most of them are made anew and are as they were.
    if (was !== is && JSON.stringify(was) !== JSON.stringify(is)) changed.push([key, is]);
  }
  return changed;
}

/** Null where they are not the same, in the same order. */
function sameKeys(stored: Items, items: Items): readonly string[] | null {
  const [before, keys] = [Object.keys(stored), Object.keys(items)];
  return keys.length === before.length && keys.every((key, index) => key === before[index]) ? keys : null;
}

/** The text of a state without its items, as it is stored. */
export function withoutItems(state: string): string {
  return APART + state;
}

/** The text of a stored state, and whether its items stand apart. */
export function stateIn(stored: string): { readonly state: string; readonly itemsApart: boolean } {
  const itemsApart = stored.startsWith(APART);
  return { state: itemsApart ? stored.slice(APART.length) : stored, itemsApart };
}

/** The items that steps make, given oldest first. Throws where one of them is not what such a step is. */
export function itemsFrom(
  steps: readonly { readonly kind: number; readonly text: string }[],
  whole: (stored: string) => string | null,
): Items {
  const first = steps.findLastIndex(({ kind }) => kind === ITEMS);
  if (first < 0) throw new TypeError('there are no items');
  const items = new Map<string, Item>();
  for (const { kind, text } of steps.slice(first)) {
    if (kind !== ITEMS && kind !== CHANGED_ITEMS) continue;
    // What is missing is not JSON, and so not a run.
    for (const [key, item] of Object.entries(JSON.parse(whole(text) ?? '!') as Items)) items.set(key, item);
  }
  return Object.fromEntries(items);
}

/** As many as large values are known by their places: more of them would be written anew with each state. */
const MOST_IN_STATE = 16;

/**
 * A place of no part. A version that does not know it takes the run for one that was changed and refuses it; without
 * this mark it would take it for a run that has no items, and let it pass.
 */
const APART = '\u0001items:0:\u0001';
