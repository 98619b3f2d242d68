import { readFileSync } from 'node:fs';
import type { JsonObject } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { type Called, type CallOptions, makeProject, PROGRAM, phasegate, type TestProject } from './cli.ts';
import { serveHere } from './serveHere.ts';

// Whole commands one after the other take longer than the three seconds an agent of the example may be silent.
const FIVE_PHASES = readFileSync(
  new URL('../../examples/many-agents/agent_workflow.yaml', import.meta.url),
  'utf8',
).replace('lease_seconds: 3,', '');

const GATED = `
workflow: release
params: { ticket: { type: string, required: true } }
gates:
  approved:
    human:
      prompt: Ship it?
      options: [{ label: Ship }, { label: Rework, next: BUILD, requires_input: true }]
phases:
  BUILD:
    instructions: Build it
    tasks: [{ name: Look, instructions: Look around }, { name: Make, instructions: Make it }]
    required_artifacts: [{ type: build, schema: { type: object, required: [ok], properties: { ok: { type: boolean } } } }]
    gate: approved
    next: END
  END: { instructions: Say goodbye, next: null }
`;

const SPREAD = `
workflow: spread
phases:
  LIST:
    required_artifacts: [{ type: files, schema: { type: array } }]
    next: EACH
  EACH:
    parallel: true
    parallel_key: files
    required_artifacts: [{ type: done, schema: { type: boolean } }]
    next: null
`;

const SCOPED = `
workflow: scoped
phases:
  SRC: { allowed_tools: [write_files], writes: ["src/**"], next: null }
`;

const PASSPHRASE = 'open sesame';

/** For the tests that leave nothing behind which another could see; the rest have one each. */
let shared: Awaited<ReturnType<typeof served>>;

beforeAll(async () => {
  shared = await served();
});

let agents = 0;

