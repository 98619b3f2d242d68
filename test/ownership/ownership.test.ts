import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mutantOf } from '../differential/mutant.ts';
import type { Mutation } from '../differential/mutations.ts';
import { OWNER_MUTATIONS, VALUE_MUTATIONS } from '../differential/valueMutations.ts';
import { cases, FULL } from '../tier.ts';

const CORE = new URL('../../packages/core/src/', import.meta.url);
/** How many workflows, each with a walk of its own. */
const CASES = cases({ quick: 400, full: 100_000, long: 500_000 });
const TIMEOUT_MS = cases({ quick: 1_800_000, full: 1_800_000, long: 10_800_000 });
/** As many as the least obvious of the mistakes needs, several times over. */
const MUTANT_CASES = cases({ quick: 3000, full: 10_000 });
/** The engine as it is passes where the mistakes are looked for. */
const FIRST = 7;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-ownership-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('every value has an owner, in any workflow', () => {
  test(
    'what nobody asked for, named or approved makes no difference, and neither does the order of items; a no changes nothing, and the card tells what a yes would',
    async () => {
      const each = Math.ceil(CASES / 2);
      const halves = await Promise.all([FIRST, 2 ** 28].map((first) => inChild(CORE, first, each)));

      for (const { found, held } of halves) expect({ found, held }).toEqual({ found: null, held: each });
      const counts = sum(halves.map((half) => half.counts));
      console.log(
        Object.entries(counts)
          .map(([name, count]) => `${name}: ${count}`)
          .join('\n'),
      );
      expect(TRIED.filter((name) => (counts[name] ?? 0) < 10)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  const pairs = planted().flatMap((_, index, all) => (index % 2 === 0 ? [all.slice(index, index + 2)] : []));
  // All of them before it counts, a few on every change.
  const tried = FULL ? pairs : pairs.filter((_, index) => index % 8 === 0);
  test.each(tried.map((pair) => ({ pair, names: pair.map(({ name }) => name).join('; and that ') })))(
    'is not so where $names',
    async ({ pair }) => {
      const found = await Promise.all(
        pair.map((mutation) => inChild(mutantOf(folder, mutation), FIRST, MUTANT_CASES)),
      );

      for (const one of found) expect(one.found ?? 'not noticed').toMatch(/^seed \d+/);
    },
    300_000,
  );
});

const TRIED = [
  'undeclared keys refused',
  'undeclared keys dropped in permissive mode',
  'keys that nobody names in a free result',
  'evidence of a visit that failed',
  'values that nobody approved',
  'items completed in both orders',
  'decisions that do not approve',
  'cards of runs that a yes would change in different ways',
  ...[
    'a gate',
    'a gate with context',
    'a loop',
    'a parallel phase',
    'a way for no items',
    'a handler',
    'a free result',
    'declared evidence',
    'a way for `fail`',
    'permissive mode',
  ].map((kind) => `workflow with ${kind}`),
];

/** Mistakes that the property must notice. */
function planted(): readonly Mutation[] {
  const others = [
    'undeclared evidence is taken',
    'a rejected visit counts as ok',
    'the state of a rejected visit is merged',
  ];
  return [
    ...OWNER_MUTATIONS,
    ...VALUE_MUTATIONS.filter(({ name }) => others.includes(name)),
    {
      name: 'the item that is completed last speaks for all',
      file: 'items.ts',
      find: 'const outcome = joinedOutcome(items);',
      replace: 'const outcome = arguments[1].outcome ?? joinedOutcome(items);',
    },
    {
      name: 'the card has no evidence',
      file: 'gateCard.ts',
      find: '    evidence: wait.evidence,\n    ...(wait.word',
      replace: '    ...(wait.word',
    },
    {
      name: 'the card has no state',
      file: 'gateCard.ts',
      find: '...(Object.keys(wait.state).length === 0 ? {} : { state: wait.state }),',
      replace: '',
    },
    {
      name: 'the card has no outcome',
      file: 'gateCard.ts',
      find: '    outcome: wait.outcome,\n    ...section(',
      replace: '    ...section(',
    },
    {
      name: 'the card does not show what it covers',
      file: 'gateCard.ts',
      find: 'covered: contextValues(run, gate, visit),',
      replace: 'covered: {},',
    },
  ];
}

interface Tried {
  readonly held: number;
  readonly found: string | null;
  readonly counts: Readonly<Record<string, number>>;
}

async function inChild(core: URL, first: number, many: number): Promise<Tried> {
  const script = fileURLToPath(new URL('runOwnership.ts', import.meta.url));
  const words = [script, core.href, String(first), String(many)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Tried;
}

function sum(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const one of all)
    for (const [name, count] of Object.entries(one)) total[name] = (total[name] ?? 0) + count;
  return total;
}
