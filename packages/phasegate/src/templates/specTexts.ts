/** The texts of the template `spec`, which are the same in every project. */
export const specTexts = {
  understand: `# Phase 0: Understand the specification

Before the first task is opened, read what is in the folder of the specification, and the code it is about. Leave \`tasks.md\`
closed: this run has its own copy, and hands out one phase and one task at a time.

## What to hand in

| evidence | type | validator | description |
|---|---|---|---|
| \`spec_summary\` | text | non_empty | what is to be built and for whom, in three sentences of your own |
| \`risks\` | list | non_empty | what could go wrong in carrying this out, the gravest first |
| \`open_questions\` | list | | what the specification leaves open; an empty list if nothing |

A human reads it before the first phase begins.
`,
  phase: `# Phase [PHASE_NUMBER]: [PHASE_NAME]

[PHASE_DESCRIPTION]

Tasks: [TASK_COUNT]. Fetch them in the order of their numbers, and finish each before you fetch the next.

## The gate of this phase

[VALIDATION_GATE]

When all of it holds, complete phase [PHASE_NUMBER] with

- \`tasks_completed\`: the ids of the tasks that are done
- \`validation_gate\`: an object with \`item_1\`, \`item_2\` and so on, in the order above; each a sentence that says what shows
  it: the command that was run and what came of it, the file and line, the figure

Then the engine runs the tests, and a human looks at what was done. After this: phase [NEXT_PHASE_NUMBER]; \`none\` is the end.
If the gate cannot be met honestly, report the phase as blocked and say why.
`,
  task: `# Task [TASK_ID]: [TASK_NAME]

Phase [PHASE_NUMBER], [PHASE_NAME]. Estimated time: [ESTIMATED_TIME]. Depends on: [DEPENDENCIES].

[TASK_DESCRIPTION]

## Must hold when you are done

[ACCEPTANCE_CRITERIA]

Carry out this task and no other. Check every line above by running or reading something. Next is task [NEXT_TASK_NUMBER] of
phase [PHASE_NUMBER]; where that says \`none\`, this was the last one of the phase.
`,
  example: `# Tasks: titles become slugs

An example: replace it with a specification of your own.

### Phase 1: Plain titles

**Goal:** Titles of letters, digits and spaces become slugs.

**Tasks:**

- [ ] **Task 1.1**: Write the function and its tests
  - **Acceptance Criteria**:
    - [ ] Words are lower case and joined by hyphens

**Validation Gate:**
- [ ] Each acceptance criterion has a test that names it

### Phase 2: All other titles

**Goal:** Whatever a title holds, the slug is made of letters, digits and hyphens.

**Tasks:**

- [ ] **Task 2.1**: Leave out what is neither letter nor digit
  - **Acceptance Criteria**:
    - [ ] A title of punctuation alone gives an empty slug

**Validation Gate:**
- [ ] The empty title has a test
`,
  contract: `# What the engine answers: \`phasegate test spec\` plays these tests with the example of a specification, and changes nothing.
# The phases after 0 come from there.
params: { spec_path: specs/example }

evidence:
  0: &understood { spec_summary: Titles become slugs for those who write links, risks: [two titles give one slug], open_questions: [] }
  1: &plain { tasks_completed: ["1.1"], validation_gate: { item_1: "the test of hyphens names its criterion" } }
  2: &other { tasks_completed: ["2.1"], validation_gate: { item_1: "the last test is about the empty title" } }

# The checks that look at the world are answered here; in a run the engine looks for itself.
checks: { tests_really_pass: pass }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [0, 1, 2]
  forbidden: { 0: [write_files, bash], 1: [git], 2: [git] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { 0: "Yes", 1: Accept, 2: Accept } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  - name: a phase of the specification is closed until the one before it is done
    steps:
      - { agent: { complete: 1, evidence: *plain }, expect: { code: phase_sequence_violation, phase: 0 } }
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: tool_not_allowed } }

  - name: what was not understood is read again, with what the human wrote
    steps:
      - { agent: { complete: 0, evidence: *understood }, expect: { status: waiting } }
      - { human: { choose: "No" }, expect: { code: input_required } }
      - { human: { choose: "No", input: read it again }, expect: { status: active, phase: 0 } }

  # With \`at\` an honest agent works up to there first.
  - name: a phase whose tests fail is not done
    at: 1
    steps:
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: outside_write_scope } }
      - { tool: { tool: git, input: { command: git status } }, expect: { code: tool_forbidden } }
      - { tool: { tool: fetch }, expect: { code: tool_not_allowed } }
      - agent: { complete: 1, evidence: *plain }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: 1 }

  - name: the last phase is held as the first
    at: 2
    steps:
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: outside_write_scope } }
      - { tool: { tool: fetch }, expect: { code: tool_not_allowed } }
      - agent: { complete: 2, evidence: *other }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: 2 }

  - { name: a human who stops at a phase ends the run, agent: honest, choose: { 0: "Yes", 1: Stop }, expect: { status: stopped, phase: null } }
  - { name: and so at the last one, agent: honest, choose: { 0: "Yes", 1: Accept, 2: Stop }, expect: { status: stopped, phase: null } }
`,
} as const;
