import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { afterAll, describe, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { begin, type CallOptions, makeProject, phasegate, startRun } from './cli.ts';
import { serveHere } from './serveHere.ts';

const AGENT = fileURLToPath(new URL('./scriptedAgent.ts', import.meta.url));
const WORKFLOW = readFileSync(
  new URL('../../examples/many-agents/agent_workflow.yaml', import.meta.url),
  'utf8',
);
const tmuxInstalled = spawnSync('tmux', ['-V']).status === 0;
const tmuxFolders: string[] = [];

afterAll(() => {
  for (const folder of tmuxFolders) spawnSync('tmux', ['kill-server'], { env: tmuxEnv(folder) });
});

// A machine without tmux says so in the list of tests instead of failing.
describe.each([
  ['subprocess', true, true],
  ['tmux', tmuxInstalled, FULL],
] as const)('an agent started by the %s adapter', (adapter, installed, every) => {
  test.skipIf(!installed || !every)(
    'completes the five phases through the SDK, every gate enforced [S2.10 S2.25 S2.58 S2.61 S2.88]',
    async () => {
      const bed = await makeBed(adapter);
      const run = await bed.queue();

      const ended = await bed.agent('complete');

      expect(ended).toMatchObject({ code: 0, json: { run, outcome: 'completed', starts: 1 } });
      expect(bed.status(await bed.human(['status', run, '--json']))).toBe('completed');
      const records = await bed.records(run);
      expect(
        records.filter(({ event }) => event === 'phase_completed').map(({ data }) => data.phase),
      ).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']);
      expect(records.filter(({ event }) => event === 'tool_judged')).toHaveLength(5);
      expect((await phasegate(bed.project, ['audit', 'verify'])).code).toBe(0);
    },
  );

  test.skipIf(!installed || !every)(
    'has the contract and its credentials, and no secret on a command line [S2.59 S2.60 adv.H8]',
    async () => {
      const bed = await makeBed(adapter);
      const run = await bed.queue();

      await bed.agent('complete', {
        env: { ORCHESTRATOR_JWT_SECRET_PREVIOUS: 'operators-own', PHASEGATE_DEBUG: '1' },
      });

      const [{ words, environment, prompt, terminal }] = bed.seen();
      expect(environment).toMatchObject({
        PHASEGATE_RUN: run,
        PHASEGATE_URL: bed.url,
        PHASEGATE_KEY: expect.stringMatching(/^pgk_/),
        PHASEGATE_CREDENTIALS_FD: '3',
      });
      expect(Object.keys(environment).filter((name) => !name.startsWith('PHASEGATE_'))).toEqual([]);
      expect(words.join(' ')).not.toContain('pgk_');
      expect(prompt).toContain('Read `brief.md`');
      expect(prompt).not.toContain('failing test');
      expect(terminal).toBe(adapter === 'tmux');
      expect(readdirSync(join(bed.project.stateDir, 'agents'))).toEqual([]);
      expect((await phasegate(bed.project, ['agents', '--json'])).json).toEqual({ agents: [] });
    },
  );

  test.skipIf(!installed || !every)(
    'that crashes is started again from its last checkpoint, and told why [S2.92 C15 adv.K1]',
    async () => {
      const bed = await makeBed(adapter);
      const run = await bed.queue();

      const ended = await bed.agent('crash-once');

      expect(ended).toMatchObject({ code: 0, json: { run, outcome: 'completed', starts: 2 } });
      expect(ended.stderr).toContain('"event":"lost"');
      const [, second] = bed.seen();
      expect(second?.prompt).toContain('it ended with exit code 3');
      expect(second?.prompt).toContain('current phase: TDD (1 of 5 completed: PLAN)');
      const released = (await bed.records(run)).find(({ event }) => event === 'run_released');
      expect(released?.data).toMatchObject({ cause: 'exited' });
    },
  );
});

test.runIf(FULL)('the run completes even if the agent forgets to finish it [fail.11]', async () => {
  const bed = await makeBed('subprocess');
  await bed.queue();

  const ended = await bed.agent('forget-once');

  expect(ended).toMatchObject({ code: 0, json: { outcome: 'completed', starts: 2 } });
  expect(bed.seen()[1]?.prompt).toContain('it ended with exit code 0');
});

test.runIf(FULL)(
  'an agent that keeps crashing is left to a human after as many starts as the workflow allows [C15]',
  async () => {
    const bed = await makeBed('subprocess', WORKFLOW.replace('max_reclaims: 10', 'max_reclaims: 1'));
    const run = await bed.queue();

    const ended = await bed.agent('crash');

    expect(ended).toMatchObject({ code: 1, json: { run, outcome: 'escalated', starts: 2 } });
    expect(bed.status(await bed.human(['status', run, '--json']))).toBe('escalated');
  },
);

test('interrupted, it stops the agent and gives the run back; without a terminal nothing waits for input [fail.43 adv.M5]', async () => {
  const bed = await makeBed('subprocess');
  const run = await bed.queue();
  const call = bed.begin('hang');
  while (!existsSync(bed.file)) await new Promise((resolve) => setTimeout(resolve, 20));

  process.kill(call.pid, 'SIGINT');

  expect(await call.result).toMatchObject({ code: 1, json: { run, outcome: 'interrupted' } });
  expect(bed.status(await bed.human(['status', run, '--json']))).toBe('queued');
  expect(() => process.kill(bed.seen()[0].pid, 0)).toThrow();
});

test.runIf(FULL)('killed, it leaves no program behind, and its key is good for a while only', async () => {
  const bed = await makeBed('subprocess');
  await bed.queue();
  const call = bed.begin('hang');
  while (!existsSync(bed.file)) await new Promise((resolve) => setTimeout(resolve, 20));

  process.kill(call.pid, 'SIGKILL');
  await call.result.catch(() => undefined);

  const { pid } = bed.seen()[0];
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('without a server, a queue or a program it says so', async () => {
  const project = makeProject({ 'agent_workflow.yaml': WORKFLOW });
  const words = ['agent', 'start', '--json', '--', 'true'];

  expect(await phasegate(project, words)).toMatchObject({ code: 1, json: { error: 'server_unreachable' } });
  await serveHere(project);
  expect(await phasegate(project, words)).toMatchObject({ code: 1, json: { outcome: 'nothing_queued' } });
  await startRun(project, 'change', ['--queue', '--param', 'name=x']);
  expect(await phasegate(project, [...words.slice(0, -1), 'no-such-program'])).toMatchObject({
    code: 2,
    json: { error: 'usage', message: expect.stringContaining('`no-such-program` is not installed') },
  });
});

test('that waits for work is there when some is queued, though it has nothing to do until then', async () => {
  const project = makeProject({ 'agent_workflow.yaml': WORKFLOW, 'brief.md': 'Do it.\n' });
  await serveHere(project);
  const program = [process.execPath, AGENT, 'complete', join(project.base, 'seen')];
  const waiting = begin(project, ['agent', 'start', '--wait', '--json', '--', ...program]);
  await waiting.says('waiting_for_work');

  const run = await startRun(project, 'change', ['--queue', '--param', 'name=x']);

  expect(await waiting.result).toMatchObject({ code: 0, json: { run, outcome: 'completed' } });
  const { agents } = (await phasegate(project, ['agents', '--json'])).json;
  expect(agents).toEqual([]);
});

interface Seen {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly terminal: boolean;
  readonly pid: number;
}

interface Line {
  readonly event: string;
  readonly data: JsonObject;
}

/** A project with its server, and a file the scripted agent writes what it sees to. */
async function makeBed(adapter: 'subprocess' | 'tmux', workflow = WORKFLOW) {
  // A lease of three seconds is for agents that are killed; a busy machine is slower than that.
  const patient = workflow.replace('lease_seconds: 3', 'lease_seconds: 60');
  const project = makeProject({ 'agent_workflow.yaml': patient, 'brief.md': 'Do it.\n' });
  const { url } = await serveHere(project);
  const file = join(project.base, 'seen');
  if (adapter === 'tmux') tmuxFolders.push(project.base);
  const words = (how: string) => [
    ...['agent', 'start', '--adapter', adapter, '--name', 'ada', '--json'],
    ...['--', process.execPath, AGENT, how, file],
  ];
  const env = adapter === 'tmux' ? { TMUX_TMPDIR: project.base, SHELL: '/bin/sh', TERM: 'xterm' } : {};
  // Set up last: before there is a human, the workflow needs nobody's trust.
  let human: Promise<unknown> | undefined;
  const asHuman = async (rest: readonly string[]) => {
    const passphrase = 'open sesame';
    human ??= phasegate(project, ['humans', 'add', 'maria'], { passphrase });
    await human;
    return phasegate(project, [...rest, '--as', 'maria'], { passphrase });
  };
  return {
    project,
    url,
    file,
    queue: () => startRun(project, 'change', ['--queue', '--param', 'name=x']),
    agent: (how: string, options: CallOptions = {}) =>
      phasegate(project, words(how), { ...options, env: { ...env, ...options.env } }),
    begin: (how: string) => begin(project, words(how), { env }),
    human: asHuman,
    status: ({ json }: { readonly json: JsonObject }) => json.status,
    async records(run: string): Promise<readonly Line[]> {
      const { stdout } = await asHuman(['audit', 'export']);
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line & { run: string | null });
      return lines.filter((line) => line.run === run);
    },
    seen: () =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Seen) as [Seen, ...Seen[]],
  };
}

function tmuxEnv(folder: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: folder, TMUX_TMPDIR: folder };
}
