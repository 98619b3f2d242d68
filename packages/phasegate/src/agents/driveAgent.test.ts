import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exit, Launch } from './adapter.ts';
import { makeBed, type Script } from './fixtures/makeBed.ts';

const TWO_PHASES = `
workflow: errand
title: An errand
enforcement: { max_reclaims: 2 }
phases:
  GO: { instructions: Go there, required_artifacts: [{ type: note, schema: { type: string } }] }
  RETURN: { instructions: Come back with a surprise }
`;
const GATED = `
workflow: gated
phases:
  ASK:
    instructions: Ask
    gate:
      human:
        prompt: May it go on?
        options:
          - { label: Approve, next: TELL }
          - { label: Reject, next: null }
  TELL: { instructions: Tell }
`;
const PARALLEL = `
workflow: parallel
params: { languages: { type: list, default: [German, Greek] } }
phases:
  TRANSLATE: { parallel: true, parallel_key: languages, instructions: Translate it }
  CLOSE: { instructions: Close }
`;
const DONE: Exit = { kind: 'exited', code: 0 };

test('an agent that completes every phase ends with a completed run, and its key and files are gone [S2.88]', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');

  const spawned = await bed.drive([
    async (agent) => {
      await agent.complete('GO', { note: 'seen' });
      await agent.complete('RETURN');
      return DONE;
    },
  ]);

  expect(spawned).toMatchObject({ run, outcome: 'completed', status: 'completed', starts: 1 });
  expect(await bed.open.agents.list()).toEqual([]);
  expect(readdirSync(join(bed.stateDir, 'agents'))).toEqual([]);
});

test('an agent that forgets to finish is started again from the last checkpoint, and told why [fail.11 S2.92 C15]', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  await bed.queue('errand');
  const prompts: string[] = [];

  const spawned = await bed.drive([
    async (agent) => {
      prompts.push(agent.prompt());
      await agent.complete('GO', { note: 'seen' });
      return DONE;
    },
    async (agent) => {
      prompts.push(agent.prompt());
      await agent.complete('RETURN');
      return DONE;
    },
  ]);

  expect(spawned).toMatchObject({ outcome: 'completed', starts: 2 });
  expect(prompts[1]).toContain('You are started again:** the agent before you ended before the phase was');
  expect(prompts[1]).toContain('it ended with exit code 0');
  expect(prompts[1]).toContain('1 of 2 completed: GO');
  expect(prompts[1]).toContain('Come back with a surprise');
});

test('the prompt holds the rules and the current phase, and nothing of a later one or any secret [S2.58 S2.59 S2.60 adv.H8]', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');
  let seen: { prompt: string; mcp: string; launch: Launch } | undefined;

  await bed.drive(
    [
      async ({ launch, prompt }) => {
        const mcp = readFileSync(launch.environment.PHASEGATE_MCP_CONFIG ?? '', 'utf8');
        seen = { launch, prompt: prompt(), mcp };
        return DONE;
      },
    ],
    { once: true, argv: ['agent', '--prompt={prompt_file}', '{prompt}', '{run}'] },
  );

  const { prompt, mcp, launch } = seen ?? expect.fail('nothing was started');
  const { environment } = launch;
  const handed = JSON.parse(launch.credentials);
  expect(prompt).toContain('Go there');
  expect(prompt).toContain('The engine decides');
  expect(prompt).not.toContain('surprise');
  expect(prompt).not.toContain('RETURN');
  expect(launch.argv).toEqual([
    'agent',
    `--prompt=${environment.PHASEGATE_PROMPT}`,
    environment.PHASEGATE_PROMPT,
    '{run}',
  ]);
  expect(environment).toMatchObject({
    PHASEGATE_URL: 'http://127.0.0.1:1',
    PHASEGATE_RUN: run,
    PHASEGATE_AGENT: expect.stringMatching(/^ada-\w+$/),
    PHASEGATE_KEY: expect.stringMatching(/^pgk_/),
    PHASEGATE_CREDENTIALS_FD: '3',
    EDITOR: 'vi',
  });
  expect(environment).not.toHaveProperty('ORCHESTRATOR_JWT_SECRET');
  expect(environment).not.toHaveProperty('PHASEGATE_DEBUG');
  expect(handed).toMatchObject({ url: 'http://127.0.0.1:1', task: run, key: environment.PHASEGATE_KEY });
  expect(handed.token.split('.')).toHaveLength(3);
  for (const secret of [handed.key, handed.token]) {
    expect(prompt + mcp + launch.argv.join(' ')).not.toContain(secret);
  }
  expect(JSON.parse(mcp)).toEqual({
    mcpServers: {
      phasegate: {
        type: 'http',
        url: 'http://127.0.0.1:1/mcp',
        headers: { Authorization: `Bearer $\{PHASEGATE_KEY}` },
      },
    },
  });
});

