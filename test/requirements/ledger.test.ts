import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RINGS, type Ring } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { readHouse } from '../layers/layers.ts';
import { commentsOf } from '../layers/tokensOf.ts';
import { citationsIn } from './citationsIn.ts';
import { readCitations, readLedger, tiersOf, unknownCitations } from './ledger.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

test('the ledger has every requirement once', () => {
  const ledger = readLedger();
  const counts = Object.groupBy(ledger, (requirement) => requirement.design);

  expect(Object.fromEntries(Object.entries(counts).map(([design, all]) => [design, all.length]))).toEqual({
    S0: 72,
    S1: 94,
    S2: 105,
    S3: 83,
    S4: 83,
    C: 37,
    adv: 152,
    fail: 47,
  });
  expect(new Set(ledger.map((requirement) => requirement.id)).size).toBe(ledger.length);
  expect(ledger.filter((requirement) => requirement.text.trim() === '')).toEqual([]);
});

test('every id belongs to the design it says', () => {
  const strangers = readLedger().filter(({ id, design }) => !new RegExp(`^${design}[.A-Q]*\\d+$`).test(id));

  expect(strangers).toEqual([]);
});

test('every trick of the adversary names its ring, and what is proven holds in one that there is', () => {
  const [tricks, others] = [true, false].map((wanted) =>
    readLedger().filter(({ design }) => (design === 'adv') === wanted),
  );
  const cited = new Set(readCitations(root).map(({ id }) => id));
  // `hooked` is proven in the clients' own words, `sandboxed` by real sandboxes, `isolated` by real users.
  const there: readonly Ring[] = ['served', 'hooked', 'sandboxed', 'isolated'];
  const heldIn = (ring: Ring | undefined) => (ring === undefined ? -1 : RINGS.indexOf(ring));

  expect(tricks?.filter(({ ring }) => heldIn(ring) < 0)).toEqual([]);
  expect(others?.filter(({ ring }) => ring !== undefined)).toEqual([]);
  expect(
    tricks?.filter(({ id, ring }) => cited.has(id) && ring !== undefined && !there.includes(ring)),
  ).toEqual([]);
});

test('every requirement a test cites exists', () => {
  expect(unknownCitations(readLedger(), readCitations(root))).toEqual([]);
});

test('comments name no requirement: the titles of tests do', () => {
  const files = readHouse(root).files;
  const found = [...files].flatMap(([file, source]) =>
    commentsOf(source)
      .filter(({ text }) => /\b(?:S\d\.\d+|C\d{1,2}|adv\.[A-Z]\d+|fail\.\d+)\b/.test(text))
      .map(({ line }) => `${file}:${line}`),
  );

  expect(files.size).toBeGreaterThan(500);
  expect(found).toEqual([]);
});

test('enforcement has tests of each of its parts: the engine, tokens, artifacts, gates [S2.86 S2.99]', () => {
  const citations = readCitations(root);
  const parts = {
    'packages/core/src/engine/': [
      'S2.29',
      'S2.42',
      'S2.43',
      'S2.44',
      'S2.45',
      'S2.46',
      'S2.48',
      'S2.50',
      'S2.66',
    ],
    'packages/phasegate/src/checks/': ['S2.49'],
    'packages/phasegate/src/runtime/tokens/tokens.test.ts': [
      'S2.13',
      'S2.33',
      'S2.34',
      'S2.35',
      'S2.38',
      'S2.41',
    ],
  };

  for (const [place, ids] of Object.entries(parts)) {
    const proven = new Set(citations.filter(({ file }) => file.startsWith(place)).map(({ id }) => id));
    expect([place, ids.filter((id) => !proven.has(id))]).toEqual([place, []]);
  }
});

test('phase gating is proven by far more than twenty tests, and by several kinds of them [S0.66]', () => {
  const citations = readCitations(root).filter(({ id }) => id.startsWith('S0.'));
  const tests = new Set(citations.map(({ file, line }) => `${file}:${line}`));
  const rooms = new Set(citations.map(({ file }) => file.split('/').slice(0, 2).join('/')));

  expect(tests.size).toBeGreaterThan(60);
  expect([...rooms]).toEqual(expect.arrayContaining(['packages/core', 'packages/phasegate', 'test/e2e']));
});

test('a citation of a requirement that does not exist is found and reported', () => {
  const folder = makeTests(
    "test('fine [S0.8]', () => {});\ntest('not fine [S9.99 adv.H7 adv.Z1]', () => {});\n",
  );

  const citations = readCitations(folder);
  const reports = ['report.ts', 'adversary.ts'].map((program) => report(folder, program));
  rmSync(folder, { recursive: true });

  expect(citations.map((citation) => citation.id)).toEqual(['S0.8', 'S9.99', 'adv.H7', 'adv.Z1']);
  const title = 'not fine [S9.99 adv.H7 adv.Z1]';
  expect(unknownCitations(readLedger(), citations)).toEqual(
    ['S9.99', 'adv.Z1'].map((id) => ({
      id,
      file: 'packages/core/src/a.test.ts',
      line: 2,
      title,
      tier: 'quick',
    })),
  );
  for (const { status, stderr } of reports) {
    expect(stderr).toContain('packages/core/src/a.test.ts:2: cites `S9.99`');
    expect(stderr).toContain('packages/core/src/a.test.ts:2: cites `adv.Z1`');
    expect(status).toBe(1);
  }
});

