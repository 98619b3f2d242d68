import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { cases, FULL } from '../tier.ts';
import { expectStatus, laySiege, type Siege, textAt } from './siege.ts';
import { bearer, type Got } from './wire.ts';

const FILES = {
  'agent_workflow.yaml': `workflow: errand
phases:
  WORK:
    allowed_tools: [read_files]
    required_artifacts:
      - type: report
        schema: { type: object, properties: { id: { type: string, pattern: "^(a+)+$" }, areas: { type: array } } }
  EACH: { parallel: true, parallel_key: report.areas }
  DONE: {}
`,
  'shell.workflow.yaml':
    'workflow: shell\nenforcement: { workspace: shared }\nphases: { WORK: { allowed_tools: [bash] } }\n',
  'proven.workflow.yaml': `workflow: proven
enforcement: { workspace: shared }
phases:
  WORK:
    writes: ["src/**"]
    postconditions:
      - { check: command, with: { argv: [node, -e, "for (const end = Date.now() + 200; Date.now() < end; );"] }, needs: verified, message: It must hold }
  DONE: {}
`,
  'lines.txt': '\n'.repeat(1_900_000),
};
const { works } = (await findBubblewrap()).state;
const ROUNDS = cases({ quick: 5, full: 30 });
const MEGABYTE = 1024 * 1024;

let siege: Siege;
let honest: string;
let mallory: string;
const statuses: number[] = [];

beforeAll(async () => {
  siege = await laySiege({ files: FILES, human: true });
  [honest, mallory] = [await siege.agent('honest'), await siege.agent('mallory')];
});

// The design sets this limit: ten times what the same calls took before the attack, on the same server.
test.runIf(FULL)(
  'honest agents and a human go on beside an agent that sends every attack in a loop [adv.O1 adv.O2 adv.O3 adv.O4 adv.O5]',
  async () => {
    const attacks = attacksOf(mallory, await mcpSession(mallory));
    await expectUnmoved(async (isOver) => {
      let sent = 0;
      while (!isOver()) for (const attack of attacks) sent += await attack();
      return sent;
    });
  },
  180_000,
);

// Starting a program keeps the whole server waiting, however short the program is.
test.runIf(FULL)(
  'honest agents and a human go on beside an agent that runs programs in a loop [adv.O5]',
  async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => taken('mallory', mallory, 'shell')));
    await expectUnmoved(async (isOver) => {
      const sent = tokens.map(async (token) => {
        let count = 0;
        for (; !isOver(); count += 1)
          expectStatus(
            await post('/tools/execute', token, { tool: 'bash', input: { command: 'true' } }),
            200,
          );
        return count;
      });
      return (await Promise.all(sent)).reduce((sum, count) => sum + count, 0);
    });
  },
  180_000,
);

// Each is a copy of the tree, a sandbox and a program that keeps a processor busy.
test.runIf(FULL && works)(
  'honest agents, verifications of their own and a human go on beside an agent that has much verified (bubblewrap) [adv.O5]',
  async () => {
    const rooms = join(siege.project.stateDir, 'rooms');
    let most = 0;
    let mine = 0;
    await expectUnmoved(async (isOver) => {
      const verify = async (name: string, key: string) => {
        let count = 0;
        while (!isOver()) {
          const token = await taken(name, key, 'proven');
          const { body } = expectStatus(await post('/tasks/transition', token, { artifacts: {} }), 200);
          expect(body, JSON.stringify(body)).toMatchObject({ phase_token: expect.any(String) });
          count += 1;
          most = Math.max(most, readdirSync(rooms).length);
        }
        return count;
      };
      const attack = Array.from({ length: 16 }, () => verify('mallory', mallory));
      const [own, ...sent] = await Promise.all([verify('honest', honest), ...attack]);
      mine = own;
      return sent.reduce((sum, count) => sum + count, 0);
    });

    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(Math.max(2, Math.floor(availableParallelism() / 2)));
    // One of seventeen, and served as often as the others together: a place is there for the next name.
    expect(mine).toBeGreaterThan(0);
    expect(readdirSync(rooms)).toEqual([]);
  },
  180_000,
);

/** Measures honest work before and beside an attack, which gives how many requests it was when it was told to end. */
async function expectUnmoved(attack: (isOver: () => boolean) => Promise<number>): Promise<void> {
  await measured(honest);
  const before = await measured(honest);

  let over = false;
  const attacking = attack(() => over);
  const during = await measured(honest);
  over = true;

  console.info(`before: ${told(before)}\nbeside ${await attacking} attacks: ${told(during)}`);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  expect(during.work).toBeLessThanOrEqual(10 * before.work);
  expect(during.stop).toBeLessThanOrEqual(10 * before.stop);
  await siege.expectUnharmed([honest, mallory]);
}

interface Latencies {
  /** Milliseconds of one agent's whole run, claimed, worked on and completed. */
  readonly work: number;
  /** Milliseconds of a human's stop. */
  readonly stop: number;
}

