import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, PhaseDraft } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { someOf } from '../../../../test/tier.ts';
import { commanded, driveBed, isAlive, play, playing } from './fixtures/driveBed.ts';
import type { TerminalLaunch } from './parts.ts';

const AGENT = { kind: 'agent', name: 'local' } as const;
const CODE = { code: 'c0de', module: 'work.ts' };
const PHASES: readonly PhaseDraft[] = [
  { id: 'PLAN', instructions: 'Write a plan.', fields: [{ name: 'plan', type: 'str' }] },
  commanded('ship', play('ok')),
];

describe('an agent that forgets', () => {
  const forgetful: readonly (readonly [string, readonly [string, ...string[]], string])[] = [
    ['exits without reporting', playing('silent'), 'the agent ended without completing the phase'],
    ['answers with prose', playing('prose'), 'the agent ended without completing the phase'],
    ['claims success', playing('say', '{"success":true}'), 'the agent ended without completing the phase'],
    ['loops for ever', playing('hang'), 'did not end within 1 seconds and was killed'],
    ['is not there', ['no-such-agent'], 'was not found'],
    ['crashes', playing('exit', '7'), 'ended with exit code 7'],
  ];

  test.each(someOf(forgetful, { quick: 3, full: forgetful.length }))(
    '%s: is started again with the card, then a human; it never advances [S3.2 S3.8 S3.34 S3.41 fail.11]',
    async (_, agentCommand, reason) => {
      const bed = await driveBed(PHASES);

      const driven = await bed.drive({ agentCommand, stepTimeout: 1 });

      expect(driven).toMatchObject({ outcome: 'escalated', phase: 'PLAN' });
      expect(bed.starts()).toEqual([
        ['PLAN', 1],
        ['PLAN', 2],
      ]);
      expect((await bed.load()).work).toMatchObject({
        attempts: 2,
        failure: expect.stringContaining(reason),
      });
      expect((await bed.load()).completions).toEqual([]);
    },
  );

  test('is told why it failed, what to do, and how to report it; its own environment is kept, ours is not [S3.8 S3.42]', async () => {
    const bed = await driveBed(PHASES);

    await bed.drive({
      agentCommand: playing('prompt', '{prompt}'),
      environment: { ...process.env, OWN_API_KEY: 'mine', PHASEGATE_PASSPHRASE: 'x' },
    });

    const [first, second] = bed.lines('prompts').map((line) => JSON.parse(line));
    expect(first.prompt).toContain('Write a plan.');
    expect(first.prompt).toContain(`phasegate done ${bed.run} --phase PLAN --evidence -`);
    expect(first.prompt).toContain(`phasegate mcp --run ${bed.run}`);
    expect(first.prompt).not.toContain('ship');
    expect(first.prompt).not.toContain('Previous attempt failed');
    expect(second.prompt).toContain('Previous attempt failed: the agent ended without completing the phase');
    expect(first.env).toMatchObject({
      OWN_API_KEY: 'mine',
      PHASEGATE_RUN: bed.run,
      PHASEGATE_STEP: 'PLAN',
      PHASEGATE_AGENT: 'local',
    });
    expect(first.env.PHASEGATE_PASSPHRASE).toBeUndefined();
  });

  test('gets the prompt on its standard input where its words do not ask for the file', async () => {
    const bed = await driveBed(PHASES);

    await bed.drive({ agentCommand: playing('prompt') });

    expect(JSON.parse(bed.lines('prompts')[0] ?? '').prompt).toContain('Write a plan.');
  });
});

