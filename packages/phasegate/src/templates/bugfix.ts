import {
  codeWithinPlan,
  greenCheck,
  listOf,
  redCheck,
  schemaLine,
  scopeOf,
  testsAreDenied,
  yamlWord,
} from './pieces.ts';
import { readme } from './readme.ts';
import type { ProjectTests, Template } from './template.ts';

/** A bug: a test that fails because of it, a plan that a human approves, the fix, and a human who accepts it. */
export const bugfixTemplate: Template = {
  name: 'bugfix',
  summary: 'a failing test first, then the fix; a human approves the plan and accepts the fix',
  workflow: 'bugfix',
  path: 'workflows/bugfix.workflow.yaml',
  runsTests: true,
  definition: (tests) => [{ path: 'workflows/bugfix.workflow.yaml', text: workflow(tests) }],
  beside: (tests) => [
    { path: 'workflows/bugfix.contract.yaml', text: contract(tests) },
    {
      path: 'workflows/bugfix.md',
      text: readme({
        title: 'Fixing a bug',
        template: 'bugfix',
        file: 'bugfix.workflow.yaml',
        tests,
        red: true,
        phases: [
          [
            'REPRODUCE',
            'writes a test that shows the bug',
            'runs the tests: they passed before, and now they fail',
          ],
          [
            'PLAN',
            'says what the cause is and what will be changed',
            'nothing; **a human approves the plan**',
          ],
          ['FIX', 'writes code only', 'runs the tests and sees them pass'],
          ['ACCEPT', 'reports cause and fix', 'runs the tests again; **a human accepts the fix**'],
        ],
        claims: [
          '`bug`: what is wrong, and that the test is about it. The engine sees that a test fails, not why',
          '`plan`: the cause, before anything is changed. The human reads it beside the test',
          '`changes`: which paths were changed. They are compared with the `scope` of the plan that a human approved',
          '`fix`: the cause. The human reads it, with the change before them',
        ],
        more: `## If the tests fail already

A run starts only where the tests pass, so that a test that fails is a new one. If a test that is there shows the bug, take
the precondition of REPRODUCE out of the workflow.`,
      }),
    },
  ],
};

function workflow(tests: ProjectTests): string {
  const { command, layout } = tests;
  return `${schemaLine(1)}
# Show the bug with a test that fails, say what the cause is, fix it, have it accepted. bugfix.md beside this file tells what
# the engine sees for itself here and what is only claimed.
workflow: bugfix
title: Fix a bug
version: "1.0"
description: A failing test, a plan that a human approves, the fix, and a human who accepts it

tools:
  reading: [read_files, list_files, grep]

gates:
  red:
    blockers:
${redCheck(tests, 6)}
  green:
    blockers:
${greenCheck(tests, 6, { unchanged: 'REPRODUCE' })}
  within_plan:
    blockers:
      - check: changes_within_scope
        message: The fix must stay within the approved plan
  plan_approved:
    human:
      prompt: Does the test show the bug, and would this fix its cause?
      context: [bug, plan]
      options:
        - { label: Approve, next: FIX }
        - { label: Request changes, next: PLAN, requires_input: true }
        - { label: Reject, next: null }
  accepted:
    human:
      prompt: Is this the bug, and is it fixed at its root?
      context: [bug, fix]
      options:
        - { label: Accept }
        - { label: Send back, next: FIX, requires_input: true }

phases:
  REPRODUCE:
    name: Show the bug
    instructions: |
      Find out what happens and what should happen. Write one test that fails because of the bug, and run it with
      \`${command}\`. It must fail for that reason and no other. Write no fix: you cannot complete this phase once the tests
      pass.

      \`bug\` holds what is \`seen\`, what was \`expected\`, and the \`test\` that shows it.
    allowed_tools: [reading, write_files, bash]
    forbidden_tools: [git]
    tool_constraints:
      bash: { allowed: ${listOf([command])} }
    writes: ${listOf(scopeOf(layout.tests, layout))}
    preconditions:
${greenCheck(tests, 6, { why: 'a test that fails shows a bug only where the others pass', entering: true })}
    required_artifacts:
      - type: bug
        description: what is seen, what was expected, and the test that shows it
        schema:
          type: object
          required: [seen, expected, test]
          additionalProperties: false
          properties:
            seen: { type: string, minLength: 10 }
            expected: { type: string, minLength: 10 }
            test: { type: string, minLength: 1 }
    gate: red
    next: PLAN

  PLAN:
    name: Plan the fix
    instructions: |
      Find the cause. Say what it is and what you will change. Change nothing yet: a human reads the plan, with the test
      before them.

      \`plan\` holds the \`cause\`, the \`change\` and the \`scope\`: every path you will change.
    allowed_tools: [reading]
    writes: []
    required_artifacts:
      - type: plan
        description: the cause, what will be changed, and every path of it
        schema:
          type: object
          required: [cause, change, scope]
          additionalProperties: false
          properties:
            cause: { type: string, minLength: 10 }
            change: { type: string, minLength: 10 }
            scope: { type: array, minItems: 1, uniqueItems: true, items: { type: string, minLength: 1 } }
    gate: plan_approved

  FIX:
    name: Fix it
    instructions: |
      Fix the cause as it was approved, with the smallest change that does. Leave the tests alone. The engine runs them.

      \`changes\` lists every path you changed.
${codeWithinPlan(layout, command)}
    next: ACCEPT

  ACCEPT:
    name: Have it accepted
    instructions: |
      Tell the human who decides what the cause was, what you changed, and where else the same mistake may be.

      \`fix\` holds the \`cause\`, the \`change\` and \`elsewhere\`, which may be empty.
    allowed_tools: [reading]
    writes: ${listOf(scopeOf([], layout))}
    required_artifacts:
      - type: fix
        description: the cause, the change, and where else the same mistake may be
        schema:
          type: object
          required: [cause, change, elsewhere]
          additionalProperties: false
          properties:
            cause: { type: string, minLength: 10 }
            change: { type: string, minLength: 10 }
            elsewhere: { type: array, items: { type: string, minLength: 1 } }
    gates: [green, accepted]
    next: null
`;
}

