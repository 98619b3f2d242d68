import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reportOf } from './findReport.ts';

test.each([
  ['npm test', 'node --test', ['node', '--test', '--test-reporter=tap']],
  ['npm test', 'node --test "test/*.test.js"', ['node', '--test', '--test-reporter=tap', 'test/*.test.js']],
  [
    'pnpm test',
    'vitest run',
    ['node', 'node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--outputFile={report}'],
  ],
  ['yarn test', 'jest', ['node', 'node_modules/jest/bin/jest.js', '--json']],
  ['npm test', 'tsc && vitest run', null],
  ['npm test', 'mocha', null],
  ['npm test', 'jest $FLAGS', null],
  ['npm run all', 'node --test', null],
  ['pytest', '', ['pytest', '-q', '-p', 'no:cacheprovider', '--junitxml={report}']],
  ['uv run pytest', '', ['uv', 'run', 'pytest', '-q', '-p', 'no:cacheprovider', '--junitxml={report}']],
  ['go test ./...', '', ['go', 'test', '-json', './...']],
  ['cargo test', '', null],
  ['make test && echo', '', null],
])('the report of `%s` with the script `%s`', (command, script, report) => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-report-'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { test: script } }));

  expect(reportOf(root, command)).toEqual(report);
});
