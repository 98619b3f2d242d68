import { expect, test } from 'vitest';
import { cases, FULL } from '../tier.ts';
import { faultRun } from './faultRun.ts';
import { hereRun } from './hereRun.ts';
import { plants } from './plants.ts';

test('nodes that die after commits and whose clocks are wrong complete every run once, and the audit has all that was answered', async () => {
  for (let seed = 1; seed <= cases({ quick: 1, full: 3, long: 100 }); seed += 1) {
    const size = { agents: 9, runs: cases({ quick: 5, full: 30, long: 30 }), lifetime: 15 };
    const { contradictions, facts, deaths } = await hereRun({ seed, ...size });

    expect(contradictions, `seed ${seed}`).toEqual([]);
    expect(deaths, `seed ${seed}`).toBeGreaterThan(0);
    expect(facts.get('a run is completed once'), `seed ${seed}`).toBeGreaterThanOrEqual(size.runs);
    expect([...facts.keys()]).toEqual(expect.arrayContaining([...ALWAYS]));
  }
});

test.runIf(FULL)(
  'real nodes that are killed, paused and cut off beside a database that restarts do the same',
  async () => {
    const tell = () => undefined;
    const size = { agents: 12, faults: 4, waiting: 10, longestMs: 600_000, tell };
    const { contradictions, facts, faults } = await faultRun({ seed: 1, ...size });

    expect(contradictions).toEqual([]);
    expect([...faults.keys()].sort()).toEqual(['cut', 'kill', 'pause', 'restart']);
    expect([...facts.keys()]).toEqual(expect.arrayContaining([...ALWAYS, ...OF_DELIVERIES]));
  },
);

test.runIf(FULL).each([
  ['no compare-and-swap', /^(?:no doubled claim|a transition is decided on the state before it)/],
  ['leases by node clock', /^(?:a lease lasts as long as it should|time is that of the database)/],
  ['no catch-up after a missed notification', /^a watcher is told everything, in order/],
  ['a dead epoch from a cache', /^no verdict by a dead token/],
  ['a token that is looked at by the door alone', /^no (?:verdict|transition) by a dead token/],
  [
    'audit outside the transaction',
    /^(?:a transition is decided on the state before it|no acknowledged act is missing)/,
  ],
])('the checker finds a planted mistake: %s', async (name, expected) => {
  const plant = (calm: Promise<void>) => plants(calm)[name] ?? ((store) => store);
  const found: string[] = [];
  // Whether a mistake does harm depends on who comes first, which no seed decides: a busy machine may take several.
  for (let seed = 1; seed <= 8 && found.length === 0; seed += 1) {
    const size = { agents: 9, runs: 20, lifetime: 15 };
    const { contradictions } = await hereRun({ seed, ...size, planted: { plant, questions: 600 } });
    found.push(...contradictions.filter((text) => expected.test(text)));
  }

  expect(found).not.toEqual([]);
});

/** What every history of real nodes has: items that agents share, and gates at which a human decides. */
const OF_DELIVERIES = [
  'no doubled claim of an item',
  'every item is done once, by its holder',
  'a parallel phase is left when every item is done',
  'each gate is decided once, by a human',
  'no gate is passed without a human',
  'only a human decides',
] as const;

/** What every history has, however short. */
const ALWAYS = [
  'no record is missing in a chain',
  'no doubled claim',
  'no verdict by a dead token',
  'no transition by a dead token',
  'a transition is decided on the state before it',
  'no acknowledged act is missing in the audit',
  'what comes later is later in the audit',
  'time is that of the database',
  'a watcher is told everything, in order',
  'every chain verifies',
] as const;
