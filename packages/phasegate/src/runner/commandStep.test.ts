import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { someOf } from '../../../../test/tier.ts';
import type { Fence } from '../runtime/ports.ts';
import { commanded, driveBed, isAlive, play } from './fixtures/driveBed.ts';

describe('a command that does its work', () => {
  test('gets StepInput on stdin, its words without a shell, and a clean environment [S3.23 S3.25 S3.34 S3.81]', async () => {
    const bed = await driveBed(
      [commanded('look', `${play('tell', 'a b', '$HOME')} {run} *`)],
      {
        params: { book: 'moby' },
      },
      { params: { book: {} } },
    );

    const driven = await bed.drive({
      environment: { ...process.env, PHASEGATE_KEY: 'secret', API_TOKEN: 'secret', HOME: '/tmp' },
    });

    expect(driven).toMatchObject({ outcome: 'completed', status: 'completed' });
    const { evidence } = (await bed.load()).completions[0] ?? expect.fail('nothing was completed');
    expect(evidence).toMatchObject({
      input: { runId: bed.run, step: 'look', checkpoint: { book: 'moby', workflowRunId: bed.run } },
      words: ['a b', '$HOME', bed.run, '*'],
      cwd: bed.root,
      env: { PHASEGATE_RUN: bed.run, PHASEGATE_STEP: 'look', PHASEGATE_PROJECT: bed.root, HOME: '/tmp' },
    });
    expect(JSON.stringify(evidence)).not.toContain('secret');
  });

  test('is not done again where a tool call was in the way of its result', async () => {
    const bed = await driveBed([commanded('look', play('tell')), commanded('end', play('ok'))], {
      parts: { waits: { completionMs: 1 } },
    });
    const { store, run } = bed;
    const call = { id: 'c', run, item: null, tool: 'bash', process: 'x', ending: false };
    await store.beginCall({ ...call, deadline: '2099-01-01T00:00:00.000Z' }, 1, []);
    const stop = store.onCommit(async () => {
      const records = await store.history(run, { after: 0, limit: 99 });
      if (!records.some(({ event }) => event === 'command_refused')) return;
      stop();
      await store.endCall(call, []);
    });

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

    expect(bed.starts()).toEqual([
      ['look', 1],
      ['end', 1],
    ]);
  });

  test('has no failed attempt where something was changed outside the scope, and a human is asked', async () => {
    const moved = { path: 'x', how: 'added', content: null, mode: null, at: null } as const;
    const measuring = {
      measure: async () => 'before',
      compare: async () => ({ ok: true, tree: 'after', changes: [moved], notes: [] }),
      moved: async () => [],
      keep: async () => undefined,
      settle: async () => undefined,
      release: async () => undefined,
    } as unknown as Fence;
    const bed = await driveBed([commanded('look', play('tell'))], { parts: { measuring } });

    expect(await bed.drive()).toMatchObject({ outcome: 'escalated' });

    const { work, ...run } = await bed.load();
    expect(work).toMatchObject({ attempts: 0, failure: null });
    expect(run).toMatchObject({ escalation: { blockers: [{ code: 'scope_violation' }] } });
  });

  test.each([
    ['{"success":false,"error":"red"}', '{"success":true}'],
    ['{"success":true,"result":{"passed":1}}', '{"success":true,"result":{"passed":9}}'],
    ['{"success":false,"error":"red"}', '{"\\u0073ucces\\u0073":true}'],
  ])('has failed where it says twice what came of it, %s and then %s [adv.Q7]', async (...lines) => {
    const bed = await driveBed([commanded('work', './both.sh')]);
    const script = ['#!/bin/sh', ...lines.map((line) => `printf '%s\\n' '${line}'`), ''].join('\n');
    writeFileSync(join(bed.root, 'both.sh'), script);
    chmodSync(join(bed.root, 'both.sh'), 0o755);

    expect(await bed.drive()).toMatchObject({ outcome: 'escalated' });

    expect((await bed.load()).work.failure).toContain('it must print one result');
  });

  test('has what it prints shown a line at a time, and its result kept to the engine [S3.25]', async () => {
    const bed = await driveBed([commanded('look', play('tell'))]);

    await bed.drive();

    expect(bed.shown().toSorted()).toEqual(['Then say so.', 'Write the plan.', 'looking around']);
  });

  test('is followed by the next, which has all earlier outputs in its checkpoint [S3.29 S3.30 S3.32 S3.36 S3.39 S3.48]', async () => {
    const bed = await driveBed([
      commanded('plan', play('result', '{"areas":["one"]}')),
      commanded('look', play('tell')),
    ]);

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

    expect((await bed.load()).completions[1]?.evidence).toMatchObject({
      input: {
        checkpoint: { areas: ['one'], completedSteps: [{ step: 'plan', result: { areas: ['one'] } }] },
      },
    });
    expect(bed.endings()).toEqual([
      [true, 'goes on with `look`'],
      [true, 'the run is completed'],
    ]);
  });
});

