import type { JsonObject } from '@phasegate/core';

/** Artifacts of a phase: their type there → their name here. */
export type Artifacts = ReadonlyMap<string, string>;

/** Our blockers for a check of that project that its code really has, or null where only a human can tell. */
export function blockersFor(check: string, artifacts: Artifacts): readonly JsonObject[] | null {
  const plan = artifacts.get('plan_document');
  if (check === 'plan_has_acceptance_criteria' && plan !== undefined) {
    return [{ check: 'json_schema', with: { path: `result.${plan}`, schema: WITH_CRITERIA } }];
  }
  const artifact = artifacts.get('test_run_result');
  if (RED.includes(check) && artifact !== undefined) {
    return [
      { check: 'tests_are_failing', with: { artifact } },
      expression(`result.${artifact}.exit_code !== 0`),
    ];
  }
  if (GREEN.includes(check) && artifact !== undefined) {
    return [
      { check: 'tests_are_passing', with: { artifact } },
      expression(`result.${artifact}.exit_code === 0`),
    ];
  }
  const review = artifacts.get('review_results') ?? artifacts.get('review_report');
  if (check === 'no_blocking_issues' && review !== undefined) {
    return [expression(`length(result.${review}.blocking_issues) === 0`)];
  }
  return null;
}

const RED = ['tests_are_failing', 'tests_failed'];
const GREEN = ['all_tests_pass', 'tests_passed'];
const TEXT = { type: 'string', minLength: 1 };
const WITH_CRITERIA: JsonObject = {
  type: 'object',
  required: ['acceptance_criteria'],
  properties: {
    acceptance_criteria: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['criterion', 'how_to_verify'],
        properties: { criterion: TEXT, how_to_verify: TEXT },
      },
    },
  },
};

function expression(condition: string): JsonObject {
  return { check: 'expression', with: { condition } };
}
