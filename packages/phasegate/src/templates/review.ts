import { greenCheck, listOf, reviewSchema, schemaLine, scopeOf, yamlWord } from './pieces.ts';
import { readme } from './readme.ts';
import type { ProjectTests, Template } from './template.ts';

/** A change is read and judged, and nothing is written; a human has the last word. */
export const reviewTemplate: Template = {
  name: 'review',
  summary: 'a change whose tests pass is read and judged; a human has the last word',
  workflow: 'review',
  path: 'workflows/review.workflow.yaml',
  runsTests: true,
  definition: (tests) => [{ path: 'workflows/review.workflow.yaml', text: workflow(tests) }],
  beside: (tests) => [
    { path: 'workflows/review.contract.yaml', text: contract(tests) },
    {
      path: 'workflows/review.md',
      text: readme({
        title: 'Reviewing a change',
        template: 'review',
        file: 'review.workflow.yaml',
        tests,
        red: false,
        phases: [
          [
            'READ',
            'reads the change and writes down what it finds',
            'runs the tests: a run starts only where they pass',
          ],
          ['JUDGE', 'recommends', 'runs the tests again; **a human decides**'],
        ],
        claims: [
          '`review`: every finding, and that a file was read at all. No check can see that somebody has understood something, which is why a human decides',
          '`recommendation`: a recommendation, no more',
        ],
        more: `## If the tests fail

Then there is nothing to review yet: \`start\` says so. To have changes reviewed whose tests fail, take the precondition of
READ and the gate \`green\` of JUDGE out of the workflow.

## Why no human approves a plan

Nothing is written here, so there is nothing to plan: the one decision is the human's at JUDGE.`,
      }),
    },
  ],
};

function workflow(tests: ProjectTests): string {
  const { layout } = tests;
  return `${schemaLine(1)}
# Read a change and judge it; nothing is written. review.md beside this file tells what the engine sees for itself here and
# what is only claimed.
workflow: review
title: Review
version: "1.0"
description: A change whose tests pass is read and judged; a human has the last word

tools:
  reading: [read_files, list_files, grep]

gates:
  green:
    blockers:
${greenCheck(tests, 6)}
  judged:
    human:
      prompt: Do you agree with this review?
      context: [review, recommendation]
      options:
        - { label: Agree }
        - { label: Read again, next: READ, requires_input: true }

phases:
  READ:
    name: Read the change
    instructions: |
      Read the whole change as a stranger would, and what calls it. Look for what the tests do not show: cases nobody
      thought of, names that mislead, code that is not needed.

      \`review\` holds your \`decision\` (\`approved\` or \`changes_requested\`), a \`summary\`, the \`files_read\` and the
      \`findings\`, each with a \`severity\` (MUST, SHOULD or COULD) and a \`text\`. With a finding that MUST be fixed the
      decision is \`changes_requested\`.
    allowed_tools: [reading, git]
    tool_constraints:
      git: { allowed: [git diff, git diff HEAD, git log --oneline, git show] }
    writes: []
    preconditions:
${greenCheck(tests, 6, { why: 'there is nothing to review yet', entering: true })}
    required_artifacts:
      - type: review
        description: decision, summary, files_read and findings
        schema:
${reviewSchema(10)}
    postconditions:
      - check: review_is_complete
        message: A review ends with a decision
    next: JUDGE

  JUDGE:
    name: Recommend
    instructions: |
      Tell the human who decides what to do with this change, in three sentences at most.

      \`recommendation\` is a text.
    allowed_tools: [reading]
    writes: ${listOf(scopeOf([], layout))}
    required_artifacts:
      - { type: recommendation, schema: { type: string, minLength: 20 }, description: "what to do with the change" }
    gates: [green, judged]
    next: null
`;
}

function contract({ layout }: ProjectTests): string {
  const code = yamlWord(layout.sample.code);
  return `# What the engine answers: \`phasegate test review --coverage\` plays these tests, changes nothing, and says what they
# leave out.
evidence:
  READ:
    review: &review
      decision: changes_requested
      summary: The empty title is forgotten, the rest is good
      files_read: [${code}]
      findings: [{ severity: MUST, file: ${code}, text: An empty title throws }]
  JUDGE:
    recommendation: &recommendation Send it back for the empty title

# The checks that look at the world are answered here; in a run the engine looks for itself.
checks: { tests_really_pass: pass }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [JUDGE]
  evidence: { READ: [review], JUDGE: [recommendation] }
  forbidden: { READ: [write_files], JUDGE: [write_files, bash] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { JUDGE: Agree } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  - name: a change whose tests fail is not reviewed
    agent: honest
    checks: { tests_really_pass: fail }
    expect: { code: precondition_failed }

  - name: the reviewer reads, and changes nothing
    steps:
      - { tool: { tool: git, input: { command: git diff } } }
      - { tool: { tool: git, input: { command: git push } }, expect: { code: tool_constraint } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_not_allowed } }
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: tool_not_allowed } }

  - name: a review without a decision does not count
    steps:
      - agent: { complete: READ, evidence: { review: *review } }
        checks: { review_is_complete: fail }
        expect: { code: check_failed, phase: READ }

  # With \`at\` an honest agent works up to there first.
  - name: a human who does not agree has it read again, and says why
    at: JUDGE
    steps:
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: tool_not_allowed } }
      - agent: { complete: JUDGE, evidence: { recommendation: *recommendation } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: JUDGE }
      - { agent: { complete: JUDGE, evidence: { recommendation: *recommendation } }, expect: { status: waiting } }
      - { human: { choose: Read again }, expect: { code: input_required } }
      - { human: { choose: Read again, input: what about umlauts }, expect: { status: active, phase: READ } }
`;
}
