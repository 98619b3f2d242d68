import { type Json, own } from '@phasegate/core';
import { display } from './scopePath.ts';
import { countAt, expectedAt, pass, refuse, type SubmittedRule } from './submitted.ts';

/** Checks on the test results an agent submitted. None of them is satisfied by a run of no tests. */
export const SUBMITTED_TESTS: readonly SubmittedRule[] = [
  {
    name: 'tests_are_failing',
    summary: 'the submitted test run has at least one failed test',
    artifact: 'test_run_result',
    judge({ name, value }) {
      const failed = countAt(value, 'failed');
      if (failed === null || failed === 0) return expectedAt(name, value, 'failed', 'a number above 0');
      return pass(`\`${name}\` has ${failed} failed tests`);
    },
  },
  {
    name: 'tests_are_passing',
    summary: 'the submitted test run has passed tests and no failed one',
    artifact: 'test_run_result',
    judge({ name, value }) {
      if (countAt(value, 'failed') !== 0) return expectedAt(name, value, 'failed', '0');
      if (own(value, 'errors') !== undefined && countAt(value, 'errors') !== 0) {
        return expectedAt(name, value, 'errors', '0');
      }
      const passed = countAt(value, 'passed');
      if (passed === null || passed === 0) return expectedAt(name, value, 'passed', 'a number above 0');
      return pass(`\`${name}\` has ${passed} passed tests and no failed one`);
    },
  },
  {
    name: 'tests_exist',
    summary: 'the submitted test run has tests: `total` or `count` above 0',
    artifact: 'test_run_result',
    judge({ name, value }) {
      const key = own(value, 'total') === undefined && own(value, 'count') !== undefined ? 'count' : 'total';
      const total = countAt(value, key);
      if (total === null || total === 0) return expectedAt(name, value, key, 'a number above 0');
      return pass(`\`${name}\` has ${total} tests`);
    },
  },
  {
    name: 'no_skipped_tests',
    summary: 'the submitted test run says that no test was skipped',
    artifact: 'test_run_result',
    judge({ name, value }) {
      if (countAt(value, 'skipped') !== 0) return expectedAt(name, value, 'skipped', '0');
      return pass(`\`${name}\` has no skipped test`);
    },
  },
  {
    name: 'coverage_at_least',
    summary: 'the submitted coverage is at least `minimum` percent',
    artifact: 'coverage',
    properties: {
      minimum: { type: 'number', minimum: 0, maximum: 100, description: 'Least percentage' },
    },
    required: ['minimum'],
    judge({ name, value, with: { minimum } }) {
      if (typeof minimum !== 'number') throw new TypeError('`minimum` must be a number');
      const [key, given] = percentage(value);
      if (typeof given !== 'number' || !(given >= 0 && given <= 100)) {
        return refuse(`\`${name}${key}\` is ${display(given)}, expected a percentage from 0 to 100`);
      }
      if (given < minimum) return refuse(`\`${name}${key}\` is ${given}, expected at least ${minimum}`);
      return pass(`\`${name}${key}\` is ${given}`);
    },
  },
];

function percentage(value: Json): readonly [key: string, given: Json | undefined] {
  if (typeof value === 'number') return ['', value];
  for (const key of ['percent', 'lines', 'total']) {
    const given = own(value, key);
    if (given !== undefined) return [`.${key}`, given];
  }
  return ['.percent', undefined];
}
