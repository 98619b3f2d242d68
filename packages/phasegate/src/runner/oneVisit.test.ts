import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PhaseDraft } from '@phasegate/core';
import { expect, test } from 'vitest';
import { commanded, driveBed, play } from './fixtures/driveBed.ts';

const LOOP: readonly PhaseDraft[] = [
  commanded('review', play('waits', 'the runner'), {
    next: { condition: 'result.by === "the runner"', onTrue: 'ship', onFalse: 'rework', maxIterations: 3 },
  }),
  commanded('rework', play('ok'), { next: { to: 'review' } }),
  commanded('ship', play('ok')),
];

test('a result of an earlier visit completes no later one: the step is done again for it [adv.O7]', async () => {
  const bed = await driveBed(LOOP);
  const driving = bed.drive();
  await expect.poll(() => bed.starts().length, { timeout: 10_000 }).toBe(1);
  const local = bed.open.as({ kind: 'agent', name: 'local' });
  for (const [phase, evidence] of [
    ['review', { by: 'an agent' }],
    ['rework', {}],
  ] as const) {
    expect(await local.submit(bed.run, { kind: 'complete', phase, evidence })).toMatchObject({
      verdict: { allowed: true },
      view: { status: 'active' },
    });
  }

  writeFileSync(join(bed.root, 'done'), '');

  expect(await driving).toMatchObject({ outcome: 'completed' });
  expect(bed.starts()).toEqual([
    ['review', 1],
    ['review', 1],
    ['ship', 1],
  ]);
});

test('a failure of an earlier visit is not an attempt of a later one [adv.O7]', async () => {
  const bed = await driveBed(LOOP);
  const { epoch } = await bed.load();
  const local = bed.open.as({ kind: 'agent', name: 'local' });
  await local.submit(bed.run, { kind: 'complete', phase: 'review', evidence: { by: 'an agent' } });
  await local.submit(bed.run, { kind: 'complete', phase: 'rework', evidence: {} });

  for (const at of [{ epoch, visit: 1 }, { epoch }, { epoch: epoch + 2, visit: 1 }]) {
    await expect(
      local.submit(bed.run, { kind: 'report_failure', phase: 'review', reason: 'no luck', at }),
    ).rejects.toMatchObject({ code: 'run_changed', message: expect.stringContaining('has moved on since') });
  }

  expect((await bed.load()).work.attempts).toBe(0);
  const now = { epoch: epoch + 2, visit: 2 };
  await local.submit(bed.run, { kind: 'report_failure', phase: 'review', reason: 'no luck', at: now });
  expect((await bed.load()).work.attempts).toBe(1);
  expect(JSON.stringify(await bed.human.history(bed.run))).not.toContain('"at":{');
});
