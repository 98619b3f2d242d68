import type { JsonObject } from '@phasegate/core';
import { compileSchema } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { CHECKS, knownChecks } from './index.ts';

test('the shelf holds these checks and no others', () => {
  expect(Object.fromEntries(CHECKS.map((check) => [check.name, check.class]))).toEqual({
    expression: 'claimed',
    json_schema: 'claimed',
    command: 'verified',
    tests: 'verified',
    files: 'verified',
    artifacts_present: 'claimed',
    made_from_this_tree: 'verified',
    cites_receipts: 'observed',
    tests_exist_for_acceptance_criteria: 'claimed',
    tests_are_failing: 'claimed',
    tests_are_passing: 'claimed',
    tests_exist: 'claimed',
    no_skipped_tests: 'claimed',
    coverage_at_least: 'claimed',
    plan_has_scope: 'claimed',
    scope_is_bounded: 'claimed',
    changes_within_scope: 'claimed',
    review_is_complete: 'claimed',
    all_review_models_completed: 'claimed',
    no_blocking_findings: 'claimed',
  });
  expect(CHECKS).toHaveLength(Object.keys(knownChecks()).length);
});

describe.each(CHECKS.map((check) => [check.name, check] as const))('%s', (_, check) => {
  test('has parameters that are a schema, closed, with a description for each', () => {
    const compiled = compileSchema(check.parameters);

    expect(compiled.ok ? [] : compiled.problems).toEqual([]);
    expect(check.parameters.additionalProperties).toBe(false);
    for (const [name, property] of Object.entries(check.parameters.properties as JsonObject)) {
      expect((property as JsonObject).description, name).toMatch(/\S/u);
    }
  });

  test('refuses an unknown parameter', () => {
    expect(problemsOf(check.parameters, { nonsense: 1 }).length).toBeGreaterThan(0);
  });
});

test('a command takes exactly one of argv and shell', () => {
  const { parameters } = knownChecks().command as { parameters: JsonObject };

  expect(problemsOf(parameters, { argv: ['npm', 'test'] })).toEqual([]);
  expect(
    problemsOf(parameters, { shell: 'npm test | tail', expect_exit: [0, 1], timeout_seconds: 0.5 }),
  ).toEqual([]);
  expect(problemsOf(parameters, {}).length).toBeGreaterThan(0);
  expect(problemsOf(parameters, { argv: ['a'], shell: 'a' }).length).toBeGreaterThan(0);
  expect(problemsOf(parameters, { argv: [] }).length).toBeGreaterThan(0);
  expect(problemsOf(parameters, { argv: ['a'], timeout_seconds: 3601 }).length).toBeGreaterThan(0);
  expect(problemsOf(parameters, { argv: ['a'], expect_exit: true }).length).toBeGreaterThan(0);
});

test('a look at files asks something', () => {
  const { parameters } = knownChecks().files as { parameters: JsonObject };

  expect(problemsOf(parameters, { exist: ['a'] })).toEqual([]);
  expect(problemsOf(parameters, {}).length).toBeGreaterThan(0);
  expect(problemsOf(parameters, { exist: [] }).length).toBeGreaterThan(0);
});

test('only the expression check has a condition to parse', () => {
  const known = knownChecks();

  expect(known.expression?.conditions).toEqual(['condition']);
  expect(Object.values(known).filter((check) => check.conditions !== undefined)).toHaveLength(1);
});

function problemsOf(parameters: JsonObject, value: JsonObject): readonly unknown[] {
  const compiled = compileSchema(parameters);
  if (!compiled.ok) throw new Error('the parameters are not a schema');
  return compiled.validate(value);
}
