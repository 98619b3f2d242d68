import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';
import { serve } from '../e2e/server.ts';
import { PASSPHRASE } from './siege.ts';

const SECRET = { passphrase: PASSPHRASE };
const CONFIG = 'servers:\n  own: { command: [sh, tools/own.sh] }\n';

test('a server that the config names is started only as a human accepted it, script included [adv.Q2]', async () => {
  const project = makeProject({
    'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n',
    'phasegate.config.yaml': CONFIG,
    'tools/own.sh': 'touch started; exec sleep 600\n',
  });
  await ok(project, ['humans', 'add', 'maria']);
  await ok(project, ['trust', 'lab', '--yes']);
  await startAndStop(project);
  expect(existsSync(join(project.root, 'started'))).toBe(false);
  expect(await finding(project)).toMatchObject({ status: 'missing', next_step: 'phasegate trust --servers' });

  await ok(project, ['trust', '--servers', '--yes']);
  expect(await finding(project)).toMatchObject({ status: 'ok' });
  const server = await serve(project);
  await expect.poll(() => existsSync(join(project.root, 'started')), { timeout: 20_000 }).toBe(true);
  server.kill('SIGTERM');
  await server.ended;

  for (const [path, content] of [
    ['tools/own.sh', 'touch pwned; exec sleep 600\n'],
    ['phasegate.config.yaml', CONFIG.replace('sh, tools/own.sh', 'touch, pwned')],
  ] as const) {
    writeFileSync(join(project.root, path), content);
    expect(await finding(project)).toMatchObject({ status: 'missing' });
    await startAndStop(project);
    expect(existsSync(join(project.root, 'pwned')), path).toBe(false);
  }
});

test('without a human nobody is asked, as with workflows', async () => {
  const project = makeProject({
    'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n',
    'phasegate.config.yaml': CONFIG,
    'tools/own.sh': 'touch started; exec sleep 600\n',
  });
  await serve(project);
  await expect.poll(() => existsSync(join(project.root, 'started')), { timeout: 20_000 }).toBe(true);
});

async function ok(project: TestProject, words: readonly string[]): Promise<void> {
  const { code, stderr } = await phasegate(project, words, SECRET);
  expect(code, stderr).toBe(0);
}

/** A server that has answered has started what it was going to start. */
async function startAndStop(project: TestProject): Promise<void> {
  const server = await serve(project);
  expect((await server.send('GET', '/readyz')).status).toBe(200);
  server.kill('SIGTERM');
  await server.ended;
}

async function finding(project: TestProject): Promise<JsonObject | undefined> {
  const { stdout } = await phasegate(project, ['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: readonly JsonObject[] };
  return checks.find(({ name }) => name === 'server own');
}