test('an agent that keeps crashing is started again as often as the workflow says, then a human must act [C15]', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');
  const crash = async (): Promise<Exit> => ({ kind: 'killed', signal: 'SIGSEGV' });

  const spawned = await bed.drive([crash, crash, crash, crash]);

  expect(spawned).toMatchObject({ run, outcome: 'escalated', status: 'escalated', starts: 3 });
  expect(spawned.message).toContain('lost its agent 3 times');
  expect(bed.events.filter(({ event }) => event === 'lost')).toHaveLength(3);
});

test('with once a crash puts the run back and nothing is started again', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');

  const spawned = await bed.drive([async () => DONE], { once: true });

  expect(spawned).toMatchObject({ outcome: 'crashed', status: 'queued', starts: 1 });
  expect(await bed.statusOf(run)).toBe('queued');
});

test('at a gate it ends well, and the decision puts the run into the queue for another [fail.28]', async () => {
  const bed = await makeBed({ 'gated.workflow.yaml': GATED });
  const run = await bed.queue('gated');

  const spawned = await bed.drive([
    async (agent) => {
      await agent.complete('ASK');
      return DONE;
    },
  ]);

  expect(spawned).toMatchObject({ run, outcome: 'waiting', status: 'waiting', starts: 1 });
  await bed.approve(run);
  expect(await bed.statusOf(run)).toBe('queued');
});

test('asked to wait for the human, it starts the agent again when the gate is decided [fail.28]', async () => {
  const bed = await makeBed({ 'gated.workflow.yaml': GATED });
  const run = await bed.queue('gated');
  const prompts: string[] = [];
  const driven = bed.drive(
    [
      async (agent) => {
        await agent.complete('ASK');
        return DONE;
      },
      async (agent) => {
        prompts.push(agent.prompt());
        await agent.complete('TELL');
        return DONE;
      },
    ],
    { waitForHuman: true },
  );
  await bed.until(({ event }) => event === 'waiting_for_human');

  await bed.approve(run);

  expect(await driven).toMatchObject({ run, outcome: 'completed', starts: 2 });
  expect(prompts[0]).toContain('You are started again:** a human has acted meanwhile');
});

test('items are worked on one after the other, a lost one again, and then the run goes on', async () => {
  const bed = await makeBed({ 'parallel.workflow.yaml': PARALLEL });
  const run = await bed.queue('parallel');
  const items: unknown[] = [];
  const one: Script = async (agent) => {
    const { item, token } = JSON.parse(agent.launch.credentials);
    items.push(item);
    expect(agent.prompt()).toContain(`You hold the item \`${item}\``);
    await agent.transition(token);
    return DONE;
  };
  const crash: Script = async (agent) => {
    items.push(JSON.parse(agent.launch.credentials).item);
    return { kind: 'exited', code: 1 };
  };
  const last: Script = async (agent) => {
    items.push(JSON.parse(agent.launch.credentials).item);
    await agent.complete('CLOSE');
    return DONE;
  };

  const spawned = await bed.drive([crash, one, one, last]);

  expect(spawned).toMatchObject({ run, outcome: 'completed', status: 'completed', starts: 4 });
  expect(items).toEqual(['German', 'German', 'Greek', null]);
});

