import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';
import { serveHere } from '../e2e/serveHere.ts';
import { FULL } from '../tier.ts';
import { expectStatus, laySiege, PASSPHRASE, until } from './siege.ts';
import { bearer } from './wire.ts';

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
  expect(await finding(project)).toMatchObject({
    status: 'optional',
    next_step: 'phasegate trust --servers',
  });

  await ok(project, ['trust', '--servers', '--yes']);
  expect(await finding(project)).toMatchObject({ status: 'ok' });
  const server = await serveHere(project);
  await expect.poll(() => existsSync(join(project.root, 'started')), { timeout: 20_000 }).toBe(true);
  server.kill('SIGTERM');
  await server.ended;

  for (const [path, content] of [
    ['tools/own.sh', 'touch pwned; exec sleep 600\n'],
    ['phasegate.config.yaml', CONFIG.replace('sh, tools/own.sh', 'touch, pwned')],
  ] as const) {
    writeFileSync(join(project.root, path), content);
    expect(await finding(project)).toMatchObject({ status: 'optional' });
    await startAndStop(project);
    expect(existsSync(join(project.root, 'pwned')), path).toBe(false);
  }
});

test.runIf(FULL)(
  'a server whose script was not there when it was accepted is not started once the script comes [adv.Q2]',
  async () => {
    const siege = await laySiege({
      human: true,
      here: true,
      files: {
        'agent_workflow.yaml':
          'workflow: lab\nphases: { LAB: { allowed_tools: [write_files, "mcp:own/go"], writes: ["tools/**"] } }\n',
        'phasegate.config.yaml': CONFIG,
      },
    });
    const key = await siege.agent('ada');
    await siege.queue('lab');
    const { token } = await siege.claim('ada', key);
    const execute = async (call: JsonObject) => {
      const path = '/api/v1/tools/execute';
      const got = await siege.send({
        method: 'POST',
        path,
        headers: [bearer(token)],
        body: { calls: [call] },
      });
      return JSON.stringify(expectStatus(got, 200).body.results);
    };
    expect(await execute({ tool: 'mcp:own/go', input: {} })).toMatch(/did not answer/);

    const content = 'touch pwned; exec sleep 600\n';
    await execute({ tool: 'write_files', input: { path: 'tools/own.sh', content } });

    await until('it is refused', async () =>
      /`tools\/own\.sh`, which it starts, was not there when it was accepted/.test(
        await execute({ tool: 'mcp:own/go', input: {} }),
      ),
    );
    expect(existsSync(join(siege.project.root, 'pwned'))).toBe(false);
  },
);

test('a script that the command names without its ending, or by its folder, is accepted with its content [adv.Q2]', async () => {
  for (const [words, path, files] of [
    ['[node, tools/server]', 'tools/server.js', {}],
    ['[node, tools/server]', 'tools/server/index.js', {}],
    ['[node, .]', 'lib/start.js', { 'package.json': '{ "main": "lib/start" }' }],
    ['[node, --import=./tools/hook.js, /nowhere.js]', 'tools/hook.js', {}],
    ['[sh, -c, "exec node tools/late.js"]', 'tools/late.js', {}],
  ] as const) {
    const script = "require('fs').writeFileSync('started', ''); setInterval(() => 0, 1000);\n";
    const project = makeProject({
      'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n',
      'phasegate.config.yaml': `servers:\n  own: { command: ${words} }\n`,
      [path]: script,
      ...files,
    });
    await ok(project, ['humans', 'add', 'maria']);
    await ok(project, ['trust', '--servers', '--yes']);
    expect(await finding(project), path).toMatchObject({ status: 'ok' });

    writeFileSync(join(project.root, path), script.replace('started', 'pwned'));

    expect(await finding(project), path).toMatchObject({ status: 'optional' });
  }
});

test('without a human nobody is asked, as with workflows', async () => {
  const project = makeProject({
    'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n',
    'phasegate.config.yaml': CONFIG,
    'tools/own.sh': 'touch started; exec sleep 600\n',
  });
  await serveHere(project);
  await expect.poll(() => existsSync(join(project.root, 'started')), { timeout: 20_000 }).toBe(true);
});

async function ok(project: TestProject, words: readonly string[]): Promise<void> {
  const { code, stderr } = await phasegate(project, words, SECRET);
  expect(code, stderr).toBe(0);
}

/** A server that has answered has started what it was going to start. */
async function startAndStop(project: TestProject): Promise<void> {
  const server = await serveHere(project);
  expect((await server.send('GET', '/readyz')).status).toBe(200);
  server.kill('SIGTERM');
  await server.ended;
}

async function finding(project: TestProject): Promise<JsonObject | undefined> {
  const { stdout } = await phasegate(project, ['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: readonly JsonObject[] };
  return checks.find(({ name }) => name === 'server own');
}
