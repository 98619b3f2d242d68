import { deniedTests, greenCheck, listOf, redCheck, reviewSchema, schemaLine, scopeOf } from './pieces.ts';
import { readme } from './readme.ts';
import { tddContract } from './tddContract.ts';
import type { ProjectTests, Template } from './template.ts';

/** Plan, failing tests, implementation, review, report: what `npm run demo` plays, with the project's own tests. */
export const tddTemplate: Template = {
  name: 'tdd',
  summary: 'a human approves the plan, the engine sees the tests fail, then pass',
  workflow: 'tdd',
  path: 'agent_workflow.yaml',
  runsTests: true,
  definition: (tests) => [{ path: 'agent_workflow.yaml', text: workflow(tests) }],
  beside: (tests) => [
    { path: 'agent_workflow.contract.yaml', text: tddContract(tests) },
    {
      path: 'agent_workflow.md',
      text: readme({
        title: 'A test-driven change',
        template: 'tdd',
        file: 'agent_workflow.yaml',
        tests,
        red: true,
        phases: [
          ['PLAN', 'reads, and writes a plan', 'nothing; **a human approves the plan**'],
          ['TDD', 'writes tests only', 'runs the tests and sees them fail, each new file of them'],
          ['IMPL', 'writes code only', 'runs the same tests, unchanged, and sees them pass'],
          ['REVIEW', 'reads the change, approves it or sends it back', 'nothing'],
          ['COMPLETE', 'reports', 'runs the tests a last time'],
        ],
        claims: [
          '`test_run_result`, `commands_executed`: what the agent says of its own runs. They are asked for because an agent that contradicts itself is refused at once; what counts is the run of the engine',
          '`tests`: that each acceptance criterion has a test. The engine compares the ids with those of the plan. It does not read the tests',
          '`changes`: which paths were changed. They are compared with the `scope` of the plan that a human approved',
          '`review`: whether anything was read at all, and by whom. Give REVIEW a human gate, or a `dispatch` to another agent, if that is not enough',
        ],
      }),
    },
  ],
};

