import { expect, test } from 'vitest';
import { apply, begin } from './apply.ts';
import type { Command } from './command.ts';
import type { RunEvent } from './events.ts';
import { AGENT, BOB, openingOf, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { fold, foldStepwise } from './fold.ts';
import { changedSince, type Items, withOne } from './itemStand.ts';
import type { Item, Principal } from './run.ts';

const WORKFLOW = workflowOf(
  phases(2, (index) => (index === 0 ? { parallel: { key: 'areas' } } : {})),
  { params: { areas: { type: 'list' } } },
);

type Opening = Extract<RunEvent, { type: 'run_started' }>;

const opening = (keys: readonly string[]) => openingOf(started(WORKFLOW, { areas: keys })) as Opening;

/** The events of agents that claim the run, and its items, and give them back. */
function goingRound(keys: readonly string[], rounds: number): readonly RunEvent[] {
  let run = started(WORKFLOW, { areas: keys });
  const events: RunEvent[] = [];
  const act = (command: Command, principal: Principal) => {
    const decision = submit(run, command, { principal });
    expect(decision.verdict.allowed).toBe(true);
    events.push(...decision.events);
    run = decision.run;
  };
  for (let round = 0; round < rounds; round += 1) {
    const item = keys[round % keys.length] as string;
    act({ kind: 'claim', item }, BOB);
    act({ kind: 'release', cause: 'given_back', holder: BOB.name, item }, BOB);
    act({ kind: 'claim', item }, BOB);
    act({ kind: 'release', cause: 'given_back', holder: AGENT.name }, AGENT);
    act({ kind: 'release', cause: 'given_back', holder: BOB.name, item }, BOB);
    act({ kind: 'claim' }, AGENT);
  }
  return events;
}

test('items that agents claim and give back are not looked through for each event of a fold', () => {
  const keys = Array.from({ length: 300 }, (_, index) => `area-${index}`);
  const rest = goingRound(keys, 20);
  let looks = 0;
  const first = opening(keys);
  for (const item of Object.values(first.items ?? {})) {
    const { holder } = item;
    const get = () => {
      looks += 1;
      return holder;
    };
    Object.defineProperty(item, 'holder', { get, enumerable: holder !== undefined });
  }
  fold(WORKFLOW, [first, ...rest]);
  expect(looks).toBeLessThan(2 * keys.length);
});

test('a fold gives the caller a turn after each event, and is what applying the events makes', () => {
  const events = [opening(['a', '2', '1']), ...goingRound(['a', '2', '1'], 4)] as const;
  const steps = foldStepwise(WORKFLOW, events);
  let turns = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) turns += 1;
  expect(turns).toBe(events.length - 1);
  const [first, ...rest] = events;
  expect(JSON.stringify(step.value)).toBe(JSON.stringify(rest.reduce(apply, begin(WORKFLOW, first))));
});

test('items of a fold are those of any other run once it is done', () => {
  const run = fold(WORKFLOW, [opening(['a', 'b'])]);
  const items = run.work.items as Items;
  const item: Item = { ...(items.a as Item), attempts: 1 };
  const changed = withOne(items, 'a', item);
  expect(items.a).toMatchObject({ attempts: 0 });
  expect(changed.a).toBe(item);
  expect(changedSince(items, changed)).toEqual(['a']);
});

test('an item of a name that every object knows is folded like any other', () => {
  const keys = ['__proto__', 'toString', 'b'];
  const events = [opening(keys), ...goingRound(keys, 3)];
  expect(Object.keys(fold(WORKFLOW, events).work.items ?? {})).toEqual(
    Object.keys(opening(keys).items ?? {}),
  );
});
