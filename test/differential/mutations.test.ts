import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../tier.ts';
import { agreeInChild } from './agreeInChild.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

const CORE = fileURLToPath(new URL('../../packages/core/src', import.meta.url));
/** As many as the least obvious of the mutations needs, several times over. */
const CASES = { first: 5, cases: cases({ quick: 4000, full: 20_000 }) };
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-mutants-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the differential test', () => {
  test('finds nothing in the engine as it is', async () => {
    expect(await agreeInChild(copyOfCore('as-it-is'), CASES)).toEqual({
      agreed: CASES.cases,
      disagreement: null,
    });
  }, 300_000);

  test('has mutations in many files of the engine', () => {
    expect(MUTATIONS).toHaveLength(40);
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(40);
    expect(new Set(MUTATIONS.map(({ file }) => file)).size).toBeGreaterThan(10);
  });

  // Two at a time: there is no more to be had from two cores.
  const pairs = MUTATIONS.flatMap((mutation, index) =>
    index % 2 === 0 ? [[mutation, MUTATIONS[index + 1] as Mutation]] : [],
  );
  test.each(pairs.map((pair) => ({ pair, names: pair.map(({ name }) => name).join('; and that ') })))(
    'notices that $names',
    async ({ pair }) => {
      const found = await Promise.all(pair.map((mutation) => agreeInChild(mutantOf(mutation), CASES)));

      const caught = found.map(({ disagreement }) => disagreement?.split('\n')[0] ?? 'not noticed');
      for (const line of caught) expect(line).toMatch(/^engine and interpreter disagree at seed \d+/);
    },
    300_000,
  );
});

function copyOfCore(name: string): URL {
  const copy = join(folder, name);
  cpSync(CORE, copy, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  return pathToFileURL(`${copy}/`);
}

function mutantOf({ name, file, find, replace }: Mutation): URL {
  const copy = copyOfCore(name.replaceAll(' ', '-'));
  const path = new URL(`engine/${file}`, copy);
  const source = readFileSync(path, 'utf8');
  const times = source.split(find).length - 1;
  // A list that no longer fits the engine proves nothing.
  expect(`\`${find}\` stands ${times} times in ${file}`).toBe(`\`${find}\` stands 1 times in ${file}`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  return copy;
}
