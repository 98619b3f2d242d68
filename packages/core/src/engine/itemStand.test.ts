import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { claimability, freeItem, heldItems, openItems } from './claimable.ts';
import { AGENT, BOB, complete, ENGINE, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { holdsAnItem } from './holding.ts';
import { changedSince, type Items, standOf, withOne } from './itemStand.ts';
import type { Principal, Run } from './run.ts';
import { viewFor } from './viewFor.ts';

const EVE: Principal = { kind: 'agent', name: 'eve' };

const atItems = (count: number): Run =>
  started(
    workflowOf(
      phases(2, (index) => (index === 0 ? { parallel: { key: 'areas' } } : {})),
      { params: { areas: { type: 'list' } } },
    ),
    { areas: Array.from({ length: count }, (_, index) => `area-${index}`) },
  );

const claimed = (run: Run, item: string, principal: Principal) =>
  submit(run, { kind: 'claim', item }, { principal }).run;

const textOf = (run: Run, principal: Principal) => viewFor(run, principal).current?.content ?? '';

test('what is known of items that were changed one by one is what is found in those that were just read', () => {
  let run = atItems(12);
  const expectSame = () => {
    const read = JSON.parse(JSON.stringify(run)) as Run;
    expect(standOf(run.work.items)).toEqual(standOf(read.work.items));
    expect(viewFor(run, EVE)).toEqual(viewFor(read, EVE));
  };
  expectSame();
  for (const key of [7, 2, 4]) {
    run = claimed(run, `area-${key}`, EVE);
    expectSame();
  }
  run = claimed(run, 'area-0', BOB);
  expectSame();
  run = submit(run, complete(run, {}, { item: 'area-2' }), { principal: EVE }).run;
  expectSame();
  for (const _ of [1, 2]) {
    run = submit(
      run,
      { kind: 'report_failure', phase: 1, item: 'area-4', reason: 'it broke' },
      {
        principal: EVE,
      },
    ).run;
    expectSame();
  }
  run = submit(
    run,
    { kind: 'release', cause: 'exited', holder: 'eve', item: 'area-7' },
    {
      principal: ENGINE,
    },
  ).run;
  expectSame();
  const { total, open, completed, failed, held } = standOf(run.work.items);
  expect([total, open.length, completed, failed.length, held.length]).toEqual([12, 10, 1, 1, 1]);
});

test('200 items are all told, in their order, and of more than that some, with how many there are', () => {
  const few = textOf(atItems(200), EVE);
  expect(few.match(/^- `area-\d+`: pending$/gm)).toHaveLength(200);
  expect(few).toContain('Items, each completed on its own:\n- `area-0`: pending\n- `area-1`: pending\n');

  const all = claimed(claimed(atItems(10_000), 'area-9000', EVE), 'area-1', BOB);
  const run = submit(all, complete(all, {}, { item: 'area-0' })).run;
  const many = textOf(run, EVE);
  expect(many).toContain('10000 in all: 9999 open (2 of them held), 1 completed, 0 failed');
  const lines = many.match(/^- `area-\d+`.*$/gm);
  expect(lines).toHaveLength(200);
  expect(lines?.slice(0, 3)).toEqual([
    '- `area-9000`: pending, held by `eve`',
    '- `area-1`: pending, held by `bob`',
    '- `area-2`: pending',
  ]);
  expect(textOf(run, BOB)).not.toContain('area-9000');
  expect(viewFor(run, EVE).nextAction).toMatchObject({ item: 'area-9000' });
});

test('a second look at a run with many items looks at none of them, and one after a claim at none but that', () => {
  let looks = 0;
  const items = atItems(1000).work.items as Items;
  const watched = new Proxy(items, {
    get(all, key) {
      looks += 1;
      return Reflect.get(all, key) as unknown;
    },
  });
  const run = { ...atItems(1000) };
  const many = { ...run, work: { ...run.work, items: watched } } as Run;
  const ask = (of: Run) => {
    viewFor(of, EVE);
    return [
      claimability(of),
      freeItem(of),
      openItems(of).length,
      heldItems(of).length,
      holdsAnItem(of, 'eve'),
    ];
  };
  const first = ask(many);
  expect(looks).toBe(1000);
  expect(ask(many)).toEqual(first);
  expect(looks).toBe(1000);

  const after = claimed(many, 'area-0', EVE).work.items as Items;
  for (const [key, item] of Object.entries(after)) {
    if (key === 'area-0') continue;
    const get = () => expect.fail(`looked at ${key}`);
    Object.defineProperty(after, key, { get, enumerable: true });
    expect(item.status).toBe('pending');
  }
  const next = { ...many, work: { ...many.work, items: after } } as Run;
  expect(ask(next)).toEqual(['begun', 'area-1', 1000, 1, true]);
  expect(textOf(next, AGENT)).toContain('1000 in all');
});

test('no item that changed is missing from those that a store is told of, whatever was made of which', () => {
  const KEYS = ['1', '__proto__', 'b', 'a'];
  const item = (attempts: number) =>
    ({ status: 'pending', attempts, evidence: {}, error: null }) as unknown as Items[string];
  const first = Object.fromEntries(KEYS.map((key) => [key, item(0)])) as Items;
  const step = fc.record({ of: fc.nat(20), key: fc.constantFrom(...KEYS), isRead: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const made: Items[] = [{ ...first }];
      for (const [index, { of, key, isRead }] of steps.entries()) {
        // Half of them follow the newest, as runs do, and the others what was not written.
        const before = made[of < 10 ? made.length - 1 : of % made.length] as Items;
        made.push(withOne(isRead && of > 15 ? { ...before } : before, key, item(index + 1)));
      }
      for (const [at, earlier] of made.entries()) {
        for (const later of made.slice(at)) {
          expect(Object.keys(later)).toEqual(Object.keys(earlier));
          const told = changedSince(earlier, later);
          const changed = KEYS.filter((key) => earlier[key] !== later[key]);
          if (told !== null) expect(changed.filter((key) => !told.includes(key))).toEqual([]);
        }
      }
      const [one, other] = [made[0] as Items, withOne(made[0] as Items, 'a', item(99))];
      expect(changedSince(one, other)).toEqual(['a']);
    }),
    { numRuns: cases({ quick: 200, full: 5000 }) },
  );
});
