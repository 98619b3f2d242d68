/** Contract tests of the two phases, which they show whole: an author changes them with the workflow. */
export const minimalContract = `# What must come of it, no matter who works: \`phasegate test minimal --coverage\` plays these tests, changes nothing, and says
# what they leave out.
evidence:
  PROPOSE:
    proposal: &proposal { summary: Titles become slugs, steps: [write slugify] }
  DO:
    report: &report { done: [wrote slugify], checked: npm test passes }

# What no change of the workflow may take away; the cheating agent tries to get around each.
demands:
  gates: [PROPOSE, DO]
  evidence: { PROPOSE: [proposal], DO: [report] }
  forbidden: { PROPOSE: [write_files, bash] }

tests:
  - { name: an honest agent gets to the end, agent: honest, choose: { PROPOSE: Approve, DO: Accept } }
  - { name: what is forgotten is asked for, agent: forgetful }
  - { name: nothing is to be had by cheating, agent: cheating }

  - name: a proposal that is rejected is made anew, with what the human wrote
    steps:
      - { agent: { complete: PROPOSE, evidence: { proposal: *proposal } }, expect: { status: waiting } }
      - { human: { choose: Reject }, expect: { code: input_required } }
      - { human: { choose: Reject, input: what about umlauts }, expect: { status: active, phase: PROPOSE } }

  # With \`at\` an honest agent works up to there first.
  - name: not even an approved change touches the workflow
    at: DO
    steps:
      - { tool: { tool: write_files, input: { path: src/slugify.js } } }
      - { tool: { tool: write_files, input: { path: README.md } }, expect: { code: outside_write_scope } }
      - { tool: { tool: write_files, input: { path: agent_workflow.yaml } }, expect: { code: outside_write_scope } }
      - { tool: { tool: fetch, input: {} }, expect: { code: tool_not_allowed } }

  - name: what is not done yet is worked on again
    at: DO
    steps:
      - { agent: { complete: DO, evidence: { report: *report } }, expect: { status: waiting } }
      - { human: { choose: Not yet }, expect: { code: input_required } }
      - { human: { choose: Not yet, input: the tests are missing }, expect: { status: active, phase: DO } }
`;