describe('over a URL a command prints what it prints where the project is', () => {
  test.runIf(FULL)('for the five phases, refusals included [S2.88]', async () => {
    const walk = async (desk: Desk) => {
      await desk.human(['start', 'change', '--param', 'name=7', '--queue', '--priority', '2']);
      await desk.human(['runs']);
      await desk.agent(['claim']);
      await desk.agent(['claim', 'RUN']);
      await desk.agent(['claim']);
      await desk.agent(['status', 'RUN']);
      await desk.agent(['next', 'RUN']);
      await desk.agent(['done', 'RUN', '--phase', 'IMPL', '--evidence', '-'], {
        test_run_result: TESTS_PASS,
      });
      await desk.agent(['done', 'RUN']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { plan: { summary: 'x' } });
      await desk.agent(['done', 'RUN', '--evidence', '-'], { plan: { summary: 'write a file' } });
      await desk.agent(['done', 'RUN', '--phase', 'PLAN', '--evidence', '-'], { plan: { summary: 'again' } });
      await desk.agent(['done', 'RUN', '--evidence', '-'], { test_run_result: TESTS_PASS });
      await desk.agent(['next', 'RUN']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { test_run_result: TESTS_FAIL });
      await desk.agent(['done', 'RUN', '--outcome', 'iterate']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { test_run_result: TESTS_PASS });
      await desk.agent(['done', 'RUN', '--evidence', '-'], { review: { decision: 'changes_requested' } });
      await desk.human(['status', 'RUN']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { test_run_result: TESTS_PASS });
      await desk.agent(['done', 'RUN', '--evidence', '-'], { review: { decision: 'approved' } });
      await desk.human(['agents']);
      await desk.agent(['done', 'RUN', '--phase', 'COMPLETE', '--evidence', '-'], { report: 'all is done' });
      await desk.agent(['status', 'RUN']);
      await desk.human(['status', 'RUN']);
      await desk.human(['runs', '--status', 'completed']);
      await desk.human(['stop', 'RUN', '--reason', 'too late']);
      await desk.human(['start', 'change']);
    };

    const { here, there } = await both(FIVE_PHASES, walk);

    expect(there).toEqual(here);
    expect(here.map(({ code }) => code).filter((code) => code !== 0)).toHaveLength(9);
    expect(here.at(-6)?.json).toMatchObject({ checkpoint_passed: true, workflow_complete: true });
  });

  test.runIf(FULL)('for tasks, questions, a report, a gate and a stop', async () => {
    const walk = async (desk: Desk) => {
      await desk.human(['start', 'release', '--param', 'ticket=42', '--queue']);
      await desk.agent(['claim', 'RUN']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { build: { ok: true } });
      await desk.agent(['task', 'RUN', 'BUILD', '1']);
      await desk.agent(['task', 'RUN', 'BUILD', '9']);
      await desk.agent(['task', 'RUN', 'END', '1']);
      await desk.agent(['task', 'RUN', 'BUILD', '2']);
      await desk.agent(['ask', 'RUN', '-'], [{ text: 'Which one?', options: ['this', 'that'] }]);
      await desk.agent(['next', 'RUN']);
      await desk.human(['answer', 'RUN', '--question', '1', '--option', 'neither']);
      await desk.human(['answer', 'RUN', '--question', '1', '--option', 'this']);
      await desk.agent(['blocked', 'RUN', '--reason', 'the compiler is gone']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { build: { ok: true } });
      await desk.human(['resume', 'RUN', '--note', 'it is back']);
      await desk.human(['resume', 'RUN']);
      await desk.agent(['next', 'RUN']);
      await desk.human(['decide', 'RUN', '--option', 'Ship', '--shown', 'stale']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { build: { ok: true } });
      await desk.agent(['done', 'RUN', '--evidence', '-'], { build: { ok: true } });
      await desk.human(['status', 'RUN']);
      await desk.human(['decide', 'RUN', '--option', 'Ship', '--as', 'maria']);
      await desk.human(['decide', 'RUN', '--option', 'Nothing', '--shown', 'SHOWN']);
      await desk.human(['decide', 'RUN', '--option', 'Ship', '--shown', 'stale']);
      await desk.human(['decide', 'RUN', '--option', 'Rework', '--input', 'smaller', '--shown', 'SHOWN']);
      await desk.agent(['next', 'RUN']);
      await desk.human(['stop', 'RUN', '--reason', 'enough']);
      await desk.agent(['status', 'RUN']);
    };

    const { here, there } = await both(GATED, walk);

    expect(there).toEqual(here);
    expect(here.filter(({ code }) => code === 0).length).toBeGreaterThan(14);
  });

  test('for the items of a parallel phase', async () => {
    const walk = async (desk: Desk) => {
      await desk.human(['start', 'spread', '--queue']);
      await desk.agent(['claim', 'RUN']);
      await desk.agent(['done', 'RUN', '--evidence', '-'], { files: ['a', 'b'] });
      await desk.agent(['next', 'RUN']);
      await desk.agent(['done', 'RUN', '--item', 'a', '--evidence', '-'], { done: true });
      await desk.agent(['done', 'RUN', '--item', 'c', '--evidence', '-'], { done: true });
      await desk.agent(['done', 'RUN', '--item', 'b', '--evidence', '-'], { done: true });
      await desk.agent(['status', 'RUN']);
    };

    const { here, there } = await both(SPREAD, walk);

    // A server hands out an item with the phase, so that no other agent takes it.
    expect(JSON.parse(JSON.stringify(there).replaceAll(', held by `ada`', ''))).toEqual(here);
    expect(here.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 1, 0, 0]);
    expect(here.at(-1)?.json).toMatchObject({ status: 'completed' });
  });
});

