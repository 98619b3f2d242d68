import { describe, expect, test } from 'vitest';
import { createInFlight } from './inFlight.ts';

/** Whether a promise is still open after everything that can happen now has happened. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  const turns = new Promise((resolve) => setImmediate(() => resolve(open)));
  return (await Promise.race([promise, turns])) === open;
}

describe('closing a run', () => {
  test('is done at once when nobody is inside', async () => {
    const inFlight = createInFlight();
    const reopen = await inFlight.close('run-1', 60_000);
    reopen();
    expect(inFlight.busy('run-1')).toBe(false);
  });

  test('waits for those inside, and lets nobody in until it is opened again [adv.D4 adv.K7]', async () => {
    const inFlight = createInFlight();
    const first = await inFlight.enter('run-1');
    const second = await inFlight.enter('run-1');

    const closed = inFlight.close('run-1', 60_000);
    first.leave();
    expect(await isOpen(closed)).toBe(true);
    const third = inFlight.enter('run-1');
    second.leave();
    const reopen = await closed;
    expect(await isOpen(third)).toBe(true);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);

    reopen();
    const { signal, leave } = await third;
    expect(signal.aborted).toBe(false);
    leave();
  });

  test('ends those who take too long, and waits for them to leave [adv.D4]', async () => {
    const inFlight = createInFlight();
    const { signal, leave } = await inFlight.enter('run-1');
    const order: string[] = [];
    signal.addEventListener('abort', () => {
      order.push('aborted');
      setImmediate(() => {
        order.push('left');
        leave();
      });
    });

    const reopen = await inFlight.close('run-1', 1);
    order.push('closed');

    expect(order).toEqual(['aborted', 'left', 'closed']);
    reopen();
  });

  test('concerns no other run', async () => {
    const inFlight = createInFlight();
    const other = await inFlight.enter('run-2');
    const reopen = await inFlight.close('run-1', 60_000);
    (await inFlight.enter('run-2')).leave();
    expect(inFlight.busy('run-2')).toBe(true);
    other.leave();
    expect(inFlight.busy('run-2')).toBe(false);
    reopen();
  });

  test('twice at once: one after the other', async () => {
    const inFlight = createInFlight();
    const first = await inFlight.close('run-1', 60_000);
    const second = inFlight.close('run-1', 60_000);
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

  test('leaving twice is leaving once', async () => {
    const inFlight = createInFlight();
    const [one, two] = [await inFlight.enter('run-1'), await inFlight.enter('run-1')];
    one.leave();
    one.leave();
    const closed = inFlight.close('run-1', 60_000);
    expect(await isOpen(closed)).toBe(true);
    two.leave();
    (await closed)();
  });
});

describe('closing an item', () => {
  test('waits for that item only, and keeps the others going', async () => {
    const inFlight = createInFlight();
    const other = await inFlight.enter('run-1', 'b');
    const whole = await inFlight.enter('run-1');
    const mine = await inFlight.enter('run-1', 'a');

    const closed = inFlight.close('run-1', 60_000, 'a');
    expect(await isOpen(closed)).toBe(true);
    mine.leave();
    const reopen = await closed;
    expect(await isOpen(inFlight.enter('run-1', 'a'))).toBe(true);
    (await inFlight.enter('run-1', 'b')).leave();
    expect([other.signal.aborted, whole.signal.aborted]).toEqual([false, false]);
    reopen();
  });

  test('and closing the whole run concerns every item', async () => {
    const inFlight = createInFlight();
    const mine = await inFlight.enter('run-1', 'a');
    const closed = inFlight.close('run-1', 60_000);
    expect(await isOpen(inFlight.enter('run-1', 'b'))).toBe(true);
    expect(await isOpen(inFlight.close('run-1', 60_000, 'b'))).toBe(true);
    mine.leave();
    await closed;
  });
});