describe('an agent that reports', () => {
  test('has its phase completed by the engine, and the run goes on [S3.8 S3.26]', async () => {
    const bed = await whileWorking([{ kind: 'complete', phase: 'PLAN', evidence: { plan: 'a plan' } }]);

    expect(bed.driven).toMatchObject({ outcome: 'completed' });
    expect(bed.starts()).toEqual([
      ['PLAN', 1],
      ['ship', 1],
    ]);
  });

  test('and is blocked hands the run to a human, and no attempt is counted beside', async () => {
    const bed = await whileWorking([{ kind: 'report_blocked', reason: 'no access' }]);

    expect(bed.driven).toMatchObject({ outcome: 'escalated', message: 'no access' });
    expect((await bed.load()).work.attempts).toBe(0);
  });

  test('and asks leaves the run waiting for the answer [S4.48]', async () => {
    const bed = await whileWorking([{ kind: 'ask', questions: [{ text: 'Which?', options: ['A', 'B'] }] }]);

    expect(bed.driven).toMatchObject({ outcome: 'waiting' });
    expect(bed.waits()[0]).toMatchObject({
      for: 'questions',
      questions: [{ number: 1, text: 'Which?', options: ['A', 'B'], answered: false }],
    });
  });

  test('and is refused is started once more: one attempt, not two', async () => {
    const bed = await whileWorking([{ kind: 'report_failure', phase: 'PLAN', reason: 'no plan' }], {
      agents: 1,
    });

    expect(bed.starts().slice(0, 2)).toEqual([
      ['PLAN', 1],
      ['PLAN', 2],
    ]);
  });
});

describe('without an agent command', () => {
  test('the prompt is printed and the driving pauses [S3.8 S3.34]', async () => {
    const bed = await driveBed(PHASES);

    expect(await bed.drive()).toMatchObject({ outcome: 'awaiting_agent', status: 'active', phase: 'PLAN' });

    expect(bed.reports).toContainEqual({
      event: 'prompt',
      phase: 'PLAN',
      text: expect.stringContaining('Write a plan.'),
    });
    // Nothing was started, and nothing says so.
    expect(bed.starts()).toEqual([]);
    expect((await bed.load()).work.attempts).toBe(0);
  });

  test('the result is awaited where asked to, and the run goes on with it', async () => {
    const bed = await driveBed(PHASES);
    const driving = bed.drive({ waitForHuman: true });
    await expect.poll(() => bed.reports.some(({ event }) => event === 'prompt')).toBe(true);

    await bed.open
      .as(AGENT)
      .submit(bed.run, { kind: 'complete', phase: 'PLAN', evidence: { plan: 'a plan' } });

    expect(await driving).toMatchObject({ outcome: 'completed' });
  });
});

describe('a step with a handler', () => {
  const HANDLED = {
    work: { kind: 'handler', ref: 'steps/read/handler' },
    next: { outcomes: { ok: 'ship' } },
  } as const;
  const something: readonly (readonly [string, Partial<PhaseDraft>])[] = [
    ['instructions', { instructions: 'Read the decision.' }],
    ['a body made by a function', { render: 'steps/read/body' }],
    ['tasks', { tasks: [{ name: 'First', instructions: 'Read.' }] }],
    ['evidence', { fields: [{ name: 'claims', type: 'list', rule: 'optional' }] }],
    ['artifacts', { artifacts: [{ type: 'claims' }] }],
  ];

  test.each(something)('and %s is not done before an agent has done it [S4.11 C31]', async (_, more) => {
    const bed = await handled({ id: 'read', ...HANDLED, ...more });

    expect(await bed.drive()).toMatchObject({ outcome: 'awaiting_agent', phase: 'read' });
    expect(bed.reports).toContainEqual(expect.objectContaining({ event: 'prompt', phase: 'read' }));
    expect((await bed.load()).completions).toEqual([]);
  });

  test("is the agent's first, and then its handler decides [S4.11 C31]", async () => {
    const phases = [
      {
        id: 'PLAN',
        instructions: 'Read the decision.',
        ...HANDLED,
        next: { outcomes: { ok: null, skip: 'ship' } },
      },
      commanded('ship', play('ok')),
    ];
    const bed = await whileWorking([{ kind: 'complete', phase: 'PLAN', evidence: {} }], { phases });

    expect(bed.driven).toMatchObject({ outcome: 'completed' });
    expect(bed.starts()).toEqual([
      ['PLAN', 1],
      ['ship', 1],
    ]);
    expect(bed.reports).toContainEqual(expect.objectContaining({ event: 'step_started', kind: 'agent' }));
    expect((await bed.load()).completions[0]).toMatchObject({ phase: 'PLAN', outcome: 'skip' });
  });

  test('and an agent that forgets it has failed: the handler is not asked', async () => {
    const bed = await handled({ id: 'read', instructions: 'Read.', ...HANDLED });

    expect(await bed.drive({ agentCommand: playing('silent') })).toMatchObject({ outcome: 'escalated' });
    expect((await bed.load()).work.failure).toContain('the agent ended without completing the phase');
  });

  test.each([
    ['a title', { name: 'Read it' }],
    ['a title and no actions', { name: 'Read it', instructions: ' ' }],
  ])('and nothing but %s is done by the engine [S4.11]', async (_, more) => {
    const bed = await handled({ id: 'read', ...HANDLED, ...more });

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });
  });

  async function handled(phase: PhaseDraft) {
    const bed = await driveBed([phase, commanded('ship', play('ok'))], {}, CODE);
    bed.answer({
      ok: true,
      value: phase.render === undefined ? { outcome: 'ok', state: {} } : { title: 'Read', body: 'Read it.' },
    });
    return bed;
  }
});

