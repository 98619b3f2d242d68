import type { Run } from '@phasegate/core/engine';
import { valueAt } from '@phasegate/core/engine';
import type { PhaseId, Workflow } from '@phasegate/core/model';
import { type Json, type JsonObject, nameIn, own } from '@phasegate/core/model';

/** A list that a parallel phase works on. */
export interface GivenList {
  /** Its name in the state of an explored run. */
  readonly name: string;
  /** The path it is read from, where that is a param: it then has the same items all along. */
  readonly param: string | null;
}

/** How many items a list is explored with; what holds of two holds of more. */
export const SIZES: readonly number[] = [2, 1, 0];

// With a space, so that no param or handler has that name.
const GIVEN = 'given items';

/** The list of every parallel phase. */
export function listsOf({ phases, params }: Workflow): ReadonlyMap<PhaseId, GivenList> {
  return new Map(
    phases.flatMap(({ id, parallel }, index): [PhaseId, GivenList][] => {
      if (parallel === null) return [];
      const fixed = Object.hasOwn(params, nameIn(parallel.key));
      return [[id, fixed ? { name: parallel.key, param: parallel.key } : { name: `${index}`, param: null }]];
    }),
  );
}

/** Where the engine reads the list of an explored phase. */
export function pathOf(lists: ReadonlyMap<PhaseId, GivenList>, phase: PhaseId): string {
  const names = [...new Set([...lists.values()].map(({ name }) => name))];
  return `${GIVEN}.${names.indexOf(lists.get(phase)?.name ?? '')}`;
}

/** How many items each list has, by its name. */
export type Sizes = Readonly<Record<string, number>>;

/** Every way to give the lists that come from params their items. */
export function startSizes(lists: ReadonlyMap<PhaseId, GivenList>): readonly Sizes[] {
  const fixed = new Set([...lists.values()].flatMap(({ name, param }) => (param === null ? [] : [name])));
  let ways: readonly Sizes[] = [{}];
  for (const name of fixed) ways = ways.flatMap((way) => SIZES.map((size) => ({ ...way, [name]: size })));
  return ways;
}

/** How long the lists are that real params give; longer ones are as two items. */
export function sizesIn(params: JsonObject, lists: ReadonlyMap<PhaseId, GivenList>): Sizes {
  const sizes: Record<string, number> = {};
  for (const { name, param } of lists.values()) {
    const list = param === null ? undefined : valueAt(params, param);
    if (Array.isArray(list)) sizes[name] = Math.min(list.length, 2);
  }
  return sizes;
}

/** How many items there are, in words; of two, which is what is looked at first, nothing is said. */
export function sizeWords(sizes: Sizes): readonly string[] {
  return Object.entries(sizes).flatMap(([name, size]) =>
    size === 2 ? [] : [`\`${name}\` has ${size === 0 ? 'no items' : 'one item'}`],
  );
}

/** A run with these lists in the engine's sight; of what is not said there are two. */
export function withLists(run: Run, lists: ReadonlyMap<PhaseId, GivenList>, sizes: Sizes): Run {
  if (lists.size === 0) return run;
  const names = [...new Set([...lists.values()].map(({ name }) => name))];
  const given = Object.fromEntries(
    names.map((name, index): [string, Json] => [
      String(index),
      ['first', 'second'].slice(0, own(sizes as JsonObject, name) as number | undefined),
    ]),
  );
  return { ...run, state: { ...run.state, [GIVEN]: given } };
}

/** What an explored run keeps in place of its state. */
export interface Kept {
  readonly sizes: Sizes;
  /** What was answered about evidence that has not changed since. */
  readonly answers: Readonly<Record<string, boolean>>;
}

const KEPT = 'kept for exploring';

/** What is kept in a run that is explored. */
export function keptIn({ state }: Run): Kept {
  const kept = own(state, KEPT) as unknown as Kept | undefined;
  return kept ?? NOTHING;
}

/** A run that keeps that and nothing else as its state. */
export function keeping(run: Run, kept: Kept): Run {
  return { ...run, state: { [KEPT]: kept as unknown as Json } };
}

const NOTHING: Kept = { sizes: {}, answers: {} };
