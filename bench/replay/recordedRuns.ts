import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, JsonObject, Phasegate, Principal } from '@phasegate/core';
import { decisionText } from '@phasegate/core/contract';
import { type OpenProject, openLocalProject, type Project, type UnlockedHuman } from 'phasegate';

/** A project whose store holds recorded runs of the workflow of `examples/tdd`. */
export interface RecordedRuns {
  readonly base: string;
  readonly project: Project;
  readonly opened: OpenProject;
  /** Writes the definition again, changed. */
  change(edit: (definition: string) => string): void;
}

const EXAMPLE = join(dirname(fileURLToPath(import.meta.url)), '../../examples/tdd');
const AGENT: Principal = { kind: 'agent', name: 'bench' };
const AT_ONCE = 32;

/** Walks so many runs through the real runtime on a SQLite store in a folder of its own. */
export async function recordRuns(count: number): Promise<RecordedRuns> {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-replay-'));
  const root = join(base, 'project');
  for (const path of ['agent_workflow.yaml', 'package.json', 'schemas', 'src']) {
    cpSync(join(EXAMPLE, path), join(root, path), { recursive: true });
  }
  const file = join(root, 'agent_workflow.yaml');
  // Running tests three times for each run would be the benchmark of something else; looking at a file is a look, too.
  const definition = readFileSync(file, 'utf8')
    .replaceAll(
      /check: (?:command|tests)\n {8}with:\n(?: {10}.*\n)+(?: {8}#.*\n)*(?: {8}verify: true\n)?/g,
      'check: files\n        with: { exist: [package.json] }\n',
    )
    .replace(', non_empty: ["src/**", "test/**"]', '')
    // Several are recorded at a time.
    .replace(/^enforcement:\n/m, 'enforcement:\n  workspace: shared\n');
  writeFileSync(file, definition);
  const env = { HOME: base, XDG_STATE_HOME: join(base, 'state') };
  const project = await openLocalProject({ projectDir: root, env });
  const opened = await project.open();
  await opened.humans.add('maria', 'a passphrase for a benchmark', null);
  const human = await opened.humans.unlock('maria', 'a passphrase for a benchmark');
  await opened.trust.workflows.accept('tdd', (await opened.trust.workflows.card('tdd')).closure, human);
  let next = 0;
  const worker = async () => {
    while (next < count) await walk(opened, human, next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return {
    base,
    project,
    opened,
    change: (edit) => writeFileSync(file, edit(definition)),
  };
}

/** One run: refused once or twice, sent back by the human or the review now and then, mostly to its end. */
async function walk(opened: OpenProject, human: UnlockedHuman, index: number): Promise<void> {
  const agent = opened.as(AGENT);
  const { view } = await agent.start({ workflow: 'tdd' });
  if (view === null) throw new Error('a run did not start');
  const { run } = view;
  const submit = (command: Command) => agent.submit(run, command);
  const complete = (phase: string, evidence: JsonObject) => submit({ kind: 'complete', phase, evidence });
  const plan = async () => {
    for (const task of [1, 2]) await submit({ kind: 'fetch_task', phase: 'PLAN', task });
    await complete('PLAN', { plan: PLAN });
  };
  await complete('PLAN', { plan: { summary: 'short' } });
  await useTools(agent, run);
  await plan();
  if (index % 10 === 3) {
    await choose(opened, human, { run, option: 'Request changes', input: 'name the tests' });
    await plan();
  }
  await choose(opened, human, { run, option: index % 20 === 7 ? 'Reject' : 'Approve', input: null });
  if (index % 20 === 7) return;
  if (index % 5 === 0) await complete('TDD', { tests: TESTS, test_run_result: ran(0) });
  await complete('TDD', { tests: TESTS, test_run_result: ran(1) });
  const review = async (decision: string) => {
    await useTools(agent, run);
    await complete('IMPL', {
      changes: ['src/slugify.js'],
      test_run_result: ran(0),
      commands_executed: ['npm test'],
    });
    await submit({ kind: 'fetch_task', phase: 'REVIEW', task: 1 });
    await complete('REVIEW', { review: { ...REVIEW, decision } });
  };
  if (index % 4 === 1) await review('changes_requested');
  await review('approved');
  const { view: last } = await complete('COMPLETE', { report: REPORT });
  if (last.status !== 'completed') throw new Error(`run ${run} is ${last.status} in ${last.phase}`);
}

async function useTools(agent: Phasegate, run: string): Promise<void> {
  await agent.judgeTool(run, { tool: 'grep', input: { path: 'src' } });
  await agent.judgeTool(run, { tool: 'write_files', input: { path: 'src/slugify.js', content: 'x' } });
}

async function choose(
  opened: OpenProject,
  human: UnlockedHuman,
  { run, option, input }: { readonly run: string; readonly option: string; readonly input: string | null },
): Promise<void> {
  const card = await opened.gateCard(run);
  if (card === null) throw new Error(`run ${run} waits at no gate`);
  const { gate, shown } = card;
  const by = human.principal.name;
  const signature = human.sign(decisionText({ run, gate, option, input, shown, by }));
  const said = input === null ? {} : { input };
  const decision = { kind: 'decide' as const, gate, option, shown, signature, ...said };
  await opened.as(human.principal).submit(run, decision);
}

function ran(failed: number): JsonObject {
  return { command: 'npm test', total: 1, passed: 1 - failed, failed, skipped: 0 };
}

const PLAN = {
  summary: 'Write `slugify` in src/slugify.js, which so far gives titles back as they are',
  scope: ['src/slugify.js', 'test/slugify.test.js'],
  acceptance_criteria: [{ id: 'AC-1', text: 'words become lower case and are joined by hyphens' }],
};
const TESTS = [{ name: 'AC-1 joined by hyphens', file: 'test/slugify.test.js', criterion: 'AC-1' }];
const REVIEW = {
  summary: 'The change does what the plan says, and its criterion has a test that shows it',
  files_read: ['src/slugify.js', 'test/slugify.test.js'],
  findings: [],
};
const REPORT = { summary: 'Titles now become slugs: lower case and hyphens', follow_ups: [] };