test('what the fence found is read and settled over a URL as where the project is [S2.88]', async () => {
  const walk = async (desk: Desk) => {
    await desk.human(['start', 'scoped', '--queue']);
    await desk.agent(['fence', 'RUN']);
    await desk.agent(['claim', 'RUN']);
    for (const file of ['notes.md', 'stray/s.txt', 'src/in.txt']) desk.write(file, 'n\n');
    desk.write('agent.md', 'x\n');
    await desk.agent(['done', 'RUN', '--evidence', '-'], {});
    await desk.human(['status', 'RUN']);
    await desk.agent(['fence', 'RUN']);
    await desk.human(['fence', 'RUN']);
    await desk.human(['fence', 'RUN', '--diff']);
    await desk.human(['fence', 'RUN', '--diff', 'notes.md', 'src']);
    await desk.human(['fence', 'RUN', '--diff', 'src/none']);
    await desk.human(['fence', 'RUN', 'restore', 'stray']);
    await desk.human(['fence', 'RUN', 'restore', 'stray', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN', 'restore', 'notes.md', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN']);
    await desk.human(['fence', 'RUN', 'restore', 'stray', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN', 'accept', 'notes.md', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN', 'accept', 'notes.md', '--reason', 'mine', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN']);
    await desk.human(['fence', 'RUN', 'quarantine', 'agent.md', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN']);
    await desk.human(['fence', 'RUN', 'accept', '--all', '--reason', 'looked', '--shown', 'SHOWN']);
    await desk.human(['fence', 'RUN']);
    await desk.agent(['done', 'RUN', '--evidence', '-'], {});
    await desk.human(['fence', 'RUN']);
    await desk.human(['fence', 'RUN', 'accept', '--all', '--reason', 'late', '--shown', 'SHOWN']);
  };

  const { here, there } = await both(SCOPED, walk);

  expect(there).toEqual(here);
  expect(here.map(({ code }) => code)).toEqual([
    ...[0, 1, 0, 1, 0, 1, 1, 0, 0, 2, 2, 0, 1, 1, 2, 2, 0, 1, 0, 0, 0, 0, 0, 1, 1],
  ]);
  const shown = [{ path: 'agent.md', how: 'added' }, {}, {}];
  expect(here[4]?.json).toMatchObject({ ring: 'served', violations: shown });
  expect(here[5]?.json).toMatchObject({ outside: [{ path: 'agent.md', how: 'added', by: null }, {}, {}] });
  expect(here.at(-1)?.json).toMatchObject({ error: 'fence_failed' });
});

describe('at a server', () => {
  test('a human follows the audit and minds the agents', async () => {
    const { project, url } = shared;
    const human = (words: readonly string[]) =>
      phasegate(project, [...words, '--json', '--url', url], { passphrase: PASSPHRASE });

    const added = await human(['agents', 'add', 'bea', '--capability', 'python']);
    const verified = await human(['audit', 'verify']);
    const tail = await human(['audit', 'tail', '-n', '500']);
    const exported = await human(['audit', 'export']);
    const removed = await human(['agents', 'remove', 'bea']);

    expect(added.json).toEqual({ name: 'bea', key: expect.stringMatching(/^pgk_/) });
    expect(verified).toMatchObject({ code: 0, json: { ok: true, findings: [] } });
    const events = (tail.json.records as JsonObject[]).map(({ event }) => event);
    expect(events).toEqual(expect.arrayContaining(['human_added', 'agent_added', 'signed_in']));
    expect((tail.json.records as JsonObject[])[0]).not.toHaveProperty('id');
    expect((exported.json.records as JsonObject[]).length).toBeGreaterThanOrEqual(events.length);
    expect(removed.json).toEqual({ name: 'bea', removed: true });
    expect((await human(['agents', 'remove', 'bea'])).json).toMatchObject({ error: 'agent_unknown' });
  });

  test("an agent's key opens nothing of a human's, and no caller is anybody by default [C18 adv.H8]", async () => {
    const { project, url, key } = shared;
    const env = { PHASEGATE_URL: url, PHASEGATE_KEY: key };
    const call = (words: readonly string[], options: CallOptions = {}) =>
      phasegate(project, [...words, '--json'], options);

    for (const words of [
      ['runs'],
      ['fence', 'r1', '--diff'],
      ['start', 'change', '--param', 'name=x'],
      ['audit', 'export'],
    ]) {
      expect(await call(words, { env }), words[0]).toMatchObject({
        code: 1,
        json: { error: 'not_permitted' },
      });
    }
    for (const words of [['agents'], ['audit', 'verify'], ['stop', 'r1', '--reason', 'x']]) {
      expect(await call(words, { env }), words[0]).toMatchObject({ code: 2, json: { error: 'usage' } });
    }
    expect(await call(['next', 'r1'], { env: { PHASEGATE_URL: url } })).toMatchObject({
      code: 2,
      json: { message: expect.stringContaining('PHASEGATE_KEY') },
    });
    expect(await call(['next', 'r1'], { env: { ...env, PHASEGATE_KEY: 'pgk_nobody' } })).toMatchObject({
      code: 1,
      json: { error: 'credential_invalid' },
    });
    expect(await call(['runs', '--url', url], { passphrase: 'wrong' })).toMatchObject({
      code: 1,
      json: { error: 'credential_invalid' },
    });
    expect(await call(['next', 'r1'], { env })).toMatchObject({ code: 1, json: { error: 'run_unknown' } });
    expect(await call(['next'], { env })).toMatchObject({
      code: 2,
      json: { hint: expect.stringContaining('set PHASEGATE_RUN') },
    });
  });

  test('where there are several humans, who must be said', async () => {
    const { project, url } = await served();
    await phasegate(project, ['humans', 'add', 'noa'], {
      passphrase: PASSPHRASE,
      newPassphrase: 'hush hush',
    });

    expect(
      await phasegate(project, ['runs', '--json', '--url', url], { passphrase: 'hush hush' }),
    ).toMatchObject({ code: 2, json: { message: expect.stringContaining('--as NAME') } });
    expect(
      await phasegate(project, ['runs', '--json', '--url', url, '--as', 'noa'], { passphrase: 'hush hush' }),
    ).toMatchObject({ code: 0, json: { runs: [] } });
  });

  test('a run that is not in hand is refused, with what to do', async () => {
    const { project, url, key } = shared;
    const env = { PHASEGATE_URL: url, PHASEGATE_KEY: key };
    const { json } = await phasegate(
      project,
      ['start', 'change', '--param', 'name=x', '--queue', '--json', '--url', url],
      { passphrase: PASSPHRASE },
    );

    expect(await phasegate(project, ['done', String(json.run), '--json'], { env })).toMatchObject({
      code: 1,
      json: { error: 'not_permitted', hint: expect.stringContaining(`phasegate claim ${json.run}`) },
    });
  });
});

test.each([
  ['done', ['--phase', '1', '--evidence', '-'], '{"plan":{"summary":"write a file"}}'],
  ['done', ['--evidence', '-'], '{"plan":{"summary":"write a file"}}'],
  ['ask', ['-'], '[{"text":"Which?","options":["a","b"]}]'],
  ['blocked', ['--reason', 'late'], ''],
])(
  'work for an earlier visit does nothing by `%s` over a URL either, though the token is fresh [adv.O7]',
  async (command, words, stdin) => {
    const { project, url } = shared;
    // Of its own: an agent has one run at a time.
    const name = `agent-${++agents}`;
    const added = await phasegate(project, ['agents', 'add', name, '--json'], { passphrase: PASSPHRASE });
    const key = String(added.json.key);
    const queued = ['start', 'change', '--param', 'name=x', '--queue', '--json', '--url', url];
    const run = String((await phasegate(project, queued, { passphrase: PASSPHRASE })).json.run);
    const agent = { PHASEGATE_URL: url, PHASEGATE_KEY: key };
    await phasegate(project, ['claim', run], { env: agent });
    const { epoch } = (await phasegate(project, ['status', run, '--json'], { env: agent })).json;
    const call = (begun: number) =>
      phasegate(project, [command, run, ...words, '--json', '--url', url], {
        env: { ...agent, PHASEGATE_RUN: run, PHASEGATE_EPOCH: String(begun) },
        stdin,
      });

    const late = await call(Number(epoch) - 1);

    expect(late).toMatchObject({ code: 1, json: { error: 'run_changed' } });
    expect((await phasegate(project, ['status', run, '--json'], { env: agent })).json).toMatchObject({
      status: 'active',
      phase: 'PLAN',
      epoch,
    });
    expect(await call(Number(epoch))).toMatchObject({ code: 0 });
  },
);

test.runIf(FULL)(
  'an agent that was started finishes its run with the shell alone, naming no run [S2.58 S2.61]',
  async () => {
    const { project, url } = await served();
    const { json } = await phasegate(
      project,
      ['start', 'change', '--param', 'name=x', '--queue', '--json', '--url', url],
      { passphrase: PASSPHRASE },
    );
    const script = project.write(
      'agent.sh',
      [
        'set -e',
        'phasegate() { "$NODE" "$PROGRAM" "$@"; }',
        'grep -q "phasegate next" "$1"',
        'phasegate next',
        `echo '{"plan":{"summary":"write a file"}}' | phasegate done --phase PLAN --evidence -`,
        `echo '{"test_run_result":${JSON.stringify(TESTS_FAIL)}}' | phasegate done --evidence -`,
        `echo '{"test_run_result":${JSON.stringify(TESTS_PASS)}}' | phasegate done --evidence -`,
        `echo '{"review":{"decision":"approved"}}' | phasegate done --evidence -`,
        'phasegate list --json',
        `echo '{"report":"all is done"}' | phasegate done --evidence -`,
        'phasegate status --json',
      ].join('\n'),
    );

    const ended = await phasegate(project, ['agent', 'start', '--json', '--', 'sh', script, '{prompt}'], {
      env: { NODE: process.execPath, PROGRAM },
    });

    expect(ended).toMatchObject({ code: 0, json: { run: json.run, outcome: 'completed', starts: 1 } });
  },
);

test('a human watches a run over its server until it ends', async () => {
  const { project } = await staffed(GATED);
  const { url } = await serveHere(project);
  const passphrase = PASSPHRASE;
  const words = ['start', 'release', '--param', 'ticket=7', '--queue', '--url', url, '--json'];
  const started = await phasegate(project, words, { passphrase });
  const run = String(started.json.run);

  const watched = phasegate(project, ['watch', run, '--url', url, '--json'], { passphrase });
  await phasegate(project, ['stop', run, '--reason', 'enough', '--url', url], { passphrase });
  const { code, stdout } = await watched;

  expect(code, stdout).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ run, status: 'stopped', workflow: 'release' });
});

test('RUN may be left out where the environment names it, here too', async () => {
  const project = makeProject({ 'agent_workflow.yaml': GATED });
  const { json } = await phasegate(project, ['start', 'release', '--param', 'ticket=1', '--json']);
  const env = { PHASEGATE_RUN: String(json.run) };
  const call = (words: readonly string[], stdin = '') =>
    phasegate(project, [...words, '--json'], { env, stdin });
  const questions = JSON.stringify([{ text: 'Which?', options: ['a', 'b'] }]);

  expect((await call(['status'])).json).toMatchObject({ run: json.run });
  expect((await call(['next'])).json).toMatchObject({ phase: 'BUILD' });
  expect((await call(['task', 'BUILD', '1'])).json).toMatchObject({ task_number: 1 });
  expect((await call(['done', '--phase', 'END'])).json).toMatchObject({ error: 'phase_sequence_violation' });
  expect((await call(['status', 'another'])).json).toMatchObject({ error: 'run_unknown' });
  expect((await call(['ask', '-'], questions)).json).toMatchObject({ ok: true, status: 'waiting' });
  expect((await phasegate(project, ['next', '--json'])).json).toMatchObject({ run: json.run });
  await phasegate(project, ['start', 'release', '--param', 'ticket=2', '--queue']);
  await phasegate(project, ['claim', '--json']);
  await phasegate(project, ['start', 'release', '--param', 'ticket=3']);
  expect(await phasegate(project, ['next', '--json'])).toMatchObject({ code: 2, json: { error: 'usage' } });
});

const TESTS_PASS = { total: 1, passed: 1, failed: 0, skipped: 0 };
const TESTS_FAIL = { total: 1, passed: 0, failed: 1, skipped: 0 };

/** A project with a human, an agent and a server. */
async function served(): Promise<{
  readonly project: TestProject;
  readonly url: string;
  readonly key: string;
}> {
  const { project, key } = await staffed(FIVE_PHASES);
  const { url } = await serveHere(project);
  return { project, url, key };
}

async function staffed(workflow: string): Promise<{ readonly project: TestProject; readonly key: string }> {
  const project = makeProject({ 'agent_workflow.yaml': workflow });
  const passphrase = PASSPHRASE;
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase });
  expect(await phasegate(project, ['trust', '--yes'], { passphrase })).toMatchObject({ code: 0 });
  const added = await phasegate(project, ['agents', 'add', 'ada', '--json'], { passphrase });
  return { project, key: String(added.json.key) };
}

