import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { expectStatus, laySiege, type Siege } from './siege.ts';
import { bearer } from './wire.ts';

const FILES = {
  'narrow.workflow.yaml': `
workflow: narrow
enforcement: { workspace: shared }
phases:
  A: { allowed_tools: [write_files, bash], writes: ["src/**"] }
  B: { instructions: more }
`,
  'wide.workflow.yaml': `
workflow: wide
enforcement: { workspace: shared }
phases:
  A: { allowed_tools: [write_files], writes: ["**"] }
  B: { instructions: more }
`,
  'review.workflow.yaml': `
workflow: review
phases:
  A: { allowed_tools: [read_files] }
  B: { instructions: more }
`,
  'plain.workflow.yaml': `
workflow: plain
phases:
  A: { allowed_tools: [write_files], writes: ["**"] }
  B: { instructions: more }
`,
  'items.workflow.yaml': `
workflow: items
enforcement: { workspace: shared }
phases:
  PLAN:
    allowed_tools: [write_files]
    writes: ["src/**"]
    required_evidence: { list: { type: list, rule: non_empty } }
    gate: { human: { prompt: Go on?, options: [{ label: Go }, { label: Stop, next: null }] } }
  EACH: { allowed_tools: [write_files], writes: ["src/**"], parallel: true, parallel_key: list }
  END: { instructions: more }
`,
  'package.json': '{}\n',
  'src/a.txt': 'a\n',
};

test('another agent’s allowed call excuses what it wrote, and nothing else', async () => {
  const siege = await laySiege({ files: FILES, here: true });
  const [ada, bob] = [await siege.agent('ada'), await siege.agent('bob')];
  await siege.queue('narrow');
  const mine = await siege.claim('ada', ada);
  await siege.queue('wide');
  const other = await siege.claim('bob', bob);

  await write(siege, other.token, 'package.json');
  const excused = await complete(siege, mine.token);
  await siege.queue('narrow');
  const again = await siege.claim('ada', ada);
  await write(siege, other.token, 'package.json');
  // Written once more, past Phasegate, after the call that is on record.
  await until50();
  appendFileSync(join(siege.project.root, 'package.json'), 'x');
  const refused = await complete(siege, again.token);

  expect(excused.status).toBe(200);
  expect(refused).toMatchObject({ status: 409, body: { error: 'scope_violation' } });
  expect(JSON.stringify(refused.body)).toContain('`package.json` was changed');
});

test('an agent that holds a second run with a wider scope excuses nothing with it', async () => {
  const siege = await laySiege({ files: FILES, here: true });
  const ada = await siege.agent('ada');
  await siege.queue('narrow');
  const mine = await siege.claim('ada', ada);
  await siege.queue('wide');
  const wider = await siege.claim('ada', ada);

  await write(siege, wider.token, 'package.json');
  const refused = await complete(siege, mine.token);

  expect(refused).toMatchObject({ status: 409, body: { error: 'scope_violation' } });
});

test.each([
  ['narrow', 'wide'],
  ['review', 'plain'],
])('nor by giving the first one back and taking it again (%s beside %s)', async (first, second) => {
  const siege = await laySiege({ files: FILES, here: true });
  const ada = await siege.agent('ada');
  await siege.queue(first);
  const mine = await siege.claim('ada', ada);
  await siege.queue(second);
  const wider = await siege.claim('ada', ada);
  await write(siege, wider.token, 'package.json');
  const path = '/api/v1/tasks/release';
  const given = { method: 'POST', path, headers: [bearer(ada)], body: { task_id: mine.run } };
  expectStatus(await siege.send(given), 200);
  const again = await siege.claim('ada', ada);

  expect(again.run).toBe(mine.run);
  expect(await complete(siege, again.token)).toMatchObject({
    status: 409,
    body: { error: 'scope_violation' },
  });
});

test('nor by taking an item of it for the first time afterwards', async () => {
  const siege = await laySiege({ files: FILES, here: true, human: true });
  const ada = await siege.agent('ada');
  await siege.queue('items');
  const { run, token } = await siege.claim('ada', ada);
  expectStatus(await complete(siege, token, { list: ['x', 'y'] }), 202);
  const { gate = null, shown = null } = (await siege.ask('GET', `/runs/${run}/gate`)).body;
  expectStatus(await siege.ask('POST', `/runs/${run}/decisions`, { gate, shown, option: 'Go' }), 200);
  const wider = await claimRun(siege, ada, await siege.queue('wide'));
  await write(siege, String(wider.phase_token), 'package.json');
  const item = await siege.claim('ada', ada);

  const refused = await complete(siege, item.token);

  expect(item.run).toBe(run);
  expect(refused).toMatchObject({ status: 409, body: { error: 'scope_violation' } });
});

test('a call that is over takes no file away: one that is gone since is nobody’s', async () => {
  const siege = await laySiege({ files: FILES, here: true });
  const [ada, bob] = [await siege.agent('ada'), await siege.agent('bob')];
  await siege.queue('narrow');
  const mine = await siege.claim('ada', ada);
  await siege.queue('wide');
  const other = await siege.claim('bob', bob);
  await write(siege, other.token, 'package.json');
  rmSync(join(siege.project.root, 'package.json'));

  const refused = await complete(siege, mine.token);

  expect(refused).toMatchObject({ status: 409, body: { error: 'scope_violation' } });
  expect(JSON.stringify(refused.body)).toContain('`package.json` was removed');
});

test('a change is named with the call that made it, where the audit knows', async () => {
  const siege = await laySiege({ files: FILES, here: true });
  const ada = await siege.agent('ada');
  await siege.queue('narrow');
  const { token } = await siege.claim('ada', ada);

  await execute(siege, token, { tool: 'bash', input: { command: 'echo x >> package.json' } });
  const refused = await complete(siege, token);

  expect(JSON.stringify(refused.body)).toMatch(
    /`package\.json` was changed \(during `bash` `echo x >> package\.json`, record \d+\)/,
  );
});

/** The clock that dates files goes in steps, and a call is taken to last a step longer. */
async function until50(): Promise<void> {
  const until = Date.now() + 60;
  while (Date.now() < until) await new Promise((resolve) => setImmediate(resolve));
}

async function write(siege: Siege, token: string, path: string): Promise<void> {
  const [result] = await execute(siege, token, {
    tool: 'write_files',
    input: { path, content: `${Math.random()}` },
  });
  expect(result).toMatchObject({ allowed: true, result: { ok: true } });
}

async function execute(siege: Siege, token: string, call: JsonObject): Promise<readonly JsonObject[]> {
  const sent = {
    method: 'POST',
    path: '/api/v1/tools/execute',
    headers: [bearer(token)],
    body: { calls: [call] },
  };
  return expectStatus(await siege.send(sent), 200).body.results as readonly JsonObject[];
}

async function claimRun(siege: Siege, key: string, run: string): Promise<JsonObject> {
  const path = '/api/v1/tasks/claim';
  const body = { agent_id: 'ada', task_id: run };
  return expectStatus(await siege.send({ method: 'POST', path, headers: [bearer(key)], body }), 200).body;
}

function complete(siege: Siege, token: string, artifacts: JsonObject = {}) {
  return siege.send({
    method: 'POST',
    path: '/api/v1/tasks/transition',
    headers: [bearer(token)],
    body: { artifacts },
  });
}
