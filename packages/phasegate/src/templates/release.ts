import { greenCheck, listOf, schemaLine, scopeOf, yamlWord } from './pieces.ts';
import { readme } from './readme.ts';
import type { ProjectTests, Template } from './template.ts';

/** Notes, a human's yes, the tag, and a human who looks whether it is there. */
export const releaseTemplate: Template = {
  name: 'release',
  summary: 'notes and passing tests, a human says go, and looks whether it is out',
  workflow: 'release',
  path: 'workflows/release.workflow.yaml',
  runsTests: true,
  definition: (tests) => [{ path: 'workflows/release.workflow.yaml', text: workflow(tests) }],
  beside: (tests) => [
    { path: 'workflows/release.contract.yaml', text: contract(tests) },
    {
      path: 'workflows/release.md',
      text: readme({
        title: 'A release',
        template: 'release',
        file: 'release.workflow.yaml',
        tests,
        red: false,
        phases: [
          ['PREPARE', 'writes the notes', 'runs the tests, looks for `CHANGELOG.md`; **a human says go**'],
          ['PUBLISH', 'tags the release', 'runs the tests again; **a human looks whether it is out**'],
        ],
        claims: [
          '`release`: the version and the notes. The engine sees that `CHANGELOG.md` is not empty, not that it tells of this version',
          '`published`: that the tag is there. The engine runs no git on a repository an agent writes to, so a human looks',
        ],
        more: `## What is not done here

The agent may set a tag, and nothing else: pushing it and publishing packages is left to you or your CI, with credentials the
agent does not have.

## Where a human approves the plan

The plan of a release is its version and its notes: a human says go at PREPARE, before anything is tagged. No test has to fail
first, as no code is written.`,
      }),
    },
  ],
};

function workflow(tests: ProjectTests): string {
  const { layout } = tests;
  return `${schemaLine(1)}
# Write the notes, have a human say go, tag it, have a human look. release.md beside this file tells what the engine sees for
# itself here and what is only claimed.
workflow: release
title: Release
version: "1.0"
description: Notes and passing tests, a human says go, and looks whether it is out
# Two releases at once are none.
one_run_per: workflow

tools:
  reading: [read_files, list_files, grep]

gates:
  green:
    blockers:
${greenCheck(tests, 6)}
  go:
    human:
      prompt: Release this version with these notes?
      context: [release]
      options:
        - { label: Go, next: PUBLISH }
        - { label: Rework, next: PREPARE, requires_input: true }
        - { label: Drop, next: null }
  out:
    human:
      prompt: Is the release out, and is it what you agreed to?
      context: [published]
      options:
        - { label: It is out }
        - { label: Not yet, next: PUBLISH, requires_input: true }

phases:
  PREPARE:
    name: Prepare
    instructions: |
      Read what changed since the last release. Write the notes for this one into \`CHANGELOG.md\`, for the people who use it:
      what is new, what is fixed, what they must do. The engine runs the tests.

      \`release\` holds the \`version\` and the \`notes\` as they stand in the file.
    allowed_tools: [reading, write_files, git]
    tool_constraints:
      git: { allowed: [git log --oneline, git diff, git tag --list] }
    writes: ${listOf(scopeOf(['CHANGELOG.md'], layout))}
    required_artifacts:
      - type: release
        description: the version and its notes
        schema:
          type: object
          required: [version, notes]
          additionalProperties: false
          properties:
            version: { type: string, pattern: "^[0-9]+[.][0-9]+[.][0-9]+" }
            notes: { type: string, minLength: 20 }
    postconditions:
      - name: has_notes
        check: files
        with: { non_empty: [CHANGELOG.md] }
        needs: verified
        message: Write the notes into CHANGELOG.md
    gates: [green, go]

  PUBLISH:
    name: Publish
    instructions: |
      Set the tag of the version the human agreed to, on the commit that has the notes. Change nothing else; pushing it is the
      human's.

      \`published\` holds the \`tag\` and what is left \`to_do\` for the human.
    allowed_tools: [reading, git]
    tool_constraints:
      git: { allowed: [git log --oneline, git status, git tag --list, "git tag *"] }
    writes: ${listOf(scopeOf([], layout))}
    required_artifacts:
      - type: published
        description: the tag, and what is left to do for the human
        schema:
          type: object
          required: [tag, to_do]
          additionalProperties: false
          properties:
            tag: { type: string, minLength: 1 }
            to_do: { type: array, items: { type: string, minLength: 1 } }
    gates: [green, out]
    next: null
`;
}

function contract({ layout }: ProjectTests): string {
  const code = yamlWord(layout.sample.code);
  return `# What the engine answers: \`phasegate test release --coverage\` plays these tests, changes nothing, and says what they
# leave out.
evidence:
  PREPARE:
    release: &release { version: 1.2.0, notes: "Titles become slugs: lower case and hyphens" }
  PUBLISH:
    published: &published { tag: v1.2.0, to_do: [push the tag] }

# The checks that look at the world are answered here; in a run the engine looks for itself.
checks: { tests_really_pass: pass, has_notes: pass }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [PREPARE, PUBLISH]
  evidence: { PREPARE: [release], PUBLISH: [published] }
  forbidden: { PREPARE: [fetch], PUBLISH: [write_files] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { PREPARE: Go, PUBLISH: It is out } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  - name: only the notes are written, and nothing is tagged before a human says go
    steps:
      - { tool: { tool: write_files, input: { path: CHANGELOG.md } } }
      - { tool: { tool: write_files, input: { path: ${code} } }, expect: { code: outside_write_scope } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_not_allowed } }
      - { tool: { tool: git, input: { command: git tag v1.2.0 } }, expect: { code: tool_constraint } }
      - { tool: { tool: fetch }, expect: { code: tool_not_allowed } }

  - name: notes that are not in the file are not notes
    steps:
      - agent: { complete: PREPARE, evidence: { release: *release } }
        checks: { has_notes: fail }
        expect: { code: check_failed, phase: PREPARE }

  - name: what fails is not released
    steps:
      - agent: { complete: PREPARE, evidence: { release: *release } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: PREPARE }

  - name: notes come back with what the human wants different
    steps:
      - { agent: { complete: PREPARE, evidence: { release: *release } }, expect: { status: waiting } }
      - { human: { choose: Rework }, expect: { code: input_required } }
      - { human: { choose: Rework, input: what must users do }, expect: { status: active, phase: PREPARE } }

  - { name: a release that is dropped ends the run, agent: honest, choose: { PREPARE: Drop }, expect: { status: stopped, phase: null } }

  # With \`at\` an honest agent works up to there first.
  - name: a tag is set and nothing is pushed, and a human looks whether it is out
    at: PUBLISH
    steps:
      - { tool: { tool: git, input: { command: git tag v1.2.0 } } }
      - { tool: { tool: git, input: { command: git push } }, expect: { code: tool_constraint } }
      - { tool: { tool: write_files, input: { path: CHANGELOG.md } }, expect: { code: tool_not_allowed } }
      - agent: { complete: PUBLISH, evidence: { published: *published } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: PUBLISH }
      - { agent: { complete: PUBLISH, evidence: { published: *published } }, expect: { status: waiting } }
      - { human: { choose: Not yet }, expect: { code: input_required } }
      - { human: { choose: Not yet, input: there is no tag }, expect: { status: active, phase: PUBLISH } }
`;
}