test('the adversary’s report has every row with its state, its ring and its tests, and open rows fail nothing', () => {
  const folder = makeTests("test('a [adv.H7]', () => {});\ntest('b [adv.H7 adv.N1]', () => {});\n");

  const [text, json] = [[], ['--json']].map((words) => report(folder, 'adversary.ts', words));
  rmSync(folder, { recursive: true });

  const tricks = readLedger().filter(({ design }) => design === 'adv');
  const { rows } = JSON.parse(json?.stdout ?? '') as { readonly rows: readonly Record<string, unknown>[] };
  expect(rows.map(({ id }) => id)).toEqual(tricks.map(({ id }) => id));
  expect(rows.filter(({ state }) => state === 'proven').map(({ id }) => id)).toEqual(['adv.H7', 'adv.N1']);
  expect(rows.find(({ id }) => id === 'adv.H7')).toMatchObject({
    ring: 'served',
    tests: [
      { file: 'packages/core/src/a.test.ts', line: 1, title: 'a [adv.H7]', tier: 'quick' },
      { file: 'packages/core/src/a.test.ts', line: 2, title: 'b [adv.H7 adv.N1]', tier: 'quick' },
    ],
  });
  expect(text?.stdout).toMatch(/^ {2}N1 +proven +served .*\n +packages\/core\/src\/a\.test\.ts:2$/m);
  expect(text?.stdout).toMatch(/^ {2}F1 +open +hooked /m);
  expect(text?.stdout).toContain(`${tricks.length} tricks: 2 proven, ${tricks.length - 2} open`);
  expect([text?.status, json?.status]).toEqual([0, 0]);
});

test('citations are read from titles of every spelling', () => {
  const source = `
    describe('a group [C1]', () => {
      test(\`a template [S0.1 S0.2]\`, () => {});
      it("quoted [adv.A1]", () => {});
      test.each([['x (y)', f(1)]])('a table of %s [fail.3]', () => {});
      test.concurrent('at once [S4.83]', () => {});
      test.each<readonly [string, Map<string, readonly number[]>]>([['x', m]])('typed %s [S2.55]', () => {});
      test.skipIf(process.platform === 'win32')('where it can be [C7]', () => {});
      test(
        'on its own line [C26]',
        () => {},
      );
    });
  `;

  expect(citationsIn(source).map((citation) => citation.id)).toEqual([
    'C1',
    'S0.1',
    'S0.2',
    'adv.A1',
    'fail.3',
    'S4.83',
    'S2.55',
    'C7',
    'C26',
  ]);
});

test('a citation has the first tier that runs its test, and a requirement rests on the first of those', () => {
  const source = `
    describe.runIf(FULL)('many [S0.1]', () => {
      test('of many [S0.2 S0.6]', () => {});
    });
    test.runIf(FULL)('alone [S0.3]', () => {});
    test.skipIf(!installed || !FULL)('where it can be [S0.4]', () => {});
    test.each(someOf(ALL, { quick: 1, full: 2 }))('some of all [S0.5]', () => {});
    test('on every change [S0.6]', () => {});
  `;

  const found = citationsIn(source);

  expect(found.map(({ id, tier }) => `${id} ${tier}`)).toEqual([
    'S0.1 full',
    'S0.2 full',
    'S0.6 full',
    'S0.3 full',
    'S0.4 full',
    'S0.5 quick',
    'S0.6 quick',
  ]);
  const tiers = tiersOf(found.map((citation) => ({ ...citation, file: 'a.test.ts' })));
  expect([tiers.get('S0.2'), tiers.get('S0.6'), tiers.get('S0.7')]).toEqual(['full', 'quick', undefined]);
});

test('nothing else is taken for a citation', () => {
  const source = `
    // test('a comment [S0.1]', () => {});
    const text = "test('in a string [S0.2]')";
    test('in the [S0.3] middle', () => {});
    test('a list [1, 2]', () => {});
    test('half an id [S0.4 and more]', () => {});
    test.skip('skipped [S0.5]', () => {});
    test.todo('to do [S0.6]');
    /x/.test('a regular expression [S0.7]');
    test(\`computed \${text} [S0.8]\`, () => {});
    expect(text).toBe('something [S0.9]');
  `;

  expect(citationsIn(source)).toEqual([]);
});

/** A repository whose only tests are these. */
function makeTests(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  mkdirSync(join(folder, 'packages/core/src'), { recursive: true });
  writeFileSync(join(folder, 'packages/core/src/a.test.ts'), source);
  return folder;
}

function report(cwd: string, program: string, words: readonly string[] = []) {
  return spawnSync(process.execPath, [join(root, 'test/requirements', program), ...words], {
    cwd,
    encoding: 'utf8',
  });
}