describe('in a terminal', () => {
  test('an agent is started by the adapter, watched for its time, and ended', async () => {
    const bed = await driveBed(PHASES);
    const launches: TerminalLaunch[] = [];
    const start = async (launch: TerminalLaunch) => {
      launches.push(launch);
      const end = Promise.withResolvers<{ readonly kind: 'killed'; readonly signal: string }>();
      return {
        where: 'a window',
        exited: end.promise,
        stop: async () => end.resolve({ kind: 'killed', signal: 'SIGTERM' }),
      };
    };

    const driven = await bed.drive(
      { adapter: 'tmux', agentCommand: ['agent', '{prompt}'], stepTimeout: 0.05 },
      { terminal: { start }, launcher: ['phasegate'] },
    );

    expect(driven).toMatchObject({ outcome: 'escalated' });
    expect((await bed.load()).work.failure).toContain(
      '`agent` did not end within 0.05 seconds and was killed',
    );
    expect(launches).toHaveLength(2);
    expect(launches[0]?.argv[1]).toBe(launches[0]?.environment.PHASEGATE_PROMPT);
  });
});

test('an interrupted agent is ended, and no attempt is counted', async () => {
  const bed = await driveBed(PHASES);
  const stop = new AbortController();
  const driving = bed.drive({ agentCommand: playing('hang'), signal: stop.signal });
  await expect.poll(() => bed.starts().length === 1 && bed.lines('pids').length).toBe(1);

  stop.abort();

  expect(await driving).toMatchObject({ outcome: 'interrupted', phase: 'PLAN' });
  await expect.poll(() => isAlive(Number(bed.lines('pids')[0]))).toBe(false);
  expect((await bed.load()).work.attempts).toBe(0);
});

/** Drives with an agent that stays until these were submitted in its name. */
async function whileWorking(commands: readonly Command[], { agents = 9, phases = PHASES } = {}) {
  const bed = await driveBed(phases, {}, phases === PHASES ? {} : CODE);
  bed.answer({ ok: true, value: { outcome: 'skip', state: {} } });
  let started = 0;
  const driven = await bed.drive({
    agentCommand: playing('lingers'),
    report(progress) {
      bed.reports.push(progress);
      if (progress.event !== 'step_started' || progress.kind !== 'agent') return;
      started += 1;
      if (started > agents) return writeFileSync(join(bed.root, 'done'), '');
      void (async () => {
        for (const command of commands) await bed.open.as(AGENT).submit(bed.run, command);
        writeFileSync(join(bed.root, 'done'), '');
      })();
    },
  });
  return { ...bed, driven };
}
