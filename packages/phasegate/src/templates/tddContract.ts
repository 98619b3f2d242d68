/** Contract tests of the five phases, which they show whole: an author changes them with the workflow. */
export const tddContract = `# What must come of it, whoever works: \`phasegate test tdd --coverage\` plays these tests, changes nothing, and says what
# they leave out. Change the workflow, run them again, and see whether it still holds what it promised.
evidence:
  PLAN:
    plan: { summary: Titles become slugs, steps: [write slugify], acceptance_criteria: [words are joined by hyphens] }
  TDD:
    test_run_result: { command: npm test, passed: 3, failed: 1 }
  IMPL:
    test_run_result: &green { command: npm test, passed: 4, failed: 0 }
  REVIEW:
    review: { summary: slugify does what the plan says, risks: [] }
  COMPLETE:
    report: { summary: Titles now become slugs }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [REVIEW]
  evidence: { PLAN: [plan], TDD: [test_run_result], IMPL: [test_run_result], REVIEW: [review], COMPLETE: [report] }
  forbidden: { PLAN: [write_files, bash], REVIEW: [write_files, bash], COMPLETE: [write_files, bash] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { REVIEW: Approve } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  # With \`at\` an honest agent works up to there first.
  - name: tests that pass are not failing tests
    at: TDD
    steps:
      - { agent: { complete: TDD, evidence: { test_run_result: *green } }, expect: { code: check_failed, phase: TDD } }

  - name: only tests are written before there are tests
    at: TDD
    steps:
      - { tool: { tool: write_files, input: { path: test/slugify.test.js } } }
      - { tool: { tool: write_files, input: { path: src/slugify.js } }, expect: { code: outside_write_scope } }
      - { tool: { tool: fetch, input: {} }, expect: { code: tool_not_allowed } }

  - name: a test that fails keeps the change from review, and the tests are not what is changed
    at: IMPL
    steps:
      - { tool: { tool: write_files, input: { path: test/slugify.test.js } }, expect: { code: outside_write_scope } }
      - { tool: { tool: fetch, input: {} }, expect: { code: tool_not_allowed } }
      - agent: { complete: IMPL, evidence: { test_run_result: { command: npm test, passed: 3, failed: 1 } } }
        expect: { code: check_failed, phase: IMPL }

  - name: a change that is sent back is worked on again, with what the human wrote
    at: REVIEW
    steps:
      - { agent: { complete: REVIEW, evidence: { review: { summary: it is good as it is, risks: [] } } }, expect: { status: waiting } }
      - { human: { choose: Send back }, expect: { code: input_required } }
      - { human: { choose: Send back, input: what about umlauts }, expect: { status: active, phase: IMPL } }
`;
