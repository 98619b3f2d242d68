import type { Duty, Store } from '@phasegate/core/ports';
import { expect, test, vi } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { FULL } from '../../../test/tier.ts';
import { openNode } from './fixtures/nodes.ts';
import { endSessionOnDuty, lastWordOnDuty } from './fixtures/sessionOnDuty.ts';
import { testSeal } from './fixtures/testSeal.ts';

const seal = testSeal();
const LONG = { timeout: 30_000 };
/** However slow the machine is, nobody loses the duty by it. */
const PATIENT = { duty: { silent: 3_600_000, away: 3_600_000 } };

function dutyOf({ duty }: Store): Duty {
  if (duty === undefined) throw new Error('the store has no duty');
  return duty;
}

test('of several nodes one is on duty, until it leaves or its store is closed', async () => {
  const url = await freshSchema();
  const open = () => openNode(url, seal, PATIENT);
  const nodes = [await open(), await open(), await open()] as const;
  const [one, two, three] = [dutyOf(nodes[0]), dutyOf(nodes[1]), dutyOf(nodes[2])];

  expect(await Promise.all([one.isMine(), one.isMine()])).toEqual([true, true]);
  expect(await Promise.all([two.isMine(), three.isMine()])).toEqual([false, false]);
  await one.leave();
  // Asked at once, it would take back what it left to others.
  expect(await one.isMine()).toBe(false);
  expect(await two.isMine()).toBe(true);
  expect([await one.isMine(), await three.isMine()]).toEqual([false, false]);
  await nodes[1].close();
  expect(await three.isMine()).toBe(true);
  await expect(two.isMine()).rejects.toMatchObject({ code: 'store_unavailable' });
});

test.runIf(FULL)('nodes that ask at once are not both on duty, and projects do not share it', async () => {
  const url = await freshSchema();
  const nodes = await Promise.all([1, 2, 3, 4].map(() => openNode(url, seal, PATIENT)));
  const ask = () => Promise.all(nodes.map((node) => dutyOf(node).isMine()));
  let [mine, most] = [await ask(), 0];
  await vi.waitFor(async () => {
    most = Math.max(most, mine.filter(Boolean).length);
    mine = await ask();
    expect(mine.filter(Boolean)).toEqual([true]);
  }, LONG);

  expect(most).toBeLessThanOrEqual(1);
  expect(await dutyOf(await openNode(await freshSchema(), seal, PATIENT)).isMine()).toBe(true);
  expect(await ask()).toEqual(mine);
});

test('who says nothing for a while is not on duty any more, though nothing was cut', async () => {
  const url = await freshSchema();
  const paused = dutyOf(await openNode(url, seal, { duty: { silent: 300, speak: 3_600_000 } }));
  const other = dutyOf(await openNode(url, seal, PATIENT));
  // More than once on a machine that is slow: then it was silent for too long already.
  await vi.waitFor(async () => expect(await paused.isMine()).toBe(true), LONG);

  await vi.waitFor(async () => expect(await other.isMine()).toBe(true), LONG);

  expect(await paused.isMine()).toBe(false);
  expect(await other.isMine()).toBe(true);
});

test('who is on duty speaks without being asked, and who is cut off loses it', async () => {
  const url = await freshSchema();
  const one = dutyOf(await openNode(url, seal, { duty: { ...PATIENT.duty, speak: 20 } }));
  const other = dutyOf(await openNode(url, seal, PATIENT));
  expect(await one.isMine()).toBe(true);
  const spoke = await lastWordOnDuty(url);
  await vi.waitFor(async () => expect(await lastWordOnDuty(url)).not.toEqual(spoke), LONG);
  expect(await other.isMine()).toBe(false);

  expect(await endSessionOnDuty(url)).toBe(1);

  await vi.waitFor(async () => expect(await other.isMine()).toBe(true), LONG);
  expect(await one.isMine()).toBe(false);
});
