import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshSchema } from '../postgres/sharedServer.ts';
import { asProcess, makeProject, phasegate, type TestProject } from './cli.ts';
import { type Served, serve } from './server.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';

test('a node with other keys is refused by name before it serves, and let in with the keys of the others', async () => {
  const [one, other] = [
    makeProject({ 'agent_workflow.yaml': ERRAND }),
    makeProject({ 'agent_workflow.yaml': ERRAND }),
  ];
  const env = { PHASEGATE_DATABASE: await freshSchema() };
  const run = await startIn(one, env);

  const refused = await phasegate(other, ['runs', '--json'], { env });
  const served = await asProcess(other, ['serve', '--port', '0', '--json'], { env });

  expect(refused).toMatchObject({ code: 1, json: { error: 'store_unavailable' } });
  expect(refused.json.message).toContain('is sealed with other keys than those of this node');
  expect(refused.json.hint).toContain(join(other.stateDir, 'keys.json'));
  expect(served).toMatchObject({ code: 1, json: { message: refused.json.message } });

  shareKeys(one, other);
  const admitted = await phasegate(other, ['runs', '--json'], { env });
  expect(admitted).toMatchObject({ code: 0, json: { runs: [{ run }] } });
});

test('nodes take the tokens of each other, also when the secret is rotated while they serve', async () => {
  const [one, other] = [
    makeProject({ 'agent_workflow.yaml': ERRAND }),
    makeProject({ 'agent_workflow.yaml': ERRAND }),
  ];
  const env = { PHASEGATE_DATABASE: await freshSchema() };
  const run = await startIn(one, env);
  shareKeys(one, other);
  const nodes = [await serve(one, [], env), await serve(other, [], env)] as const;
  const added = await phasegate(one, ['agents', 'add', 'ada', '--json'], { env });
  const key = String(added.json.key);
  const before = await tokenOf(nodes[0], key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);

  expect(await checked(nodes[1], before)).toBe(200);
  const passphrase = 'open sesame';
  await phasegate(one, ['humans', 'add', 'maria'], { env, passphrase });
  expect((await phasegate(one, ['tokens', 'rotate'], { env, passphrase })).code).toBe(0);
  shareKeys(one, other);
  // A server looks at the file once in a while; only the newest two tokens of an epoch are good.
  let [old, fresh] = [before, before];
  const isSignedAnew = async () => {
    [old, fresh] = [fresh, await tokenOf(nodes[0], key, ['/api/v1/tasks/token', { task_id: run }])];
    return fresh.split('.')[0] !== old.split('.')[0];
  };
  await expect.poll(isSignedAnew, { timeout: 20_000 }).toBe(true);

  for (const node of nodes) {
    expect(await checked(node, old)).toBe(200);
    expect(await checked(node, fresh)).toBe(200);
  }
});

async function startIn(project: TestProject, env: Readonly<Record<string, string>>): Promise<string> {
  const started = await phasegate(project, ['start', 'errand', '--queue', '--json'], { env });
  return String(started.json.run);
}

function shareKeys(from: TestProject, to: TestProject): void {
  mkdirSync(to.stateDir, { recursive: true, mode: 0o700 });
  copyFileSync(join(from.stateDir, 'keys.json'), join(to.stateDir, 'keys.json'));
}

async function tokenOf(node: Served, key: string, [path, body]: [string, object]): Promise<string> {
  return String((await node.send('POST', path, { bearer: key, body })).body.phase_token);
}

async function checked(node: Served, token: string): Promise<number> {
  const body = { tool: 'read_files', input: { path: 'agent_workflow.yaml' } };
  return (await node.send('POST', '/api/v1/tools/check', { bearer: token, body })).status;
}
