import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { type Served, serve } from './server.ts';

/** Two real nodes of one project on one database. */
export interface TwoNodes {
  readonly project: TestProject;
  readonly env: Readonly<Record<string, string>>;
  readonly one: Served;
  readonly two: Served;
  /** The key of agent `ada`. */
  readonly key: string;
  /** Starts a node in the place of the second one, which has ended. */
  again(): Promise<Served>;
}

/** Serves a project with this workflow twice, each node with a state directory of its own and the same keys. */
export async function twoNodes(
  workflow: string,
  database: string,
  words: readonly string[] = [],
): Promise<TwoNodes> {
  const project = makeProject({ 'agent_workflow.yaml': workflow });
  const env = { PHASEGATE_DATABASE: database, PHASEGATE_MEASURES: measuresOf(project) };
  const added = await phasegate(project, ['agents', 'add', 'ada', '--json'], { env });
  const elsewhere = { ...env, XDG_STATE_HOME: join(project.base, 'state-of-the-other') };
  const other = project.stateDir.replace(String(project.env.XDG_STATE_HOME), elsewhere.XDG_STATE_HOME);
  shareKeys(project, { stateDir: other });
  const [one, two] = [await serve(project, words, env), await serve(project, words, elsewhere)];
  return {
    project,
    env,
    one,
    two,
    key: String(added.json.key),
    again: () => serve(project, words, elsewhere),
  };
}

/** Gives another state directory the keys of a project. */
export function shareKeys(from: Pick<TestProject, 'stateDir'>, to: Pick<TestProject, 'stateDir'>): void {
  mkdirSync(to.stateDir, { recursive: true, mode: 0o700 });
  copyFileSync(join(from.stateDir, 'keys.json'), join(to.stateDir, 'keys.json'));
}

/** Queues a run of the project. */
export async function startIn(project: TestProject, env: Readonly<Record<string, string>>): Promise<string> {
  const started = await phasegate(project, ['start', 'errand', '--queue', '--json'], { env });
  return String(started.json.run);
}

/** Asks a node for something that is answered with a token. */
export async function tokenOf(node: Served, key: string, [path, body]: [string, object]): Promise<string> {
  return String((await node.send('POST', path, { bearer: key, body })).body.phase_token);
}

/** A folder for measures that nodes of this project share, which an operator makes. */
export function measuresOf({ base }: Pick<TestProject, 'base'>): string {
  const folder = join(base, 'measures');
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}
