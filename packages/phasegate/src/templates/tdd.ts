import { tddContract } from './tddContract.ts';
import type { Template } from './template.ts';

/** Plan, failing tests, implementation, review by a human, report. */
export const tddTemplate: Template = {
  name: 'tdd',
  summary: 'plan, failing tests, implementation, review, report',
  workflow: 'tdd',
  path: 'agent_workflow.yaml',
  contract: { path: 'agent_workflow.contract.yaml', text: tddContract },
  text: `workflow: tdd
title: Test-driven change
description: Plan a change, write failing tests, make them pass, have it reviewed, report

tools:
  reading: [read_files, list_files, grep]

schemas:
  plan:
    type: object
    required: [summary, steps, acceptance_criteria]
    additionalProperties: false
    properties:
      summary: { type: string, minLength: 10 }
      steps: { type: array, minItems: 1, items: { type: string, minLength: 1 } }
      acceptance_criteria: { type: array, minItems: 1, items: { type: string, minLength: 1 } }
  test_run:
    type: object
    required: [command, passed, failed]
    additionalProperties: false
    properties:
      command: { type: string, minLength: 1 }
      passed: { type: integer, minimum: 0 }
      failed: { type: integer, minimum: 0 }
      failures: { type: array, items: { type: string } }
  review:
    type: object
    required: [summary, risks]
    additionalProperties: false
    properties:
      summary: { type: string, minLength: 10 }
      risks: { type: array, items: { type: string } }
  report:
    type: object
    required: [summary]
    additionalProperties: false
    properties:
      summary: { type: string, minLength: 10 }
      follow_ups: { type: array, items: { type: string } }

gates:
  red:
    blockers:
      - check: tests_are_failing
        message: The new tests must fail before there is an implementation
  green:
    blockers:
      - check: expression
        with: { condition: "test_run_result.failed === 0 && test_run_result.passed > 0" }
        message: All tests must pass, and there must be some
  accepted:
    human:
      prompt: Is the change good to go?
      options:
        - { label: Approve, next: COMPLETE }
        - { label: Send back, next: IMPL, requires_input: true }

phases:
  PLAN:
    name: Plan
    instructions: |
      Read the code this change touches. Write down what will change, in which steps, and how one will see
      that it is right. Change nothing yet.

      Submit \`plan\`: summary, steps, acceptance_criteria.
    allowed_tools: [reading]
    writes: []
    required_artifacts:
      - { type: plan, schema: plan, description: "what will change, in which steps, and how one will see it is right" }
    next: TDD

  TDD:
    name: Write failing tests
    instructions: |
      Write a test for each acceptance criterion of the plan and run them. They must fail, and for the right
      reason: the feature is missing, not a typing mistake. Write tests only.

      Submit \`test_run_result\`: command, passed, failed, failures.
    allowed_tools: [reading, write_files, bash]
    writes: ["test/**", "tests/**", "**/*.test.*", "**/*.spec.*"]
    required_artifacts:
      - { type: test_run_result, schema: test_run, description: "the test run, with the new tests failing" }
    gate: red
    next: IMPL

  IMPL:
    name: Make them pass
    instructions: |
      Write the simplest code that makes the tests pass. Do not touch the tests: a wrong test is a reason to
      report the phase as blocked.

      Submit \`test_run_result\`: command, passed, failed.
    allowed_tools: [reading, write_files, bash]
    writes: ["src/**", "lib/**"]
    required_artifacts:
      - { type: test_run_result, schema: test_run, description: "the test run, with all tests passing" }
    gate: green
    next: REVIEW

  REVIEW:
    name: Review
    instructions: |
      Read the whole change as a stranger would. Sum it up for the human who decides, with every risk you see.

      Submit \`review\`: summary, risks.
    allowed_tools: [reading]
    writes: []
    required_artifacts:
      - { type: review, schema: review, description: "the change in short, and its risks" }
    gate: accepted
    next: COMPLETE

  COMPLETE:
    name: Report
    instructions: |
      Tell what was done and what is left to do.

      Submit \`report\`: summary, and follow_ups if there are any.
    allowed_tools: [reading]
    writes: []
    required_artifacts:
      - { type: report, schema: report, description: "what was done" }
    next: null
`,
};
