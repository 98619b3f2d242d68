import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PhaseDraft } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import type { DriveRequest } from '../runtime/ports.ts';
import { commanded, driveBed, isAlive, play } from './fixtures/driveBed.ts';

const GATE: Partial<PhaseDraft> = {
  gates: [
    {
      id: 'ship',
      human: {
        prompt: 'Is it good enough?',
        context: ['metrics.delta'],
        options: [
          { label: 'Approve and finalize', next: 'ship' },
          { label: 'Request more', next: 'write', requiresInput: true },
          { label: 'Reject and stop', next: null },
        ],
      },
    },
  ],
};

const WRITING: readonly PhaseDraft[] = [
  commanded('write', play('tell')),
  commanded('measure', play('result', '{"metrics":{"delta":0.2}}'), GATE),
  commanded('ship', play('ok')),
];

describe('a gate', () => {
  test('ends the driving with what a human needs to decide, and how [S3.10 S3.37 S3.62 S3.63]', async () => {
    const bed = await driveBed(WRITING);

    const driven = await bed.drive();

    expect(driven).toMatchObject({ outcome: 'waiting', status: 'waiting', phase: 'measure' });
    const shown = String(bed.waits()[0]?.shown);
    expect(bed.waits()).toEqual([
      expect.objectContaining({
        for: 'gate',
        prompt: 'Is it good enough?',
        context: expect.objectContaining({ 'metrics.delta': 0.2 }),
        needs: expect.stringContaining('phasegate humans add'),
        options: [
          {
            label: 'Approve and finalize',
            requires_input: false,
            how: `phasegate decide ${bed.run} --option 'Approve and finalize' --shown ${shown}`,
          },
          {
            label: 'Request more',
            requires_input: true,
            how: `phasegate decide ${bed.run} --option 'Request more' --input TEXT --shown ${shown}`,
          },
          {
            label: 'Reject and stop',
            requires_input: false,
            how: `phasegate decide ${bed.run} --option 'Reject and stop' --shown ${shown}`,
          },
        ],
      }),
    ]);
  });

  test('is gone on from when it is decided: back with what the human wrote, then on [S3.1 S3.37 S3.47 S3.63]', async () => {
    const bed = await driveBed(WRITING);
    await bed.drive();
    const without = await bed.decide('Request more');
    expect(without.verdict).toMatchObject({ allowed: false, blockers: [{ code: 'input_required' }] });
    expect(await bed.drive()).toMatchObject({ outcome: 'waiting' });

    await bed.decide('Request more', 'the ending drags');
    await bed.drive();
    await bed.decide('Approve and finalize');
    const driven = await bed.drive();

    expect(driven).toMatchObject({ outcome: 'completed' });
    const written = (await bed.load()).completions.filter(({ phase }) => phase === 'write');
    expect(written[1]?.evidence).toMatchObject({
      input: { note: 'maria chose `Request more`: the ending drags' },
    });
  });

  test('at which a human rejects ends the run as stopped, not completed [S3.63 fail.15]', async () => {
    const bed = await driveBed(WRITING);
    await bed.drive();
    await bed.decide('Reject and stop');

    expect(await bed.drive()).toMatchObject({ outcome: 'stopped', status: 'stopped' });
    expect(bed.starts().map(([phase]) => phase)).toEqual(['write', 'measure']);
  });

  test('is waited at where asked to, until a human has acted [S3.37]', async () => {
    const bed = await driveBed(WRITING);
    const driving = bed.drive({ waitForHuman: true });
    await expect.poll(() => bed.waits().length, { timeout: 10_000 }).toBe(1);

    await bed.decide('Approve and finalize');

    expect(await driving).toMatchObject({ outcome: 'completed' });
  });
});

