import { cpSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import {
  type Called,
  type CallOptions,
  copyOf,
  makeProject,
  phasegate,
  type TestProject,
  withShown,
} from './cli.ts';
import { using } from './rawDatabase.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/w1-editing', import.meta.url));
const SECRET = 'open sesame';

/** Makes a project whose human has accepted its workflows. */
export async function makeTrusted(files: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  const project = withNode(makeProject(files));
  await asHuman(project, ['init', '--template', 'minimal', '--name', 'maria', '--yes']);
  return project;
}

/** A copy with the same state, whose commands find the `node` that runs this. */
export function copyTrusted(project: TestProject): TestProject {
  return withNode(copyOf(project));
}

/** The project of examples/w1-editing, with a human who trusts it. */
export async function makeBook(): Promise<TestProject> {
  const project = await makeTrusted();
  for (const path of [
    '.gitignore',
    'w1.workflow.ts',
    'analysis.json',
    'commands',
    'migrations',
    'scenarios',
  ]) {
    cpSync(join(EXAMPLE, path), join(project.root, path), { recursive: true });
  }
  // What tests change under a run is no step's work.
  project.write('.gitignore', 'data/\nscenarios/\n');
  await asHuman(project, ['trust', 'w1_editing', '--yes']);
  return project;
}

/** Calls a human's verb. */
export async function asHuman(project: TestProject, words: readonly string[]): Promise<Called> {
  const said = words[0] === 'decide' ? await withShown(project, words) : words;
  const done = await phasegate(project, said, { passphrase: SECRET });
  expect(done.stderr + done.stdout, words.join(' ')).not.toContain('error');
  expect(done.code, done.stderr).toBe(0);
  return done;
}

/** The words that start editing with a scenario: the name of one of the example's, or rules. */
export function edit(project: TestProject, scenario: string | readonly object[]): readonly string[] {
  const path = typeof scenario === 'string' ? `scenarios/${scenario}.json` : 'scenarios/test.json';
  if (typeof scenario !== 'string') project.write(path, JSON.stringify(scenario));
  const params = {
    book: 'moby-dick',
    analysisPath: 'analysis.json',
    previousVersionId: 'v1',
    scenario: path,
  };
  return [
    'run',
    'w1_editing',
    ...Object.entries(params).flatMap(([key, value]) => ['--param', `${key}=${value}`]),
  ];
}

/** Starts a run that does nothing yet, so that its id is known whatever becomes of it. */
export async function started(project: TestProject, scenario: readonly object[]): Promise<string> {
  const words = edit(project, scenario).map((word) => (word === 'run' ? 'start' : word));
  const { json } = await phasegate(project, [...words, '--json']);
  return String(json.run);
}

/** Drives with `--json`, without a terminal: what was reported, and what came of it. */
export async function drive(
  project: TestProject,
  words: readonly string[],
  options: CallOptions = {},
): Promise<Drive> {
  const call = await phasegate(project, [...words, '--json'], options);
  const events = call.stderr.split('\n').flatMap((line): readonly RunEvent[] => {
    return line.startsWith('{') ? [JSON.parse(line)] : [];
  });
  return Object.assign(call, { events, run: String(events[0]?.run) });
}

/** What driving a run came to. */
export interface Drive extends Called {
  readonly events: readonly RunEvent[];
  /** The run that was started, or is resumed. */
  readonly run: string;
}

/** One line of progress. */
export type RunEvent = Readonly<Record<string, unknown>>;

/** The steps and items that were accepted, in order. */
export function accepted(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap(({ event, accepted: ok, phase, item }) => {
    if (event !== 'step_ended' || ok !== true) return [];
    return [item === null ? String(phase) : `${phase} [${item}]`];
  });
}

/** All rows of the project's own database, by table; the run's id is left out, as it is another each time. */
export function tablesOf(project: TestProject, run: string): Readonly<Record<string, readonly unknown[]>> {
  const database = new DatabaseSync(join(project.root, 'data/book.db'));
  try {
    const names = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'phasegate_migrations'")
      .all()
      .map(({ name }) => String(name));
    const rows = (name: string) =>
      database
        .prepare(`SELECT * FROM ${name}`)
        .all()
        .map((row) => JSON.stringify(row).replaceAll(run, 'RUN'));
    return Object.fromEntries(names.map((name) => [name, rows(name)]));
  } finally {
    database.close();
  }
}

/** What a step left unfinished in the project's own database. */
export function halfDone(project: TestProject): readonly unknown[] {
  const database = new DatabaseSync(join(project.root, 'data/book.db'));
  try {
    return database.prepare('SELECT step, item FROM work WHERE finished = 0').all();
  } finally {
    database.close();
  }
}

/** The checkpoint as it lies in the state. */
export function checkpointIn(project: TestProject, run: string): Readonly<Record<string, unknown>> {
  const row = using(project, (database) =>
    database.prepare('SELECT checkpoint_json FROM workflow_runs WHERE id = ?').get(run),
  );
  return JSON.parse(String(row?.checkpoint_json));
}

function withNode(project: TestProject): TestProject {
  const PATH = [dirname(process.execPath), project.env.PATH].join(delimiter);
  return { ...project, env: { ...project.env, PATH } };
}
