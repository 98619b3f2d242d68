import { describe, expect, test } from 'vitest';
import { canaryFor } from './canaryText.ts';
import { wrongWithCanary } from './judgeCanary.ts';
import type { Planted } from './plantCanary.ts';
import type { TestCase, TestReport } from './testReport.ts';

const FILE: Planted = { path: 'tests/a.test.ts', text: "test('adds', () => {});", titles: ['plum', 'pear'] };
const OTHER: Planted = { path: 'tests/b.test.ts', text: "test('adds more', () => {});", titles: ['fig'] };

const of = (id: string, outcome: TestCase['outcome'], file?: string): TestCase => ({
  id,
  outcome,
  ...(file === undefined ? {} : { file }),
});
const report = (...tests: readonly TestCase[]): TestReport => ({ tests, broken: [] });
const FAILED = [of('a > plum', 'failed'), of('pear', 'failed')];

describe('a run in which tests were planted', () => {
  test.each([
    ['all of them fail and nothing else changed', report(of('adds', 'passed'), ...FAILED), null],
    [
      'one of them passes',
      report(of('adds', 'passed'), of('plum', 'passed'), of('pear', 'failed')),
      /lets `plum` pass/,
    ],
    [
      'one of them is not there',
      report(of('adds', 'passed'), of('plum', 'failed')),
      /does not report .* in `tests\/a/,
    ],
    ['none of them is there', report(of('adds', 'failed')), /does not report the tests that must fail$/],
    ['another test fails now', report(of('adds', 'failed'), ...FAILED), /something else for `adds`/],
    ['another test is gone', report(...FAILED), /something else for `adds`/],
    [
      'another test came',
      report(of('adds', 'passed'), of('new', 'passed'), ...FAILED),
      /something else for `new`/,
    ],
  ])('where %s', (_, after, says) => {
    const wrong = wrongWithCanary(report(of('adds', 'passed')), after, [FILE]);
    if (says === null) expect(wrong).toBeNull();
    else expect(wrong).toMatch(says);
  });

  test('owes nothing for a file that was not run, and all of one that was', () => {
    const before = report(of('adds', 'passed'));
    expect(wrongWithCanary(before, report(of('adds', 'passed'), ...FAILED), [FILE, OTHER])).toBeNull();
    const named = report(
      of('adds', 'passed', 'tests/a.test.ts'),
      of('adds more', 'passed', 'tests/b.test.ts'),
    );
    const after = report(...named.tests, ...FAILED);
    expect(wrongWithCanary(named, after, [FILE, OTHER])).toMatch(/in `tests\/b\.test\.ts`/);
  });
});

test('planted tests are called something else each time, and by no word of ours', () => {
  const text =
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\ntest('adds', () => {});\n";
  const [one, other] = [canaryFor('a.test.mjs', text), canaryFor('a.test.mjs', text)];

  expect(one?.titles.filter((title) => other?.titles.includes(title))).toEqual([]);
  expect(`${one?.text}`).not.toMatch(/canary|phasegate|must fail/i);
  // The assertions of the file's own module, both ways that code can have patched them.
  expect(one?.text).toMatch(
    /import \w+ from 'node:assert\/strict';\nimport \* as \w+ from 'node:assert\/strict';/,
  );
});