describe('a human who must act', () => {
  test('is shown why, what failed, and what was printed last; nothing more is run [S3.5 S3.41 S3.45]', async () => {
    const bed = await driveBed([commanded('write', play('exit', '3')), commanded('ship', play('ok'))]);

    await bed.drive();
    const again = await bed.drive();

    expect(again).toMatchObject({ outcome: 'escalated', message: 'phase `write` failed twice' });
    expect(bed.starts()).toHaveLength(2);
    expect(bed.waits()[1]).toMatchObject({
      for: 'escalation',
      reason: 'attempts',
      attempts: 2,
      blockers: [{ code: 'work_failed', message: expect.stringContaining('exit code 3: disk full') }],
      failure: expect.stringContaining('exit code 3'),
      printed_last: expect.arrayContaining(['disk full']),
      how: [expect.stringContaining('phasegate resume'), expect.stringContaining('phasegate stop')],
    });
  });

  test('lets it go on, and the step begins anew with their note [S3.44 S3.47]', async () => {
    const bed = await driveBed([commanded('write', play('second'))]);
    const local = bed.open.as({ kind: 'agent', name: 'local' });
    for (const reason of ['one', 'two'])
      await local.submit(bed.run, { kind: 'report_failure', phase: 'write', reason });
    expect(await bed.drive()).toMatchObject({ outcome: 'escalated' });

    await bed.human.submit(bed.run, { kind: 'resume', note: 'look again' });
    const driven = await bed.drive();

    expect(driven).toMatchObject({ outcome: 'completed' });
    expect(bed.reports).toContainEqual({ event: 'note', message: 'phase `write` failed before: two' });
  });

  test('is asked once a loop has used up its rounds [S3.11 fail.26]', async () => {
    const bed = await driveBed([
      commanded('write', play('ok')),
      commanded('review', play('result', '{"decision":"rejected"}'), {
        next: {
          condition: 'result.decision === "approved"',
          onTrue: null,
          onFalse: 'write',
          maxIterations: 2,
        },
      }),
    ]);

    const driven = await bed.drive();

    expect(driven).toMatchObject({ outcome: 'escalated', phase: 'review' });
    const round = ['write', 'review'];
    expect(bed.starts().map(([phase]) => phase)).toEqual([...round, ...round, ...round]);
  });
});

test('a handler is run by the engine, and its outcome leads on [S4.10 S4.15 fail.45]', async () => {
  const bed = await driveBed(
    [
      {
        id: 'choose',
        work: { kind: 'handler', ref: 'steps/choose/handler' },
        next: { outcomes: { ok: 'full', skip: 'quick' } },
      },
      commanded('full', play('ok')),
      commanded('quick', play('ok')),
    ],
    {},
    { code: 'c0de', module: 'work.ts' },
  );
  bed.answer({ ok: true, value: { outcome: 'skip', state: { mode: 'quick' } } });

  expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

  expect(bed.starts().map(([phase]) => phase)).toEqual(['choose', 'quick']);
  expect((await bed.load()).state).toEqual({ mode: 'quick' });
});

test('a run whose workflow has other code by now is refused with the reason, and left as it is [S3.44]', async () => {
  const handler = {
    id: 'choose',
    work: { kind: 'handler', ref: 'f' },
    next: { outcomes: { ok: null } },
  } as const;
  const started = await driveBed([handler], {}, { code: 'old', module: 'work.ts' });
  const edited = await driveBed([handler], {}, { code: 'new', module: 'work.ts' });
  const project = { root: started.root, stateDir: started.stateDir, catalog: edited.parts.catalog };

  const driving = started.drive({ project: project as DriveRequest['project'] });

  await expect(driving).rejects.toMatchObject({
    code: 'code_changed',
    hint: `bring \`work.ts\` back as it was, or accept it with \`phasegate trust work\` and move the run with \`phasegate migrate ${started.run}\``,
  });
  expect(started.starts()).toEqual([]);
  expect((await started.load()).status).toBe('active');
});

