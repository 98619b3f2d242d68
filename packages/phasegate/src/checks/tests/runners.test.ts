import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../../test/tier.ts';
import { checkInput, temporaryFolder } from '../fixtures/checkInput.ts';
import { tests } from './tests.ts';

const MODULES = fileURLToPath(new URL('../../../../../node_modules', import.meta.url));
const OTHERS = fileURLToPath(new URL('../../../../../test/runners/node_modules', import.meta.url));

/** What a project of a runner has in each state, and how it is run. */
interface Runner {
  readonly argv: readonly string[];
  readonly trouble: string | null;
  /** Where its packages are; left out: among ours. */
  readonly modules?: string;
  readonly files: Readonly<Record<string, string>>;
  readonly file: string;
  readonly test: (body: 'passes' | 'fails' | 'skips') => string;
  readonly broken: string;
}

const script = (head: string, fails: string): Pick<Runner, 'test' | 'broken'> => ({
  test: (body) =>
    body === 'skips'
      ? `${head}\ntest.skip('one', () => {});\n`
      : `${head}\ntest('one', () => { ${body === 'fails' ? fails : ''} });\n`,
  broken: `${head}\ntest('one', (=> {});\n`,
});

const RUNNERS: Readonly<Record<string, Runner>> = {
  vitest: {
    argv: [
      process.execPath,
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=json',
      '--outputFile={report}',
    ],
    trouble: null,
    files: { 'package.json': '{ "type": "module" }' },
    file: 'tests/one.test.js',
    ...script("import { expect, test } from 'vitest';", 'expect(1).toBe(2);'),
  },
  'node:test': {
    argv: [process.execPath, '--test', '--test-reporter=tap', 'tests/one.test.js'],
    trouble: null,
    files: { 'package.json': '{ "type": "module" }' },
    file: 'tests/one.test.js',
    ...script("import assert from 'node:assert';\nimport { test } from 'node:test';", 'assert.equal(1, 2);'),
  },
  jest: {
    argv: [process.execPath, 'node_modules/jest/bin/jest.js', '--json'],
    trouble: existsSync(join(OTHERS, 'jest')) ? null : 'jest is not installed',
    modules: OTHERS,
    files: { 'package.json': '{}' },
    file: 'tests/one.test.js',
    ...script('', 'expect(1).toBe(2);'),
  },
  pytest: {
    argv: ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--junitxml={report}'],
    trouble: works(['python3', '-m', 'pytest', '--version']),
    files: {},
    file: 'tests/test_one.py',
    test: (body) =>
      `import pytest\n${body === 'skips' ? '@pytest.mark.skip\n' : ''}def test_one():\n    assert ${body === 'fails' ? '1 == 2' : 'True'}\n`,
    broken: 'def test_one(:\n',
  },
  go: {
    argv: ['go', 'test', '-json', './...'],
    trouble: works(['go', 'version']),
    files: { 'go.mod': 'module one\n\ngo 1.19\n', 'one.go': 'package one\n' },
    file: 'one_test.go',
    test: (body) =>
      `package one\n\nimport "testing"\n\nfunc TestOne(t *testing.T) { ${{ passes: '', fails: 't.Fatal("no")', skips: 't.Skip()' }[body]} }\n`,
    broken: 'package one\n\nfunc TestOne(\n',
  },
};

describe.runIf(FULL)('the real runner', () => {
  const rows = Object.entries(RUNNERS).map(([name, runner]) => [name, runner] as const);
  for (const [name, runner] of rows) {
    test.runIf(runner.trouble === null)(
      `${name} is red, green, skipped, empty and broken, and each is told from the others [adv.I8 adv.I10 adv.I4]`,
      async () => {
        expect((await run(runner, runner.test('passes'), 'green')).reason).toContain('is green: 1 passed');
        expect((await run(runner, runner.test('fails'), 'red')).reason).toContain(
          'is red: 0 passed, 1 failed',
        );
        expect(await run(runner, runner.test('passes'), 'red')).toMatchObject({ passed: false });
        expect(await run(runner, runner.test('fails'), 'green')).toMatchObject({ passed: false });
        for (const expected of ['red', 'green'] as const) {
          for (const text of [runner.test('skips'), null, runner.broken]) {
            const answer = await run(runner, text, expected);
            expect(answer, `${expected}: ${text}`).toMatchObject({ passed: false });
          }
          expect((await run(runner, runner.broken, expected)).reason).toContain('broken build');
        }
      },
      120_000,
    );
  }
});

async function run(
  { argv, files, file, modules = MODULES }: Runner,
  text: string | null,
  expected: 'red' | 'green',
) {
  const workspace = await temporaryFolder();
  for (const [path, content] of Object.entries({ ...files, ...(text === null ? {} : { [file]: text }) })) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  }
  if ('package.json' in files) symlinkSync(modules, join(workspace, 'node_modules'));
  const env = { GOCACHE: join(workspace, '.cache'), GOFLAGS: '-mod=mod' };
  return tests.run(checkInput({ argv, expect: expected, env } as JsonObject, { workspace }));
}

function works([program = '', ...words]: readonly string[]): string | null {
  return spawnSync(program, words).status === 0 ? null : `${program} is not installed`;
}