function contract({ layout }: ProjectTests): string {
  const [test, code] = [yamlWord(layout.sample.test), yamlWord(layout.sample.code)];
  return `# What the engine answers: \`phasegate test bugfix --coverage\` plays these tests, changes nothing, and says what they
# leave out.
evidence:
  REPRODUCE:
    bug: &bug { seen: an empty title throws, expected: an empty title gives an empty slug, test: ${test} }
  PLAN:
    plan: &plan { cause: the first character is read unasked, change: an empty title is returned as it is, scope: [${code}] }
  FIX:
    changes: &changes [${code}]
  ACCEPT:
    fix: &fix { cause: the first character was read unasked, change: an empty title is returned as it is, elsewhere: [] }

# The checks that look at the world are answered here; in a run the engine looks for itself.
checks: { tests_really_fail: pass, tests_really_pass: pass }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [PLAN, ACCEPT]
  evidence: { REPRODUCE: [bug], PLAN: [plan], FIX: [changes], ACCEPT: [fix] }
  forbidden: { REPRODUCE: [git], PLAN: [write_files, bash], FIX: [git], ACCEPT: [write_files, bash] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { PLAN: Approve, ACCEPT: Accept } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  - name: where tests fail already, none shows a bug by failing
    agent: honest
    checks: { tests_really_pass: fail }
    expect: { code: precondition_failed }

  - name: a bug that no test shows is not fixed
    steps:
      - { tool: { tool: write_files, input: { path: ${test} } } }
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: outside_write_scope } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: git, input: { command: git status } }, expect: { code: tool_forbidden } }
      - { tool: { tool: fetch }, expect: { code: tool_not_allowed } }
      - agent: { complete: REPRODUCE, evidence: { bug: *bug } }
        checks: { tests_really_fail: fail }
        expect: { code: check_failed, phase: REPRODUCE }

  # With \`at\` an honest agent works up to there first.
  - name: nothing is fixed before the plan is approved
    at: PLAN
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: tool_not_allowed } }
      - { agent: { complete: PLAN, evidence: { plan: *plan } }, expect: { status: waiting } }
      - { human: { choose: Request changes }, expect: { code: input_required } }
      - { human: { choose: Request changes, input: that is the symptom }, expect: { status: active, phase: PLAN } }

  - { name: a human who rejects the plan ends the run, agent: honest, choose: { PLAN: Reject }, expect: { status: stopped, phase: null } }

  - name: what the plan does not name is not changed
    at: FIX
    steps:
      - { agent: { complete: FIX, evidence: { changes: [other.txt] } }, expect: { code: check_failed, phase: FIX } }

  - name: the test stays as it is, and a fix is one when the engine sees the tests pass
    at: FIX
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } } }
${testsAreDenied(layout)}
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: outside_write_scope } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: git, input: { command: git status } }, expect: { code: tool_forbidden } }
      - { tool: { tool: fetch }, expect: { code: tool_not_allowed } }
      - agent: { complete: FIX, evidence: { changes: *changes } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: FIX }

  - name: a fix that is sent back is worked on again, with what the human wrote
    at: ACCEPT
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: tool_not_allowed } }
      - agent: { complete: ACCEPT, evidence: { fix: *fix } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: ACCEPT }
      - { agent: { complete: ACCEPT, evidence: { fix: *fix } }, expect: { status: waiting } }
      - { human: { choose: Send back }, expect: { code: input_required } }
      - { human: { choose: Send back, input: that is the symptom }, expect: { status: active, phase: FIX } }
`;
}
