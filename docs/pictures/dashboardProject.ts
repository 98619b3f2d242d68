import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { openLocalServer } from '../../packages/phasegate/src/localServer.ts';
import type { RunningServer } from '../../packages/phasegate/src/runtime/ports.ts';
import { makeShell, type Shell } from '../../packages/phasegate/src/surfaces/cli/fixtures/callCli.ts';

/** The passphrase of the humans of the project. */
export const PASSPHRASE = 'open sesame';

/** A project with runs in every state, and its server: for pictures of the dashboard, and for tests of its pages. */
export interface DashboardProject {
  readonly shell: Shell;
  readonly server: RunningServer;
  /** Runs by what they show. */
  readonly runs: Readonly<
    Record<'gate' | 'questions' | 'escalated' | 'working' | 'parallel' | 'done', string>
  >;
}

/** Makes it. */
export async function openDashboardProject(): Promise<DashboardProject> {
  const shell = makeShell({
    'release.workflow.yaml': RELEASE,
    'feature.workflow.yaml': FEATURE,
    'translate.workflow.yaml': TRANSLATE,
    'broken.workflow.yaml': BROKEN,
  });
  mkdirSync(join(shell.root, 'docs'));
  await shell.callAs(PASSPHRASE, ['humans', 'add', 'maria']);
  const joe = String(shell.descriptor(`${PASSPHRASE}\n`));
  await shell.callAs(PASSPHRASE, ['humans', 'add', 'joe', '--role', 'approver', '--new-passphrase-fd', joe]);
  for (const workflow of ['release', 'feature', 'translate'])
    await shell.callAs(PASSPHRASE, ['trust', workflow, '--yes', '--as', 'maria']);
  const runs = await startRuns(shell);
  const project = await openLocalProject({ projectDir: shell.root, env: shell.env });
  const server = await openLocalServer({ project, port: 0, log: () => undefined });
  await callTools(server, runs.working);
  return { shell, server, runs };
}

