import { listOf, testsAreDenied, yamlWord } from './pieces.ts';
import type { ProjectTests } from './template.ts';

/** Contract tests of the five phases, which they show whole: an author changes them with the workflow. */
export function tddContract({ command, layout }: ProjectTests): string {
  const run = yamlWord(command);
  const { test, code } = layout.sample;
  return `# What the engine answers to an agent that follows the contract, and to those that do not. \`phasegate test tdd --coverage\`
# plays these tests, changes nothing, and says what they leave out.
evidence:
  PLAN:
    plan: &plan
      summary: Write \`slugify\`, which so far gives titles back as they are
      scope: ${listOf([code, test])}
      acceptance_criteria:
        - { id: AC-1, text: words become lower case and are joined by hyphens }
  TDD:
    tests: &tests
      - { name: AC-1 words are joined by hyphens, file: ${yamlWord(test)}, criterion: AC-1 }
    test_run_result: &red { command: ${run}, total: 1, passed: 0, failed: 1, skipped: 0 }
  IMPL:
    changes: ${listOf([code])}
    test_run_result: &green { command: ${run}, total: 1, passed: 1, failed: 0, skipped: 0 }
    commands_executed: ${listOf([command])}
  REVIEW:
    review: &approval
      decision: approved
      summary: The change does what the plan says, and its criterion has a test that shows it
      files_read: ${listOf([code, test])}
      findings: []
  COMPLETE:
    report: &report { summary: "Titles now become slugs: lower case and hyphens", follow_ups: [] }

# The checks that look at the world are answered here; in a run the engine looks for itself.
checks: { tests_really_fail: pass, tests_really_pass: pass }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [PLAN]
  evidence: { PLAN: [plan], TDD: [tests, test_run_result], IMPL: [changes, test_run_result], REVIEW: [review], COMPLETE: [report] }
  forbidden: { PLAN: [write_files, bash, git], TDD: [git, fetch], IMPL: [git, fetch], REVIEW: [write_files], COMPLETE: [write_files, bash] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { PLAN: Approve } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  # PLAN. A test without \`at\` begins where a run does.
  - name: nothing is written or run while the plan is made
    steps:
      - { tool: { tool: read_files, input: { path: ${yamlWord(code)} } } }
      - { tool: { tool: write_files, input: { path: ${yamlWord(code)} } }, expect: { code: tool_forbidden } }
      - { tool: { tool: bash, input: { command: ${run} } }, expect: { code: tool_forbidden } }
      - { tool: { tool: "mcp:notes/add" }, expect: { code: tool_not_allowed } }

  - name: a plan without paths is not a plan
    checks: { scope_is_bounded: fail }
    steps:
      - { agent: { complete: PLAN, evidence: { plan: *plan } }, expect: { code: check_failed, phase: PLAN } }

  - name: a plan with more than ten paths is sent back
    steps:
      - agent:
          complete: PLAN
          evidence:
            plan:
              summary: Rewrite everything there is
              scope: [a, b, c, d, e, f, g, h, i, j, k]
              acceptance_criteria: [{ id: AC-1, text: all of it is new }]
        expect: { code: check_failed, phase: PLAN, status: active }

  - name: a plan comes back with what the human wants different
    steps:
      - { agent: { complete: PLAN, evidence: { plan: *plan } }, expect: { status: waiting, phase: PLAN } }
      - { human: { choose: Request changes }, expect: { code: input_required, status: waiting } }
      - { human: { choose: Request changes, input: name the tests too }, expect: { status: active, phase: PLAN } }

  - { name: a human who rejects the plan ends the run, agent: honest, choose: { PLAN: Reject }, expect: { status: stopped, phase: null } }

  # TDD. With \`at\` an honest agent works up to there first, and the human approves its plan.
  - name: only tests are written before there are tests, and only they are run
    at: TDD
    steps:
      - { tool: { tool: write_files, input: { path: ${yamlWord(test)} } } }
      - { tool: { tool: write_files, input: { path: ${yamlWord(code)} } }, expect: { code: outside_write_scope } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: "mcp:notes/add" }, expect: { code: tool_not_allowed } }

  - name: tests that pass are not failing tests
    at: TDD
    steps:
      - { agent: { complete: TDD, evidence: { tests: *tests, test_run_result: *green } }, expect: { code: check_failed, phase: TDD } }

  - name: every criterion of the plan needs a test
    at: TDD
    steps:
      - agent: { complete: TDD, evidence: { tests: [{ name: another, file: ${yamlWord(test)}, criterion: AC-9 }], test_run_result: *red } }
        expect: { code: check_failed, phase: TDD }

  - name: tests that the engine does not see fail are not failing tests
    at: TDD
    checks: { tests_really_fail: fail }
    steps:
      - { agent: { complete: TDD, evidence: { tests: *tests, test_run_result: *red } }, expect: { code: check_failed, phase: TDD } }

  # IMPL
  - name: the tests stay as they are while they are made to pass
    at: IMPL
    steps:
      - { tool: { tool: write_files, input: { path: ${yamlWord(code)} } } }
${testsAreDenied(layout)}
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: outside_write_scope } }
      - { tool: { tool: bash, input: { command: curl example.com } }, expect: { code: tool_constraint } }
      - { tool: { tool: "mcp:notes/add" }, expect: { code: tool_not_allowed } }

  - name: a test that fails is not made to pass by saying so
    at: IMPL
    steps:
      - agent: { complete: IMPL, evidence: { changes: ${listOf([code])}, test_run_result: *red, commands_executed: ${listOf([command])} } }
        expect: { code: check_failed, phase: IMPL }

  - name: a test that is skipped shows nothing
    at: IMPL
    steps:
      - agent:
          complete: IMPL
          evidence:
            changes: ${listOf([code])}
            test_run_result: { command: ${run}, total: 1, passed: 0, failed: 0, skipped: 1 }
            commands_executed: ${listOf([command])}
        expect: { code: check_failed, phase: IMPL }

  - name: what the plan does not name is not changed
    at: IMPL
    steps:
      - agent: { complete: IMPL, evidence: { changes: [other.txt], test_run_result: *green, commands_executed: ${listOf([command])} } }
        expect: { code: check_failed, phase: IMPL }

  # A human approved the scope. An agent that hands in another plan beside its changes gets neither.
  - name: a plan handed in beside the changes replaces nothing a human approved
    at: IMPL
    steps:
      - agent:
          complete: IMPL
          evidence:
            changes: [other.txt]
            test_run_result: *green
            commands_executed: ${listOf([command])}
            plan: { summary: Something else entirely, scope: [other.txt], acceptance_criteria: [{ id: AC-1, text: none at all }] }
        expect: { code: undeclared_evidence, phase: IMPL, status: active }

  - name: tests that the engine does not see pass have not passed
    at: IMPL
    checks: { tests_really_pass: fail }
    steps:
      - agent: { complete: IMPL, evidence: { changes: ${listOf([code])}, test_run_result: *green, commands_executed: ${listOf([command])} } }
        expect: { code: check_failed, phase: IMPL }

  # REVIEW
  - name: the reviewer reads, and changes nothing
    at: REVIEW
    steps:
      - { tool: { tool: git, input: { command: git diff } } }
      - { tool: { tool: git, input: { command: git push } }, expect: { code: tool_constraint } }
      - { tool: { tool: write_files, input: { path: ${yamlWord(code)} } }, expect: { code: tool_forbidden } }
      - { tool: { tool: "mcp:notes/add" }, expect: { code: tool_not_allowed } }

  - name: a review without a decision does not count
    at: REVIEW
    checks: { review_is_complete: fail }
    steps:
      - { agent: { complete: REVIEW, evidence: { review: *approval } }, expect: { code: check_failed, phase: REVIEW } }

  - name: a thorough review reads every changed file
    at: IMPL
    steps:
      - agent: { complete: IMPL, evidence: { changes: ${listOf([code, test])}, test_run_result: *green, commands_executed: ${listOf([command])} } }
        expect: { phase: REVIEW }
      - agent:
          complete: REVIEW
          evidence:
            review: { decision: approved, summary: The tests were left out of this, files_read: ${listOf([code])}, findings: [] }
        expect: { code: check_failed, phase: REVIEW }

  - name: a review that wants changes goes back to the implementation
    at: REVIEW
    steps:
      - agent:
          complete: REVIEW
          evidence:
            review:
              decision: changes_requested
              summary: The empty title is forgotten
              files_read: ${listOf([code, test])}
              findings: [{ severity: MUST, text: An empty title throws }]
        expect: { phase: IMPL, status: active }

  - name: an approval with a finding that must be fixed does not count
    at: REVIEW
    steps:
      - agent:
          complete: REVIEW
          evidence:
            review:
              decision: approved
              summary: Good enough for today and tomorrow
              files_read: ${listOf([code, test])}
              findings: [{ severity: MUST, text: An empty title throws }]
        expect: { code: precondition_failed, phase: REVIEW }

  # COMPLETE
  - name: nothing is changed after the review
    at: COMPLETE
    steps:
      - { tool: { tool: write_files, input: { path: ${yamlWord(code)} } }, expect: { code: tool_forbidden } }
      - { tool: { tool: "mcp:notes/add" }, expect: { code: tool_not_allowed } }

  - name: the tests must still pass at the end
    at: COMPLETE
    steps:
      - agent: { complete: COMPLETE, evidence: { report: *report } }
        checks: { tests_really_pass: fail }
        expect: { code: check_failed, phase: COMPLETE }
`;
}
