import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases, FULL } from '../tier.ts';
import { agreeInChild } from './agreeInChild.ts';
import { copyOfCore, mutantOf, timesIn } from './mutant.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

/** As many as the least obvious of the mutations needs, several times over. */
const CASES = { first: 5, cases: cases({ quick: 2000, full: 20_000 }) };
/** On every change another test tries the engine itself on more. */
const AS_IT_IS = { first: 5, cases: cases({ quick: 300, full: 20_000 }) };
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-mutants-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the differential test', () => {
  test('finds nothing in the engine as it is', async () => {
    expect(await agreeInChild(copyOfCore(folder, 'as-it-is'), AS_IT_IS)).toEqual({
      agreed: AS_IT_IS.cases,
      disagreement: null,
    });
  }, 300_000);

  test('has mutations in many files of the engine', () => {
    expect(MUTATIONS).toHaveLength(48);
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(48);
    expect(new Set(MUTATIONS.map(({ file }) => file)).size).toBeGreaterThan(10);
    // Each fits the engine as it is, also those that are not tried on every change.
    expect(MUTATIONS.filter((mutation) => timesIn(mutation) !== 1)).toEqual([]);
  });

  // Two at a time: there is no more to be had from two cores.
  const pairs = MUTATIONS.flatMap((mutation, index) =>
    index % 2 === 0 ? [[mutation, MUTATIONS[index + 1] as Mutation]] : [],
  );
  // Whether the tests notice a mistake is asked of all of them before it counts, and of a few on every change.
  const tried = FULL ? pairs : pairs.filter((_, index) => index % 24 === 0);
  test.each(tried.map((pair) => ({ pair, names: pair.map(({ name }) => name).join('; and that ') })))(
    'notices that $names',
    async ({ pair }) => {
      const found = await Promise.all(
        pair.map((mutation) => agreeInChild(mutantOf(folder, mutation), CASES)),
      );

      const caught = found.map(({ disagreement }) => disagreement?.split('\n')[0] ?? 'not noticed');
      for (const line of caught) expect(line).toMatch(/^engine and interpreter disagree at seed \d+/);
    },
    300_000,
  );
});