describe('a command that gives no result', () => {
  const failing: readonly (readonly [string, string, string | RegExp])[] = [
    [
      'is not there',
      'no-such-program-here {run}',
      'the program `no-such-program-here`, or the one its first line names, was not found',
    ],
    ['is not executable', './plain.txt', 'the program `./plain.txt` is not executable'],
    ['has a quote that never ends', "echo 'a", "the command has a ' that is never closed"],
    ['exits non-zero after saying success', play('exit', '3'), /ended with exit code 3: disk full$/],
    ['is killed', play('kill'), /was killed by SIGKILL$/],
    ['prints nothing', play('silent'), 'the command printed nothing; its last line must be a JSON object'],
    ['prints prose last', play('raw', 'all done'), 'the last line of the command is not JSON: `all done`'],
    ['prints no object', play('raw', '[1]'), 'the last line of the command is not a JSON object: `[1]`'],
    [
      'does not say whether',
      play('say', '{"success":"yes"}'),
      'the last line of the command has no `success` that is true or false',
    ],
    ['says no', play('say', '{"success":false,"error":"no ink","postconditionsPassed":true}'), 'no ink'],
    [
      'says no without a word',
      play('say', '{"success":false}'),
      'the command reported failure and gave no `error`',
    ],
    [
      'returns no object',
      play('say', '{"success":true,"result":[1]}'),
      '`result` of the command is not a JSON object',
    ],
    [
      'names a phase that is not next',
      play('say', '{"success":true,"nextStepHint":"ship"}'),
      '`nextStepHint` `ship` is not a phase that `work` leads to; it can lead to `check`',
    ],
  ];

  test.each(someOf(failing, { quick: 4, full: failing.length }))(
    '%s: one more try, then a human [S3.26 S3.35 S3.41 S3.42 fail.15]',
    async (_, command, reason) => {
      const bed = await driveBed([
        commanded('work', command),
        commanded('check', play('ok')),
        commanded('ship', play('ok')),
      ]);
      writeFileSync(join(bed.root, 'plain.txt'), 'text');
      chmodSync(join(bed.root, 'plain.txt'), 0o644);

      const driven = await bed.drive();

      expect(driven).toMatchObject({ outcome: 'escalated', status: 'escalated', phase: 'work' });
      const matching = typeof reason === 'string' ? reason : expect.stringMatching(reason);
      expect(bed.endings()).toEqual([
        [false, matching],
        [false, matching],
      ]);
      expect(bed.starts()).toEqual([
        ['work', 1],
        ['work', 2],
      ]);
      expect((await bed.load()).work).toMatchObject({ attempts: 2, failure: matching });
    },
  );

  test('is told why the first attempt failed when it is tried again [S3.40 S3.42 S3.43]', async () => {
    const bed = await driveBed([commanded('work', play('second'))]);

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

    expect((await bed.load()).completions[0]?.evidence).toEqual({
      told: { error: 'Previous attempt failed: not yet', attempt: 2 },
    });
  });

  test('is ended when its time is up, with all it started', async () => {
    const bed = await driveBed([commanded('work', play('hang'))]);

    const driven = await bed.drive({ stepTimeout: 1 });

    expect(driven).toMatchObject({ outcome: 'escalated' });
    expect(bed.endings()[0]?.[1]).toMatch(/did not end within 1 seconds and was killed$/);
    await expect.poll(() => bed.lines('pids').map((pid) => isAlive(Number(pid)))).toEqual([false, false]);
  });

  test('is ended when it prints without end, and memory stays as it was', async () => {
    const bed = await driveBed([commanded('work', play('flood'))]);
    const before = process.memoryUsage().rss;

    const driven = await bed.drive();

    expect(driven).toMatchObject({ outcome: 'escalated' });
    expect(bed.endings()[0]?.[1]).toMatch(/printed too much, more than 16 MB, and was killed$/);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test('leaves a process behind at its output: it is ended, and the result is not taken [adv.Q7]', async () => {
    const bed = await driveBed([commanded('work', play('fork'))]);

    expect(await bed.drive()).toMatchObject({ outcome: 'escalated' });

    expect(bed.endings()[0]).toEqual([
      false,
      expect.stringMatching(/could still print in its place, so its result is not taken; wait for/),
    ]);
    await expect.poll(() => bed.lines('pids').map((pid) => isAlive(Number(pid)))).toEqual([false, false]);
  });

  test.each(['after', 'again and again'])(
    'says no, and a detached process says yes in its place, %s [adv.Q7]',
    async (when) => {
      const bed = await driveBed([commanded('work', play('echoes', when))]);

      expect(await bed.drive()).toMatchObject({ outcome: 'escalated', phase: 'work' });

      expect((await bed.load()).completions).toEqual([]);
    },
  );

  test('leaves a process behind that has an output of its own: its result counts', async () => {
    const bed = await driveBed([commanded('work', play('leaves'))]);

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });
  });
});

describe('what a command claims', () => {
  test('`postconditionsPassed` is never believed: the engine looks itself [S3.24 S3.35 fail.15]', async () => {
    const bed = await driveBed([
      commanded('work', play('result', '{"written":0}'), {
        postconditions: [
          { check: 'expression', with: { condition: 'result.written > 0' }, message: 'nothing was written' },
        ],
      }),
    ]);

    expect(await bed.drive()).toMatchObject({ outcome: 'escalated' });

    expect((await bed.load()).work).toMatchObject({
      attempts: 2,
      failure: expect.stringContaining('nothing was written'),
    });
  });

  test('a hint that fits the graph is what the step expects, and the engine goes where the route leads [S3.24 fail.15]', async () => {
    const said = '{"success":true,"result":{"decision":"approved"},"nextStepHint":"fix"}';
    const bed = await driveBed([
      commanded('review', play('say', said), {
        next: { condition: 'result.decision === "approved"', onTrue: 'ship', onFalse: 'fix' },
      }),
      commanded('fix', play('ok'), { next: { to: 'ship' } }),
      commanded('ship', play('ok')),
    ]);

    expect(await bed.drive()).toMatchObject({ outcome: 'escalated', phase: 'review' });

    expect(bed.endings()[0]).toEqual([false, 'phase `review` does not lead to `fix` now']);
    expect(bed.starts()).toHaveLength(2);
  });
});