function workflow(tests: ProjectTests): string {
  const { command, layout } = tests;
  const bash = `bash: { allowed: ${listOf([command])} }`;
  return `${schemaLine(0)}
# Plan a change, see its tests fail, make them pass, have it reviewed, report. agent_workflow.md beside this file tells
# what the engine sees for itself here and what is only claimed.
workflow: tdd
title: Test-driven change
version: "1.0"
description: Plan, failing tests, implementation, review, report; a human approves the plan

params:
  review_depth: { type: string, choices: [quick, thorough], default: thorough, description: A thorough review reads every changed file }

tools:
  reading: [read_files, list_files, grep]
  away: [fetch, spawn_agent]

schemas:
  plan:
    type: object
    required: [summary, scope, acceptance_criteria]
    additionalProperties: false
    properties:
      summary: { type: string, minLength: 20 }
      scope: { type: array, minItems: 1, uniqueItems: true, items: { type: string, minLength: 1 } }
      acceptance_criteria:
        type: array
        minItems: 1
        items:
          type: object
          required: [id, text]
          additionalProperties: false
          properties:
            id: { type: string, pattern: "^AC-[1-9][0-9]*$" }
            text: { type: string, minLength: 10 }
      risks: { type: array, items: { type: string, minLength: 1 } }
  test_run:
    type: object
    required: [command, total, passed, failed, skipped]
    additionalProperties: false
    properties:
      command: { type: string, minLength: 1 }
      total: { type: integer, minimum: 1 }
      passed: { type: integer, minimum: 0 }
      failed: { type: integer, minimum: 0 }
      skipped: { type: integer, minimum: 0 }
  changes: { type: array, minItems: 1, uniqueItems: true, items: { type: string, minLength: 1 } }
  review:
${reviewSchema(4)}
  report:
    type: object
    required: [summary, follow_ups]
    additionalProperties: false
    properties:
      summary: { type: string, minLength: 20 }
      follow_ups: { type: array, items: { type: string, minLength: 1 } }

gates:
  bounded:
    blockers:
      - check: scope_is_bounded
        message: The plan must name the paths it is about
      - name: few_enough_files
        check: expression
        with: { condition: "length(plan.scope) <= 10" }
        message: A plan names ten paths at most; plan a smaller change

  plan_approved:
    human:
      prompt: Is this the change you want, and would the criteria show that it is right?
      context: [plan.summary, plan.scope, plan.acceptance_criteria]
      options:
        - { label: Approve, next: TDD }
        - { label: Request changes, next: PLAN, requires_input: true }
        - { label: Reject, next: null }
      timeout: { after: 7d, then: park }

  # What the agent says comes first, because it costs nothing to ask. What counts is the last one: the engine's own run.
  red:
    blockers:
      - check: tests_are_failing
        message: Tests must fail first
      - check: tests_exist_for_acceptance_criteria
        message: Every acceptance criterion needs a test
${redCheck(tests, 6)}

  green:
    blockers:
      - check: tests_are_passing
        message: All tests must pass
      - check: no_skipped_tests
        message: A skipped test shows nothing
      - check: changes_within_scope
        message: The change must stay within the approved plan

  green_for_real:
    blockers:
${greenCheck(tests, 6, { unchanged: 'TDD' })}

phases:
  PLAN:
    name: Plan
    instructions: |
      Find out what the change touches and write down what you will do. Change nothing yet: a human reads the plan
      before any work begins.

      \`plan\` holds a \`summary\`, the \`scope\` (every path you will change, tests included) and the
      \`acceptance_criteria\`, each with an \`id\` such as AC-1 and a \`text\` that a test can show to be true.
    allowed_tools: [reading]
    forbidden_tools: [write_files, bash, away]
    writes: []
    tasks:
      - name: Read the code
        instructions: |
          Read what the change touches and everything that calls it. Note the names and conventions in use, so that the
          change will look like the code around it.
        acceptance_criteria:
          - You can name every file the change needs
          - You know how the tests are run
      - name: Say how the result will be checked
        instructions: |
          Write acceptance criteria about what can be observed, not about how it is done. Think of the empty input, the
          longest one and the one nobody expects.
        acceptance_criteria:
          - A test could be written for each criterion without asking you
    required_artifacts:
      - { type: plan, schema: plan, description: "summary, scope and acceptance_criteria of the change" }
    gates: [bounded, plan_approved]

  TDD:
    name: Write failing tests
    instructions: |
      Write one test or more for each acceptance criterion of the plan and run them with \`${command}\`. They must fail
      because the behaviour is missing, not because of a slip in the test: import what does not exist yet inside the test,
      or the module as a whole, as a file that cannot be loaded is not a failing test. Write no implementation: you cannot
      complete this phase once the tests pass.

      \`tests\` lists each test with its \`name\`, its \`file\` and the \`criterion\` it is for. \`test_run_result\` holds
      what the run said: \`command\`, \`total\`, \`passed\`, \`failed\`, \`skipped\`. The engine runs the tests itself.
    allowed_tools: [reading, write_files, bash]
    forbidden_tools: [git, away]
    tool_constraints:
      ${bash}
    writes: ${listOf(scopeOf(layout.tests, layout))}
    required_artifacts:
      - type: tests
        description: the tests written, each with the criterion it is for
        schema:
          type: array
          minItems: 1
          items:
            type: object
            required: [name, file, criterion]
            additionalProperties: false
            properties:
              name: { type: string, minLength: 1 }
              file: { type: string, minLength: 1 }
              criterion: { type: string, pattern: "^AC-" }
      - { type: test_run_result, schema: test_run, description: "the run in which the new tests failed" }
    gate: red
    next: IMPL

  IMPL:
    name: Make them pass
    instructions: |
      Write the simplest code that makes the tests pass, within the approved scope. Leave the tests alone. If a test
      turns out to be wrong, report the phase as blocked and say why: a human decides what becomes of it.

      \`changes\` lists every path you changed. \`test_run_result\` holds what the run said, and \`commands_executed\` the
      commands you ran to see it. The engine runs the tests itself.
    allowed_tools: [reading, write_files, bash]
    forbidden_tools: [git, away]
    tool_constraints:
      ${bash}
${deniedTests(layout)}
    writes: ${listOf(scopeOf(layout.code, layout))}
    required_evidence:
      commands_executed: { type: list, rule: non_empty, description: The commands that were run }
    required_artifacts:
      - { type: changes, schema: changes, description: "paths that were changed" }
      - { type: test_run_result, schema: test_run, description: "the run in which all tests passed" }
    gates: [green, green_for_real]
    next: REVIEW

  REVIEW:
    name: Review
    instructions: |
      Read the whole change as a stranger would, together with the plan it was made from. Look for what the tests do not
      show: names that mislead, cases nobody thought of, code that is not needed.

      \`review\` holds your \`decision\` (\`approved\` or \`changes_requested\`), a \`summary\`, the \`files_read\` and the
      \`findings\`, each with a \`severity\` (MUST, SHOULD or COULD) and a \`text\`. With \`changes_requested\` the work goes
      back to the implementation, at most twice; after that a human takes over.
    allowed_tools: [reading, git]
    forbidden_tools: [write_files, away]
    tool_constraints:
      git: { allowed: [git diff, git diff HEAD, git log --oneline] }
    writes: []
    tasks:
      - name: Compare the change with the plan
        instructions: |
          Go through the acceptance criteria one by one and find the test that shows each. A criterion without such a
          test is a finding of severity MUST.
    required_artifacts:
      - { type: review, schema: review, description: "decision, summary, files_read and findings" }
    postconditions:
      - check: review_is_complete
        message: A review ends with a decision
      - name: read_what_changed
        check: expression
        with: { condition: "params.review_depth === 'quick' || length(review.files_read) >= length(artifacts.changes)" }
        message: A thorough review reads every changed file
    next:
      condition: review.decision === "approved"
      on_true: COMPLETE
      on_false: IMPL
      max_iterations: 2

  COMPLETE:
    name: Report
    instructions: |
      Tell anyone who reads this tomorrow what was done, what was left out and why.

      \`report\` holds a \`summary\` and the \`follow_ups\`, which may be empty. The engine runs the tests a last time.
    allowed_tools: [reading]
    forbidden_tools: [write_files, bash, away]
    writes: ${listOf(scopeOf([], layout))}
    preconditions:
      - check: no_blocking_findings
        with: { severities: [MUST] }
        message: An approved review cannot hold a finding that must be fixed
    required_artifacts:
      - { type: report, schema: report, description: "what was done, and what is left to do" }
    gate: green_for_real
    next: null
`;
}
