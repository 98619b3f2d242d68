/** A kind of phase, shown as a whole workflow that can be started. */
export interface WorkflowExample {
  readonly title: string;
  readonly text: string;
  readonly yaml: string;
}

/** One for each kind of phase there is. */
export const WORKFLOW_EXAMPLES: readonly WorkflowExample[] = [
  {
    title: 'Instructions and evidence',
    text: 'The agent works, then submits named values. `required_artifacts` have a JSON Schema.',
    yaml: `workflow: notes
phases:
  WRITE:
    instructions: Write the notes of this week and submit where they are.
    required_evidence:
      file: { type: str, rule: non_empty, description: Path of the notes }
      words: { type: int, rule: positive }
    required_artifacts:
      - type: summary
        description: what was done and what is open
        schema: { type: object, required: [done, open], properties: { done: { type: string }, open: { type: array } } }
`,
  },
  {
    title: 'Tasks',
    text: 'Instructions in pieces. Each is fetched on its own, and the phase is not complete before all were.',
    yaml: `workflow: look
phases:
  READ:
    instructions: Read before you judge.
    tasks:
      - { name: Entry points, instructions: List every way into the program., acceptance_criteria: [Each names its file] }
      - { name: Secrets, instructions: Find where secrets are read. }
`,
  },
  {
    title: 'Tools and a write scope',
    text: 'What a phase does not allow is refused; what it forbids is refused first.',
    yaml: `workflow: tests_first
tools: { reading: [read_files, list_files, grep] }
phases:
  TESTS:
    instructions: Write a failing test. Do not touch the source.
    allowed_tools: [reading, write_files, bash, "mcp:tickets/read*"]
    forbidden_tools: [git, fetch]
    tool_constraints:
      write_files: { denied: ["test/fixtures/**"] }
      bash: { allowed: ["npm test", "npx vitest run **"] }
    writes: ["test/**"]
`,
  },
  {
    title: 'Checks',
    text: 'Before it is entered, when it is completed, and as blockers of a gate.',
    yaml: `workflow: release
gates:
  tested:
    blockers:
      - { check: command, with: { argv: [npm, test] }, verify: true, needs: observed, message: The tests must pass }
phases:
  NOTES:
    instructions: Write CHANGELOG.md and submit the number of \`breaking\` changes.
    preconditions: [{ check: files, with: { exist: [package.json] }, message: There is no package to release }]
    required_evidence: { breaking: { type: int } }
    postconditions: [{ check: files, with: { non_empty: [CHANGELOG.md] }, message: CHANGELOG.md is not written }]
    gate: tested
`,
  },
  {
    title: 'A human gate',
    text: 'The run waits until a human has chosen, or what `timeout` says happens.',
    yaml: `workflow: publish
phases:
  DRAFT:
    instructions: Write the article and submit \`article\`.
    required_artifacts: [article]
    gate:
      human:
        prompt: Publish this?
        context: [article.title]
        options:
          - { label: Publish }
          - { label: Rework, next: DRAFT, requires_input: true }
          - { label: Drop, next: null }
        approvers: [maria, joe]
        quorum: 1
        timeout: { after: 24h, then: park }
  SEND: { instructions: Send it to the printer. }
`,
  },
  {
    title: 'A condition, and a loop',
    text: 'The engine chooses the way, and counts how often it leads back.',
    yaml: `workflow: review
phases:
  FIX: { instructions: Make the change. }
  REVIEW:
    instructions: Review it and submit \`review\` with a \`decision\`.
    required_artifacts: [review]
    next: { condition: review.decision === "approved", on_true: null, on_false: FIX, max_iterations: 3, on_exhausted: GIVE_UP }
  GIVE_UP: { instructions: Write down what was tried., next: null }
`,
  },
  {
    title: 'Outcomes',
    text: 'The agent reports `ok`, `fail` or `iterate`, where there is a way for it.',
    yaml: `workflow: build
phases:
  BUILD:
    instructions: Make the build green.
    next: { ok: SHIP, fail: GIVE_UP, iterate: BUILD, max_iterations: 5 }
  SHIP: { instructions: Ship it., next: null }
  GIVE_UP: { instructions: Write down what was tried., next: null }
`,
  },
  {
    title: 'Parallel items',
    text: 'Once for each item of a list, by as many agents as there are.',
    yaml: `workflow: translate
phases:
  PLAN:
    instructions: Submit the \`languages\` to translate into.
    required_evidence: { languages: { type: list, rule: non_empty } }
  TRANSLATE:
    instructions: Translate the text into your language.
    parallel: true
    parallel_key: languages
    required_evidence: { text: { type: str, rule: non_empty } }
  CHECK: { instructions: Read all translations side by side. }
`,
  },
  {
    title: 'A queue',
    text: 'Who may claim a run, how long an agent may be silent, and how often the run is handed out again.',
    yaml: `workflow: migrate
capabilities: [postgres]
enforcement: { mode: strict, lease_seconds: 900, max_reclaims: 1, phase_tokens: { expiry_seconds: 3600 } }
params:
  table: { type: string, required: true }
phases:
  MIGRATE: { instructions: Migrate the table. }
  VERIFY: { instructions: Compare both sides. }
`,
  },
];
