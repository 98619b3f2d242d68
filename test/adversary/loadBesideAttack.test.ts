import { mkdtempSync, readdirSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { type Served, serve } from '../e2e/server.ts';
import { shareKeys } from '../e2e/twoNodes.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { cases, FULL } from '../tier.ts';
import { expectStatus, laySiege, type Siege, textAt } from './siege.ts';
import { bearer, dial, type Got, type Sent, wireTo } from './wire.ts';

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
const NODE_ROUNDS = cases({ quick: 1, full: 5 });
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

// How long it takes is printed only: the database is another process, which takes from the same processors.
test.runIf(FULL)(
  'honest agents and a human are served on two PostgreSQL nodes beside an agent that attacks both [adv.O1 adv.O5]',
  async () => {
    const nodes = await twoNodesBesieged();
    [honest, mallory] = [await siege.agent('honest'), await siege.agent('mallory')];
    const attacks = [...attacksOf(mallory, await mcpSession(mallory)), ...floodsOf(mallory, nodes)];

    await compared(async (isOver) => {
      const sent = attacks.map(async (attack) => {
        let count = 0;
        while (!isOver()) count += await attack();
        return count;
      });
      return (await Promise.all(sent)).reduce((sum, count) => sum + count, 0);
    }, NODE_ROUNDS);

    for (const { url, stderr } of nodes) {
      expect((await wireTo(url)({ path: '/readyz' })).body).toEqual({ status: 'ready' });
      expect(stderr()).not.toMatch(/"level":"error"|unhandled/i);
    }
  },
  300_000,
);

/** Lays the siege anew, to two nodes of one database: requests go to one after the other, those of a session to the first. */
async function twoNodesBesieged(): Promise<readonly Served[]> {
  const PHASEGATE_DATABASE = await freshSchema();
  const measures = mkdtempSync(join(tmpdir(), 'measures-'));
  const env = { PHASEGATE_DATABASE, PHASEGATE_MEASURES: measures };
  const one = await laySiege({ files: FILES, human: true, env });
  const { project } = one;
  const elsewhere = { ...env, XDG_STATE_HOME: join(project.base, 'state-of-the-other') };
  shareKeys(project, {
    stateDir: project.stateDir.replace(String(project.env.XDG_STATE_HOME), elsewhere.XDG_STATE_HOME),
  });
  const nodes = [one.server, await serve(project, [], elsewhere)];
  const sends = nodes.map(({ url }) => wireTo(url));
  let turn = 0;
  const send: Siege['send'] = (sent) => {
    turn += 1;
    const next = sent.path === '/mcp' ? one.send : sends[turn % sends.length];
    return (next ?? one.send)(sent);
  };
  siege = { ...one, send };
  return nodes;
}

/** What is many rather than large: each by itself harmless, of one agent or of nobody, at every node. */
function floodsOf(key: string, nodes: readonly Served[]): readonly Attack[] {
  // Over connections of their own: honest requests wait for the server, and not for their own client.
  const wires = nodes.map(({ url }) => wireTo(url));
  const send = async (index: number, sent: Sent) => {
    const wire = wires[index % wires.length];
    if (wire !== undefined) noted(await wire(sent));
  };
  const sendTo = (path: string, secret: string, body: object) => (index: number) =>
    send(index, {
      method: 'POST',
      path: `/api/v1${path}`,
      headers: [bearer(secret)],
      body: JSON.stringify(body),
    });
  const many = async (ask: (index: number) => Promise<unknown>) => {
    await Promise.allSettled(Array.from({ length: 100 }, (_, index) => ask(index)));
    return 100;
  };
  const claim = (more: object) => sendTo('/tasks/claim', key, { agent_id: 'mallory', ...more });
  return [
    () => many(claim({})),
    () => many(claim({ task_id: 'run-00000000000000000000' })),
    () => many((index) => sendTo('/tools/check', `pgk_guess${index}`, {})(index)),
    () => many((index) => send(index, { path: index % 3 ? '/metrics' : '/readyz' })),
    async () => {
      const token = await taken('mallory', key);
      return many(sendTo('/tools/check', token, { tool: 'no such tool', input: { a: '\ud800\0' } }));
    },
    async () => {
      const sockets = await Promise.all(
        Array.from({ length: 50 }, (_, index) => dial(nodes[index % nodes.length]?.url ?? '')),
      );
      for (const socket of sockets)
        socket.write('POST /api/v1/tasks/claim HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ');
      await send(0, { path: '/healthz' });
      for (const socket of sockets) socket.destroy();
      return sockets.length;
    },
  ];
}

/** As `compared`, and what was measured beside the attack is at most ten times of what it was before. */
async function expectUnmoved(attack: (isOver: () => boolean) => Promise<number>): Promise<void> {
  const { before, during } = await compared(attack);
  expect(during.work).toBeLessThanOrEqual(10 * before.work);
  expect(during.stop).toBeLessThanOrEqual(10 * before.stop);
}

/** Measures honest work before and beside an attack, which gives how many requests it was when it was told to end. */
async function compared(
  attack: (isOver: () => boolean) => Promise<number>,
  rounds = ROUNDS,
): Promise<Record<'before' | 'during', Latencies>> {
  await measured(honest, rounds);
  const before = await measured(honest, rounds);

  let over = false;
  const attacking = attack(() => over);
  const during = await measured(honest, rounds);
  over = true;

  console.info(`before: ${told(before)}\nbeside ${await attacking} attacks: ${told(during)}`);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  await siege.expectUnharmed([honest, mallory]);
  return { before, during };
}

interface Latencies {
  /** Milliseconds of one agent's whole run, claimed, worked on and completed. */
  readonly work: number;
  /** Milliseconds of a human's stop. */
  readonly stop: number;
}

/** The median of some rounds of honest work, each of which must succeed. */
async function measured(key: string, rounds = ROUNDS): Promise<Latencies> {
  const [work, stop]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
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
  const { token } = await takenRun(name, key, workflow);
  return token;
}

async function takenRun(
  name: string,
  key: string,
  workflow = 'errand',
): Promise<{ readonly token: string; readonly task_id: string }> {
  // Not for an agent that claims whatever there is.
  const capabilities = ['work'];
  const started = await siege.ask('POST', '/runs', { workflow, queue: true, capabilities });
  const task_id = textAt(expectStatus(started, 201).body, 'run');
  const claim = { agent_id: name, task_id, capabilities };
  const { body } = expectStatus(await post('/tasks/claim', key, claim), 200);
  return { token: textAt(body, 'phase_token'), task_id };
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
  const { token, task_id } = await takenRun('mallory', key);
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
