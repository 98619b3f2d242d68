import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../test/tier.ts';
import { ADA, claim, events, openWith, queue } from './fixtures/agentsAtWork.ts';
import type { MemoryProject } from './fixtures/openMemoryProject.ts';
import type { CallStore, ToolImplementation } from './ports.ts';

const WORK = [{ id: 'PLAN', allowedTools: ['bash'] }, { id: 'BUILD' }];
const BASH = [{ tool: 'bash', input: { command: 'make' } }];
const COMPLETE = { kind: 'complete', phase: 'PLAN', evidence: {} } as const;
const AWAY = { code: 'store_unavailable' };
const UNCERTAIN = { uncertain: true, hint: expect.stringContaining('before you repeat it') };

function bash(during: () => void = () => undefined): ToolImplementation {
  return {
    name: 'bash',
    description: 'runs',
    input: { type: 'object' },
    async run() {
      during();
      return { ok: true, output: 'ran' };
    },
  };
}

type Method = 'beginCall' | 'endCall';

/** The store answers a method as one that is away: before it was asked, or after it did what it was asked for. */
function cutOff({ parts }: MemoryProject, method: Method, isDone: boolean): { back(): void } {
  const store = parts.store as CallStore;
  const real = store[method] as (...given: unknown[]) => Promise<unknown>;
  let isCut = true;
  Object.assign(store, {
    async [method](...given: unknown[]) {
      if (!isCut) return real(...given);
      if (isDone) await real(...given);
      throw new PhasegateError('store_unavailable', 'the connection is lost');
    },
  });
  return {
    back() {
      isCut = false;
    },
  };
}

async function called(it: MemoryProject, calls = BASH): Promise<unknown> {
  const hand = await it.project.claims.admit((await claim(it, ADA)).token);
  return it.project.toolbox.execute(hand, calls).catch((error: unknown) => error);
}

const executed = async (it: MemoryProject, run: string) =>
  (await events(it, run)).filter((event) => event === 'tool_executed').length;

describe('the end of a call that cannot be written', () => {
  test.each([
    ['was not made', false],
    ['was made, and only its answer lost', true],
  ])('is written once when the store is back, with its record, where the write %s', async (_, isDone) => {
    const it = openWith(WORK, { sqlite: true, parts: { tools: async () => [bash()] } });
    const run = await queue(it);
    const store = cutOff(it, 'endCall', isDone);

    expect(await called(it)).toMatchObject({ ...AWAY, ...UNCERTAIN });
    store.back();
    const { verdict } = await it.project.as(ADA).submit(run, COMPLETE);

    expect(verdict.allowed).toBe(true);
    // Nothing is left to be written after that.
    await it.project.close();
    const next = openWith(WORK, { sqlite: it.folder });
    expect(await executed(next, run)).toBe(1);
    expect((await next.store.calls(run, null)).under).toEqual([]);
    expect(await next.store.verify()).toMatchObject({ ok: true });
  });

  test('is written with its record also where somebody dropped the call meanwhile', async () => {
    const it = openWith(WORK, { parts: { tools: async () => [bash()] } });
    const run = await queue(it);
    const store = cutOff(it, 'endCall', false);
    await called(it);
    const [call] = (await it.store.calls(run, null)).under;

    store.back();
    await it.store.endCall(call as { id: string; run: string }, []);

    await expect.poll(() => executed(it, run)).toBe(1);
  });

  test('is written by a project that is closed before it was tried again', async () => {
    const it = openWith(WORK, { sqlite: true, parts: { tools: async () => [bash()] } });
    const run = await queue(it);
    const store = cutOff(it, 'endCall', false);
    await called(it);

    store.back();
    await it.project.close();

    const next = openWith(WORK, { sqlite: it.folder });
    expect((await next.store.calls(run, null)).under).toEqual([]);
    expect(await executed(next, run)).toBe(1);
  });
});

test('a call of which the store did not say that it began is not carried out, and is in nobody’s way', async () => {
  let ran = 0;
  const tool = bash(() => {
    ran += 1;
  });
  const it = openWith(WORK, { parts: { tools: async () => [tool] } });
  const run = await queue(it);
  const store = cutOff(it, 'beginCall', true);

  expect(await called(it)).toMatchObject({ ...AWAY, uncertain: false });
  expect((await it.store.calls(run, null)).under).toHaveLength(1);
  store.back();

  expect((await it.project.as(ADA).submit(run, COMPLETE)).verdict.allowed).toBe(true);
  expect(ran).toBe(0);
});

test('a batch that is broken off after a call of it was carried out says so', async () => {
  const it = openWith(WORK, { parts: { tools: async () => [bash(() => cutOff(it, 'beginCall', false))] } });
  await queue(it);

  expect(await called(it, [...BASH, ...BASH])).toMatchObject({ ...AWAY, ...UNCERTAIN });
});

test('a record of this process that it knows nothing of does not count, and one of another process does', async () => {
  const self = 'this';
  const processes = { self, isGone: () => false, endPrograms: () => false, callsAround: () => [] };
  const it = openWith(WORK, { parts: { processes, waits: { completionMs: 1 } } });
  for (const [process, allowed] of [
    [self, true],
    ['another', false],
  ] as const) {
    const run = await queue(it);
    await claim(it, ADA);
    const { version } = (await it.store.load(run)) ?? { version: 0 };
    const call = { id: `of-${process}`, run, item: null, tool: 'bash', process, ending: false };
    await it.store.beginCall({ ...call, deadline: '2099-01-01T00:00:00.000Z' }, version, []);

    expect((await it.project.as(ADA).submit(run, COMPLETE)).verdict.allowed).toBe(allowed);
  }
});

// Each write waits for seconds before it gives up a file that is locked.
test.runIf(FULL)('so it is with a file that another process keeps locked', async () => {
  const it = openWith(WORK, { sqlite: true, parts: { tools: async () => [bash(() => lock())] } });
  const other = new DatabaseSync(join(it.folder, 'state.db'));
  const lock = () => other.exec('BEGIN IMMEDIATE');
  const run = await queue(it);

  expect(await called(it)).toMatchObject(AWAY);
  other.exec('ROLLBACK');
  other.close();

  expect((await it.project.as(ADA).submit(run, COMPLETE)).verdict.allowed).toBe(true);
  expect(await executed(it, run)).toBe(1);
});