/** The median of some rounds of honest work, each of which must succeed. */
async function measured(key: string): Promise<Latencies> {
  const [work, stop]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    work.push(await timed(() => honestRun(key)));
    const run = await siege.queue('errand');
    stop.push(
      await timed(async () => {
        noted(expectStatus(await siege.ask('POST', `/runs/${run}/stop`, { reason: 'not now' }), 200));
      }),
    );
  }
  return { work: median(work), stop: median(stop) };
}

async function honestRun(key: string): Promise<void> {
  let token = await taken('honest', key);
  const read = { tool: 'read_files', input: { path: 'a.md' } };
  expectStatus(await post('/tools/check', token, read), 200);
  for (const artifacts of [{ report: { id: 'aaa', areas: ['one'] } }, {}, {}]) {
    const { body } = expectStatus(await post('/tasks/transition', token, { artifacts }), 200);
    if (typeof body.phase_token === 'string') token = body.phase_token;
  }
}

/** Queues a run, claims it, and gives the token for it. */
async function taken(name: string, key: string, workflow = 'errand'): Promise<string> {
  const task_id = await siege.queue(workflow);
  const { body } = expectStatus(await post('/tasks/claim', key, { agent_id: name, task_id }), 200);
  return textAt(body, 'phase_token');
}

/** One attack; gives how many requests it was. */
type Attack = () => Promise<number>;

/** Of B4 (1e999), B5 (item keys), B6 (patterns) and B7 (size), each by every door it has. */
function attacksOf(key: string, session: string): readonly Attack[] {
  const transition = (report: string): Attack => {
    const body = `{"artifacts":{"report":${report}}}`;
    return async () => {
      await post('/tasks/transition', await taken('mallory', key), body);
      return 1;
    };
  };
  const wide = JSON.stringify(
    Object.fromEntries(Array.from({ length: 45_000 }, (_, index) => [`key ${index}`, index])),
  );
  return [
    transition('{"id":1e999}'),
    () => overMcp(session, key, '{"report":{"n":1e999}}'),
    transition(`{"areas":["${'x'.repeat(9000)}"]}`),
    transition(`{"id":"${'a'.repeat(30)}!"}`),
    transition(`{"id":"${'a'.repeat(900_000)}!"}`),
    () => tooLarge(key),
    () => deepOverMcp(session, key),
    () => readLines(key),
    () => readAgain(key, `{"areas":["one"],"wide":${wide}}`),
  ];
}

/** Evidence just within the limit, and answers that would hold all of it. */
async function readAgain(key: string, report: string): Promise<number> {
  const task_id = await siege.queue('errand');
  const claimed = await post('/tasks/claim', key, { agent_id: 'mallory', task_id });
  const token = textAt(expectStatus(claimed, 200).body, 'phase_token');
  const left = await post('/tasks/transition', token, `{"artifacts":{"report":${report}}}`);
  const read = await post('/tasks/token', key, { task_id });
  for (const { body, text } of [left, read]) {
    expect(body.truncated).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100_000);
  }
  return 2;
}

async function deepOverMcp(session: string, key: string): Promise<number> {
  const got = await mcp(key, [['Mcp-Session-Id', session]], `${'['.repeat(500_000)}${']'.repeat(500_000)}`);
  expect(got.status).toBe(400);
  return 1;
}

/** A file that is small and has two million lines. */
async function readLines(key: string): Promise<number> {
  const call = { tool: 'read_files', input: { path: 'lines.txt' } };
  expectStatus(await post('/tools/execute', await taken('mallory', key), call), 200);
  return 1;
}

async function tooLarge(key: string): Promise<number> {
  const path = '/api/v1/tasks/claim';
  const headers = [bearer(key), ['Content-Length', String(30 * MEGABYTE)]] as const;
  // The server hangs up on what it will not read.
  await siege
    .send({ method: 'POST', path, headers, body: '[0]' })
    .then(noted)
    .catch(() => undefined);
  return 1;
}

async function mcpSession(key: string): Promise<string> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'm', version: '1' } };
  const got = await mcp(key, [], JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
  return String(expectStatus(got, 200).headers['mcp-session-id']);
}

async function overMcp(session: string, key: string, evidence: string): Promise<number> {
  const run = await siege.queue('errand');
  await post('/tasks/claim', key, { agent_id: 'mallory', task_id: run });
  const args = `{"session_id":"${run}","phase":"WORK","evidence":${evidence}}`;
  const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"complete_phase","arguments":${args}}}`;
  const got = await mcp(key, [['Mcp-Session-Id', session]], call);
  expect(got.text).toContain('evidence_unreadable');
  return 1;
}

async function mcp(key: string, more: readonly (readonly [string, string])[], body: string): Promise<Got> {
  const headers = [bearer(key), ['Accept', 'application/json, text/event-stream'] as const, ...more];
  return noted(await siege.send({ method: 'POST', path: '/mcp', headers, body }));
}

async function post(path: string, secret: string, body: string | object): Promise<Got> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = [bearer(secret)];
  return noted(await siege.send({ method: 'POST', path: `/api/v1${path}`, headers, body: text }));
}

function noted(got: Got): Got {
  statuses.push(got.status);
  return got;
}

async function timed(act: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

function told({ work, stop }: Latencies): string {
  return `an agent's run ${work.toFixed(1)} ms, a human's stop ${stop.toFixed(1)} ms`;
}
