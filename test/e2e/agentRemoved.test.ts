import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freshSchema } from '../postgres/sharedServer.ts';
import { begin, makeProject, phasegate } from './cli.ts';
import { serveHere } from './serveHere.ts';
import { measuresOf, shareKeys, startIn } from './twoNodes.ts';

const AGENT = fileURLToPath(new URL('./scriptedAgent.ts', import.meta.url));
const WORKFLOW = 'workflow: errand\nphases: { GO: { instructions: Go } }\n';
const LONG = { timeout: 30_000 };

test('an agent that is removed at one node ends at the other, with its program', async () => {
  const project = makeProject({ 'agent_workflow.yaml': WORKFLOW });
  const database = await freshSchema();
  const env = { PHASEGATE_DATABASE: database, PHASEGATE_MEASURES: measuresOf(project) };
  const run = await startIn(project, env);
  await serveHere({ ...project, env: { ...project.env, ...env } });
  const home = join(project.base, 'state-of-the-other');
  shareKeys(project, { stateDir: project.stateDir.replace(String(project.env.XDG_STATE_HOME), home) });
  const elsewhere = { env: { ...env, XDG_STATE_HOME: home } };
  const file = join(project.base, 'seen');
  const program = [process.execPath, AGENT, 'hang', file];
  const started = begin(project, ['agent', 'start', '--name', 'ada', '--json', '--', ...program], { env });
  await expect.poll(() => existsSync(file), LONG).toBe(true);
  const [{ name }] = (await phasegate(project, ['agents', '--json'], elsewhere)).json.agents as [
    { name: string },
  ];

  const removed = await phasegate(project, ['agents', 'remove', name], elsewhere);

  expect(removed).toMatchObject({ code: 0 });
  expect(await started.result).toMatchObject({ code: 1, json: { run, outcome: 'removed', starts: 1 } });
  const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
  expect(() => process.kill(pid, 0)).toThrow();
  expect((await phasegate(project, ['status', run, '--json'], elsewhere)).json.status).toBe('queued');
});
