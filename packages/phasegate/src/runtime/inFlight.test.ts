import { describe, expect, test } from 'vitest';
import { createInFlight } from './inFlight.ts';

/** Whether a promise is still open after everything that can happen now has happened. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  const turns = new Promise((resolve) => setImmediate(() => resolve(open)));
  return (await Promise.race([promise, turns])) === open;
}

describe('a closed run', () => {
  test('lets nobody in until it is opened again, and those inside go on [adv.D4 adv.K7]', async () => {
    const inFlight = createInFlight();
    const inside = await inFlight.enter('run-1');

    const reopen = await inFlight.close('run-1');
    const late = inFlight.enter('run-1');
    expect(await isOpen(late)).toBe(true);
    inside.leave();
    expect(await isOpen(late)).toBe(true);

    reopen();
    (await late).leave();
  });

  test('concerns no other run', async () => {
    const inFlight = createInFlight();
    const reopen = await inFlight.close('run-1');
    (await inFlight.enter('run-2')).leave();
    reopen();
  });

  test('is closed twice one after the other', async () => {
    const inFlight = createInFlight();
    const first = await inFlight.close('run-1');
    const second = inFlight.close('run-1');
    expect(await isOpen(second)).toBe(true);

    first();
    first();
    const reopen = await second;
    const waiting = inFlight.enter('run-1');
    first();
    expect(await isOpen(waiting)).toBe(true);
    reopen();
    (await waiting).leave();
  });
});

describe('a closed item', () => {
  test('keeps the others going', async () => {
    const inFlight = createInFlight();
    const reopen = await inFlight.close('run-1', 'a');
    expect(await isOpen(inFlight.enter('run-1', 'a'))).toBe(true);
    (await inFlight.enter('run-1', 'b')).leave();
    (await inFlight.enter('run-1')).leave();
    expect(await isOpen(inFlight.close('run-1', 'a'))).toBe(true);
    reopen();
  });

  test('and a closed run concerns every item', async () => {
    const inFlight = createInFlight();
    await inFlight.close('run-1');
    expect(await isOpen(inFlight.enter('run-1', 'b'))).toBe(true);
    expect(await isOpen(inFlight.close('run-1', 'b'))).toBe(true);
  });
});
