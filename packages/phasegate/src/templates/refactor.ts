import {
  codeWithinPlan,
  greenCheck,
  listOf,
  schemaLine,
  scopeOf,
  testsAreDenied,
  yamlWord,
} from './pieces.ts';
import { readme } from './readme.ts';
import type { ProjectTests, Template } from './template.ts';

/** A change of form: tests pass before and after, and nobody may write one in between. */
export const refactorTemplate: Template = {
  name: 'refactor',
  summary: 'tests pass before and after, and none is touched; a human approves plan and change',
  workflow: 'refactor',
  path: 'workflows/refactor.workflow.yaml',
  runsTests: true,
  definition: (tests) => [{ path: 'workflows/refactor.workflow.yaml', text: workflow(tests) }],
  beside: (tests) => [
    { path: 'workflows/refactor.contract.yaml', text: contract(tests) },
    {
      path: 'workflows/refactor.md',
      text: readme({
        title: 'A refactoring',
        template: 'refactor',
        file: 'refactor.workflow.yaml',
        tests,
        red: false,
        phases: [
          [
            'PLAN',
            'reads, and says what will be changed',
            'runs the tests: they pass **before**; **a human approves the plan**',
          ],
          ['CHANGE', 'writes code; tests are frozen', 'runs the tests: they pass **after**'],
          ['ACCEPT', 'sums up', 'runs the tests again; **a human looks at the change and accepts it**'],
        ],
        claims: [
          '`changes`: which paths were changed. They are compared with the `scope` of the plan that a human approved. That anything was changed at all is for the human at ACCEPT to see',
          '`summary`: that behaviour is the same where no test looks',
        ],
      }),
    },
  ],
};

function workflow(tests: ProjectTests): string {
  const { command, layout } = tests;
  return `${schemaLine(1)}
# Change the form and not what it does: the tests pass before and after, and none is touched. refactor.md beside this file
# tells what the engine sees for itself here and what is only claimed.
workflow: refactor
title: Refactor
version: "1.0"
description: Tests pass before and after, behaviour is frozen, a human approves plan and change

tools:
  reading: [read_files, list_files, grep]

gates:
  green:
    blockers:
${greenCheck(tests, 6)}
  within_plan:
    blockers:
      - check: changes_within_scope
        message: The change must stay within the approved plan
  plan_approved:
    human:
      prompt: Is this worth doing, and do the tests look at what it touches?
      context: [plan]
      options:
        - { label: Approve, next: CHANGE }
        - { label: Request changes, next: PLAN, requires_input: true }
        - { label: Reject, next: null }
  accepted:
    human:
      prompt: Is it better than before, and does it do the same?
      context: [summary]
      options:
        - { label: Accept }
        - { label: Send back, next: CHANGE, requires_input: true }

phases:
  PLAN:
    name: Plan
    instructions: |
      Read the code and the tests that look at it. Say what will be different, what stays as it is, and which behaviour no
      test looks at: that is where a refactoring breaks something unseen.

      \`plan\` holds a \`summary\`, the \`scope\` (every path you will change) and what is \`untested\`, which may be empty.
    allowed_tools: [reading]
    writes: ${listOf(scopeOf([], layout))}
    required_artifacts:
      - type: plan
        description: summary, scope and what no test looks at
        schema:
          type: object
          required: [summary, scope, untested]
          additionalProperties: false
          properties:
            summary: { type: string, minLength: 20 }
            scope: { type: array, minItems: 1, uniqueItems: true, items: { type: string, minLength: 1 } }
            untested: { type: array, items: { type: string, minLength: 1 } }
    gates: [green, plan_approved]

  CHANGE:
    name: Change the form
    instructions: |
      Do what was approved in small steps, and run \`${command}\` after each. Tests are frozen: if one has to change, the
      behaviour does, and that is another workflow; report the phase as blocked and say why.

      \`changes\` lists every path you changed.
${codeWithinPlan(layout, command)}
    next: ACCEPT

  ACCEPT:
    name: Have it accepted
    instructions: |
      Tell the human who decides what is better now, and what you were not sure of.

      \`summary\` is a text.
    allowed_tools: [reading]
    writes: ${listOf(scopeOf([], layout))}
    required_artifacts:
      - { type: summary, schema: { type: string, minLength: 20 }, description: "what is better now, and what is uncertain" }
    gates: [green, accepted]
    next: null
`;
}

function contract({ layout }: ProjectTests): string {
  const code = yamlWord(layout.sample.code);
  return `# What the engine answers: \`phasegate test refactor --coverage\` plays these tests, changes nothing, and says what they
# leave out.
evidence:
  PLAN:
    plan: &plan { summary: slugify is split into two functions, scope: [${code}], untested: [titles in other scripts] }
  CHANGE:
    changes: &changes [${code}]
  ACCEPT:
    summary: &summary Two short functions in place of a long one

# The checks that look at the world are answered here; in a run the engine looks for itself.
checks: { tests_really_pass: pass }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [PLAN, ACCEPT]
  evidence: { PLAN: [plan], CHANGE: [changes], ACCEPT: [summary] }
  forbidden: { PLAN: [write_files, bash], CHANGE: [git], ACCEPT: [write_files, bash] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { PLAN: Approve, ACCEPT: Accept } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  - name: nothing is changed before the plan is approved, and none is where tests fail
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: tool_not_allowed } }
      - agent: { complete: PLAN, evidence: { plan: *plan } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: PLAN }
      - { agent: { complete: PLAN, evidence: { plan: *plan } }, expect: { status: waiting } }
      - { human: { choose: Request changes }, expect: { code: input_required } }
      - { human: { choose: Request changes, input: too much at once }, expect: { status: active, phase: PLAN } }

  - { name: a human who rejects the plan ends the run, agent: honest, choose: { PLAN: Reject }, expect: { status: stopped, phase: null } }

  # With \`at\` an honest agent works up to there first.
  - name: tests are frozen while the code changes
    at: CHANGE
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } } }
${testsAreDenied(layout)}
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: outside_write_scope } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: git, input: { command: git status } }, expect: { code: tool_forbidden } }
      - { tool: { tool: fetch }, expect: { code: tool_not_allowed } }

  - name: what the plan does not name is not changed
    at: CHANGE
    steps:
      - { agent: { complete: CHANGE, evidence: { changes: [other.txt] } }, expect: { code: check_failed, phase: CHANGE } }

  - name: a change that breaks a test goes no further
    at: CHANGE
    steps:
      - agent: { complete: CHANGE, evidence: { changes: *changes } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: CHANGE }

  - name: a change that is sent back is worked on again, with what the human wrote
    at: ACCEPT
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: tool_not_allowed } }
      - agent: { complete: ACCEPT, evidence: { summary: *summary } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: ACCEPT }
      - { agent: { complete: ACCEPT, evidence: { summary: *summary } }, expect: { status: waiting } }
      - { human: { choose: Send back }, expect: { code: input_required } }
      - { human: { choose: Send back, input: the names were better before }, expect: { status: active, phase: CHANGE } }
`;
}
