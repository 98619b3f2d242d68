import { type JsonObject, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { AuditDraft } from './ports.ts';
import { createRefusalNotes } from './refusalNotes.ts';

test('one who uses up their records leaves those of all others, each with their own count [adv.H7]', async () => {
  const it = keeping();
  for (let n = 0; n < 9000; n += 1) {
    if (n % 30 === 0) it.pass();
    await it.refuse('agent:mallory');
  }
  expect(it.of('agent:mallory')).toHaveLength(2000);

  it.pass();
  await it.refuse('agent:ada');
  await it.refuse('unknown', { address: '192.0.2.1' });
  await it.refuse('unknown', { principal: 'agent:bob', address: '192.0.2.1' });
  await it.refuse('unknown', {}, '192.0.2.2');
  await it.refuse('agent:mallory');

  expect(it.of('agent:ada')).toEqual([{}]);
  expect(it.of('unknown')).toEqual([
    { address: '192.0.2.1' },
    { principal: 'agent:bob', address: '192.0.2.1' },
    {},
  ]);
  expect(it.of('agent:mallory')).toHaveLength(2000);
  it.pass(3600);
  await it.refuse('agent:mallory');
  const told = it.of('agent:mallory').map((data) => 1 + Number(own(data, 'left_out') ?? 0));
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(9002);
});

test('forged tokens of one address leave the records of another [adv.H7]', async () => {
  const it = keeping();
  for (let n = 0; n < 100; n += 1) await it.refuse('unknown', {}, '192.0.2.1');
  await it.refuse('unknown', { seen: true }, '192.0.2.2');

  expect(it.of('unknown')).toHaveLength(21);
  expect(it.of('unknown').at(-1)).toEqual({ seen: true });
});

test('however many addresses there are, records have an end, and an agent still has its first [adv.H7]', async () => {
  const it = keeping();
  for (let round = 0; round < 30; round += 1) {
    it.pass();
    for (let n = 0; n < 1200; n += 1) await it.refuse('unknown', { address: `2001:db8::${n}` });
  }
  expect(it.of('unknown').length).toBeLessThanOrEqual(30_000);
  expect(it.of('unknown').length).toBeGreaterThanOrEqual(10_000);

  for (let n = 0; n < 60; n += 1) {
    it.pass();
    await it.refuse('agent:ada');
  }
  expect(it.of('agent:ada')).toHaveLength(20);
});

/** Records that are kept in a list, at a time that passes by the second. */
function keeping() {
  const drafts: AuditDraft[] = [];
  let now = 0;
  const notes = createRefusalNotes({
    store: {
      note: async (_run, more) => {
        drafts.push(...more);
        return true;
      },
    },
    now: () => now,
  });
  return {
    pass: (seconds = 1) => {
      now += seconds * 1000;
    },
    refuse: (principal: string, data: JsonObject = {}, from?: string) =>
      notes.note({ run: null, principal, data, ...(from === undefined ? {} : { from }) }),
    of: (principal: string) => drafts.filter((one) => one.principal === principal).map(({ data }) => data),
  };
}