test('a command that was replaced while it ran counts for nothing, and the new one is run', async () => {
  const before = [commanded('build', play('waits', 'old'))];
  const { catalog } = (await driveBed(before)).parts;
  const edited = (await driveBed([commanded('build', play('result', '{"by":"new"}'))])).parts.catalog;
  let found = { ...(await catalog.load('work')), closure: 'old' };
  const bed = await driveBed(before, { parts: { catalog: { ...catalog, load: async () => found } } });
  await bed.open.humans.add('maria', 'open sesame', null);
  const maria = await bed.open.humans.unlock('maria', 'open sesame');
  const migrate = async () => {
    found = { ...(await edited.load('work')), closure: 'new' };
    await bed.open.trust.workflows.accept('work', 'new', maria);
    await bed.open.migrations.migrate(bed.run, found.hash, maria);
    writeFileSync(join(bed.root, 'done'), '');
  };
  const migrating: Promise<void>[] = [];

  const driven = await bed.drive({
    report: (progress) => {
      bed.reports.push(progress);
      if (progress.event === 'step_started' && migrating.length === 0) migrating.push(migrate());
    },
  });
  await Promise.all(migrating);

  expect(driven).toMatchObject({ outcome: 'completed' });
  expect((await bed.load()).completions).toMatchObject([{ phase: 'build', evidence: { by: 'new' } }]);
  expect(bed.starts()).toHaveLength(2);
});

describe('whose run it is', () => {
  test('a queued run is claimed first', async () => {
    const bed = await driveBed([commanded('write', play('ok'))], { queue: true });

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });
    expect((await bed.load()).completions[0]?.by).toBe('local');
  });

  test('a run that another agent holds is left alone', async () => {
    const bed = await driveBed([commanded('write', play('ok'))]);

    await expect(bed.drive({ agent: 'eve' })).rejects.toMatchObject({
      code: 'not_permitted',
      message: expect.stringContaining('held by the agent `local`'),
    });
    expect(bed.starts()).toEqual([]);
  });

  test('a run that is taken away ends what is under way, and says so', async () => {
    const bed = await driveBed([commanded('write', play('hang'))]);
    const driving = bed.drive();
    driving.catch(() => undefined);
    await expect.poll(() => bed.reports.length).toBe(1);

    await bed.open.claims.release(bed.run, { kind: 'agent', name: 'local' }, 'given_back');

    await expect(driving).rejects.toMatchObject({
      code: 'not_permitted',
      message: expect.stringContaining('held by nobody'),
    });
    expect((await bed.load()).work.attempts).toBe(0);
  });

  test('a run that was given back while it waits is shown, and taken up again when a human has acted', async () => {
    const bed = await driveBed(WRITING);
    await bed.drive();
    await bed.open.claims.release(bed.run, { kind: 'agent', name: 'local' }, 'given_back');
    expect(await bed.drive()).toMatchObject({ outcome: 'waiting' });
    const driving = bed.drive({ waitForHuman: true });
    await expect.poll(() => bed.waits().length).toBe(3);

    await bed.decide('Approve and finalize');

    expect(await driving).toMatchObject({ outcome: 'completed' });
  });

  test('a run that a human stops ends what is under way', async () => {
    const bed = await driveBed([commanded('write', play('hang'))]);
    const driving = bed.drive();
    await expect.poll(() => bed.reports.length).toBe(1);

    await bed.human.submit(bed.run, { kind: 'stop', reason: 'enough' });

    expect(await driving).toMatchObject({ outcome: 'stopped', message: 'the run was stopped: enough' });
  });
});

test('an interruption ends the step, counts no attempt, and the run goes on later [S3.1 S3.47]', async () => {
  const bed = await driveBed([commanded('write', play('hang')), commanded('ship', play('ok'))]);
  const stop = new AbortController();
  const driving = bed.drive({ signal: stop.signal });
  await expect.poll(() => bed.reports.length).toBe(1);
  await expect.poll(() => bed.lines('pids').length).toBe(1);

  stop.abort();

  expect(await driving).toMatchObject({ outcome: 'interrupted', status: 'active', phase: 'write' });
  expect(bed.lines('pids').map((pid) => isAlive(Number(pid)))).toEqual([false]);
  expect((await bed.load()).work).toMatchObject({ attempts: 0, failure: null });
  const again = bed.drive({ stepTimeout: 1 });
  expect(await again).toMatchObject({ outcome: 'escalated' });
});