test('anyone who interrupts it stops the agent and gives the run back, without a crash', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');
  const stop = new AbortController();

  const spawned = await bed.drive(
    [
      async ({ stopped }) => {
        stop.abort();
        await stopped;
        return { kind: 'killed', signal: 'SIGTERM' };
      },
    ],
    { signal: stop.signal },
  );

  expect(spawned).toMatchObject({ run, outcome: 'interrupted', starts: 1 });
  const history = await bed.open.as({ kind: 'human', name: 'maria' }).history(run);
  expect(history.find(({ event }) => event === 'run_released')?.data).toMatchObject({ cause: 'given_back' });
  expect(await bed.statusOf(run)).toBe('queued');
});

test('an agent that lost its lease is stopped, and started again when the run is available', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');

  const spawned = await bed.drive([
    async ({ launch, stopped }) => {
      // As when the watch finds that nothing was heard of it for too long.
      const name = launch.environment.PHASEGATE_AGENT ?? '';
      await bed.open.claims.release(run, { kind: 'agent', name }, 'exited');
      await stopped;
      return { kind: 'killed', signal: 'SIGTERM' };
    },
    async (agent) => {
      await agent.complete('GO', { note: 'seen' });
      await agent.complete('RETURN');
      return DONE;
    },
  ]);

  expect(spawned).toMatchObject({ outcome: 'completed', starts: 2 });
});

test('a program that is not there is said, and the run is where it was', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const run = await bed.queue('errand');

  await expect(bed.drive([async () => ({ kind: 'not_started', code: 'ENOENT' })])).rejects.toMatchObject({
    code: 'usage',
    message: '`agent` cannot be started: there is no such file or folder',
  });
  expect(await bed.statusOf(run)).toBe('queued');
  expect(await bed.open.agents.list()).toEqual([]);
});

test('without work it says so, or waits for some', async () => {
  const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
  const finish: Script = async (agent) => {
    await agent.complete('GO', { note: 'seen' });
    await agent.complete('RETURN');
    return DONE;
  };

  expect(await bed.drive([])).toMatchObject({ run: null, outcome: 'nothing_queued', starts: 0 });
  const waiting = bed.drive([finish], { wait: true });
  await bed.until((event) => event.event === 'waiting_for_work');
  const run = await bed.queue('errand');

  expect(await waiting).toMatchObject({ run, outcome: 'completed' });
});

test.each(['is at work', 'has ended its run and stays'])(
  'a program that %s ends when its agent is removed, and is not started again',
  async (what) => {
    const bed = await makeBed({ 'errand.workflow.yaml': TWO_PHASES });
    const run = await bed.queue('errand');

    const spawned = await bed.drive([
      async (agent) => {
        if (what !== 'is at work') {
          await agent.complete('GO', { note: 'seen' });
          await agent.complete('RETURN');
        }
        await bed.open.agents.remove(agent.launch.environment.PHASEGATE_AGENT ?? '', null);
        await agent.stopped;
        return { kind: 'killed', signal: 'SIGTERM' };
      },
    ]);

    expect(spawned).toMatchObject({ run, outcome: 'removed', starts: 1 });
    expect(await bed.statusOf(run)).toBe(what === 'is at work' ? 'queued' : 'completed');
    expect(readdirSync(join(bed.stateDir, 'agents'))).toEqual([]);
  },
);

test('an agent that is removed waits neither for work nor for a human any more', async () => {
  const bed = await makeBed({ 'gated.workflow.yaml': GATED });
  const remove = async () => {
    const [agent] = await bed.open.agents.list();
    await bed.open.agents.remove(agent?.name ?? '', null);
  };
  const idle = bed.drive([], { wait: true });
  await bed.until(({ event }) => event === 'waiting_for_work');
  await remove();
  expect(await idle).toMatchObject({ run: null, outcome: 'removed', starts: 0 });

  const run = await bed.queue('gated');
  const asking = bed.drive(
    [
      async (agent) => {
        await agent.complete('ASK');
        return DONE;
      },
    ],
    { waitForHuman: true },
  );
  await bed.until(({ event }) => event === 'waiting_for_human');
  await remove();

  expect(await asking).toMatchObject({ run, outcome: 'removed', starts: 1 });
  await bed.approve(run);
  expect(await bed.statusOf(run)).toBe('queued');
});