/** Where commands are called; `RUN` among their words becomes the run that was started first. */
interface Desk {
  write(file: string, text: string): void;
  human(words: readonly string[]): Promise<void>;
  agent(words: readonly string[], stdin?: unknown): Promise<void>;
}

interface Said {
  readonly words: readonly string[];
  readonly code: number | null;
  readonly json: unknown;
}

/** The same walk where the project is and over the URL of its server, with all that was printed. */
async function both(
  workflow: string,
  walk: (desk: Desk) => Promise<void>,
): Promise<{ readonly here: readonly Said[]; readonly there: readonly Said[] }> {
  const [local, remote] = [await staffed(workflow), await staffed(workflow)];
  const { url } = await serveHere(remote.project);
  const take = async ({ project, key }: typeof local, more: readonly string[]) => {
    const said: Said[] = [];
    let run = '';
    let shown = '';
    const call = async (words: readonly string[], options: CallOptions) => {
      const spelled = words.map((word) => (word === 'RUN' ? run : word === 'SHOWN' ? shown : word));
      const called = await phasegate(project, [...spelled, '--json', ...more], options);
      if (run === '') run = String(called.json.run);
      shown = String(Object(called.json.gate).shown ?? called.json.shown ?? shown);
      said.push({ words, code: called.code, json: withoutNames(called, run) });
    };
    await walk({
      write: (file, text) => project.write(file, text),
      human: (words) => call(words, { passphrase: PASSPHRASE }),
      agent: (words, stdin) =>
        call(words, { env: { PHASEGATE_KEY: key }, stdin: JSON.stringify(stdin) ?? '' }),
    });
    return said;
  };
  return { here: await take(local, []), there: await take(remote, ['--url', url]) };
}

/** What was printed without what no two runs have in common: ids, times and hashes of them. */
function withoutNames({ stdout }: Called, run: string): unknown {
  const text = (run === '' ? stdout : stdout.replaceAll(run, 'RUN'))
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b[\da-f]{64}\b/g, 'HASH')
    .replaceAll(/moved to [^"]+/g, 'moved to PLACE')
    // What is to be called next names the server it was asked of.
    .replaceAll(/ --url http:\/\/127\.0\.0\.1:\d+/g, '');
  return JSON.parse(text);
}