async function startRuns(shell: Shell): Promise<DashboardProject['runs']> {
  const start = async (workflow: string, goal: string, more: readonly string[] = []) =>
    String((await shell.call(['start', workflow, goal, '--json', ...more])).json().run);
  const done = (run: string, evidence: object = {}) =>
    shell.call(['done', run, '--evidence', '-'], JSON.stringify(evidence));

  const finished = await start('feature', 'Add a subtract function to the calculator');
  await done(finished, { plan: PLAN });
  await decide(shell, finished, 'Approve');
  await done(finished, { report: 'two tests fail as they should' });
  await done(finished, { report: 'all tests pass' });
  await done(finished, { verdict: 'changes', notes: 'the empty list is not handled' });
  await done(finished, { report: 'the empty list is handled' });
  await done(finished, { verdict: 'approved', notes: 'reads well' });

  for (const goal of ['Round to two digits', 'Parse numbers with a comma', 'Print the history'])
    await start('feature', goal, ['--queue']);
  const stopped = await start('feature', 'Support Roman numerals');
  await shell.callAs(PASSPHRASE, ['stop', stopped, '--reason', 'nobody needs it', '--as', 'maria']);

  const escalated = await start('release', 'Publish 1.3');
  await done(escalated, { notes: { summary: 'Fixes' } });
  await done(escalated, { notes: { summary: 'Fixes' } });

  const questions = await start('feature', 'Store the history in a database');
  await shell.call(
    ['ask', questions, '-'],
    JSON.stringify([
      { text: 'Which database should it use?', options: ['SQLite', 'PostgreSQL'] },
      { text: 'Keep the history for how long?', options: ['30 days', 'for ever'] },
    ]),
  );

  const parallel = await start('translate', 'Translate the manual');
  await done(parallel, { languages: ['de', 'fr', 'pt', 'ja'] });
  await shell.call(['done', parallel, '--item', 'de', '--evidence', '-'], '{"text":"Handbuch"}');

  const working = await start('feature', 'Show results in scientific notation');
  await done(working, { plan: PLAN });
  await decide(shell, working, 'Approve');

  shell.write('docs/notes.md', OLD_NOTES);
  const gate = await start('release', 'Publish 1.4');
  shell.write('docs/notes.md', NEW_NOTES);
  shell.write('docs/upgrading.md', '# From 1.3 to 1.4\n\nNothing has to be changed.\n');
  writeFileSync(join(shell.root, 'docs/logo.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]));
  await done(gate, { notes: { summary: 'Subtraction, and two fixes', breaking: false } });
  return { gate, questions, escalated, working, parallel, done: finished };
}

/** What an agent tries in the phase that writes tests: some of it is allowed, and some is not. */
async function callTools({ open }: RunningServer, run: string): Promise<void> {
  const agent = open.as({ kind: 'agent', name: 'local' });
  for (const [tool, input] of CALLS) await agent.judgeTool(run, { tool, input });
}

const CALLS = [
  ['read_files', { path: 'src/calculator.ts' }],
  ['write_files', { path: 'test/scientific.test.ts' }],
  ['bash', { command: 'npm test' }],
  ['write_files', { path: 'src/calculator.ts' }],
  ['write_files', { path: 'src/format.ts' }],
  ['fetch', { url: 'https://example.com/answers' }],
  ['read_files', { path: 'test/calculator.test.ts' }],
] as const;

async function decide(shell: Shell, run: string, option: string): Promise<void> {
  await shell.callAs(PASSPHRASE, [
    'decide',
    run,
    '--option',
    option,
    '--shown',
    await shell.shown(run),
    '--as',
    'maria',
  ]);
}

const OLD_NOTES = `# Notes

## 1.3

- Numbers are rounded to the nearest even digit.
- The manual has a page on history.

## 1.2

- The first release that others used.
`;

const NEW_NOTES = OLD_NOTES.replace(
  '# Notes\n',
  '# Notes\n\n## 1.4\n\n- Subtraction.\n- An empty list is 0.\n',
).replace('nearest even digit', 'nearest digit, ties to even');

const PLAN = {
  summary: 'Write the failing test first, then the function, then the page of the manual',
  files: ['src/calculator.ts', 'test/calculator.test.ts', 'docs/manual.md'],
};

const RELEASE = `workflow: release
title: Release
description: Notes that a human has read, and a tag.
enforcement: { workspace: shared }
phases:
  DRAFT:
    instructions: Write the notes for this release in docs/.
    allowed_tools: [read_files, write_files]
    writes: ["docs/**"]
    required_artifacts: [{ type: notes, schema: { type: object, required: [summary] } }]
    gate:
      blockers:
        - { check: files, with: { non_empty: ["docs/*.md"] }, message: the notes are not written }
      human:
        prompt: Publish these notes?
        approvers: [maria, joe]
        quorum: 2
        timeout: { after: 24h, then: park }
        options:
          - { label: Publish }
          - { label: Rework, next: DRAFT, requires_input: true }
          - { label: Drop, next: null }
  PUBLISH:
    instructions: Tag the release.
    allowed_tools: [git]
    writes: []
`;

const FEATURE = `workflow: feature
title: Feature
description: A plan that a human approves, tests that fail, code that makes them pass, and a review.
enforcement: { workspace: shared }
phases:
  PLAN:
    instructions: Say what you will change, and how it will be tested.
    allowed_tools: [read_files, grep]
    writes: []
    required_artifacts: [{ type: plan, schema: { type: object, required: [summary] } }]
    gate:
      human:
        prompt: Is this the right plan?
        options: [{ label: Approve }, { label: Rework, next: PLAN, requires_input: true }]
  TESTS:
    instructions: Write tests that fail.
    allowed_tools: [read_files, write_files, bash]
    writes: ["test/**"]
    required_evidence: { report: { type: str } }
  CODE:
    instructions: Make them pass.
    allowed_tools: [read_files, write_files, bash]
    writes: ["src/**"]
    required_evidence: { report: { type: str } }
  REVIEW:
    instructions: Read it as a stranger would.
    allowed_tools: [read_files, grep]
    forbidden_tools: [write_files]
    writes: []
    required_evidence: { verdict: { type: str }, notes: { type: str } }
    next: { condition: result.verdict === "approved", on_true: null, on_false: CODE, max_iterations: 3 }
`;

const TRANSLATE = `workflow: translate
title: Translate
description: One text in many languages, side by side.
enforcement: { workspace: shared }
phases:
  CHOOSE:
    instructions: Name the languages.
    writes: []
    required_evidence: { languages: { type: list } }
  TRANSLATE:
    instructions: Translate into this language.
    writes: []
    parallel: true
    parallel_key: languages
    required_evidence: { text: { type: str } }
`;

const BROKEN = `workflow: broken
phases:
  DRAFT:
    allowedtools: [read_files]
    next: { ok: NOWHERE }
`;
