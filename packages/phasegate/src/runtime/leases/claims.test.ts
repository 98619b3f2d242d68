import { canonicalJson, decideStart, type Json, PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { drafts } from '../auditDrafts.ts';
import {
  ADA,
  agent,
  BOB,
  CY,
  claim,
  done,
  EVE,
  openWith,
  queue,
  TWO,
  turns,
} from '../fixtures/agentsAtWork.ts';
import type { Claimed } from '../ports.ts';

const STARTING = { id: 'parked', target: null, params: {}, trusted: false, queued: true };

describe('a claim', () => {
  test('gives the run, a lease and a token for its phase [S2.20 S2.26 S2.33]', async () => {
    const it = openWith();
    const run = await queue(it);

    const { view, token, tokenExpiresAt, item } = await claim(it, ADA);

    expect(view).toMatchObject({ run, status: 'active', phase: 'PLAN', holder: 'ada', epoch: 2 });
    expect(item).toBeNull();
    expect(tokenExpiresAt).toBe('2026-11-15T14:00:00.000Z');
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const { jti } = payload;
    const admitted = { principal: ADA, runId: run, phase: 'PLAN', epoch: 2, item: null, jti };
    expect(await it.project.claims.admit(token)).toMatchObject(admitted);
    expect(payload).toMatchObject({
      task_id: run,
      phase: 'PLAN',
      agent_id: 'ada',
      allowed_tools: ['read_files'],
    });
    expect(await it.project.claims.leases()).toEqual([
      {
        run,
        item: null,
        agent: 'ada',
        epoch: 2,
        expiresAt: '2026-11-15T12:05:00.000Z',
        jti: payload.jti,
        previousJti: null,
      },
    ]);
    const records = await it.store.history(run, { after: 0, limit: 99 });
    expect(records.map(({ event }) => event)).toEqual(['run_started', 'run_claimed', 'token_issued']);
    expect(records.at(-1)?.data).toMatchObject({ jti: payload.jti });
    expect(JSON.stringify(records)).not.toContain(token);
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('waits for one of each other agent at most, however many another one asks for at once [adv.O5]', async () => {
    const it = openWith();
    let answered = 0;
    const flood = Array.from({ length: 50 }, async () => {
      await it.project.claims.claim(BOB, []);
      answered += 1;
    });

    await it.project.claims.claim(ADA, []);

    expect(answered).toBeLessThanOrEqual(2);
    await Promise.all(flood);
  });

  test('takes the highest priority, then the oldest, and nothing when there is none', async () => {
    const it = openWith();
    const old = await queue(it);
    it.pass(1);
    const urgent = await queue(it, { priority: 5 });
    it.pass(1);
    const young = await queue(it);

    const order = [await claim(it, ADA), await claim(it, BOB), await claim(it, CY)];
    expect(order.map(({ view }) => view.run)).toEqual([urgent, old, young]);
    expect(await it.project.claims.claim(ADA, [])).toBeNull();
  });

  test('passes over runs that need what the agent cannot do', async () => {
    const it = openWith(TWO, { workflow: { capabilities: ['node'] } });
    const both = await queue(it, { capabilities: ['gpu'], priority: 9 });
    const one = await queue(it);

    expect(await it.project.claims.claim(ADA, [])).toBeNull();
    expect((await it.project.claims.claim(ADA, ['node']))?.view.run).toBe(one);
    expect(await it.project.claims.claim(ADA, ['gpu'])).toBeNull();
    await expect(it.project.claims.claimRun(both, ADA, ['node'])).rejects.toMatchObject({
      code: 'not_permitted',
      message: expect.stringContaining('`gpu`'),
    });
    expect((await it.project.claims.claimRun(both, BOB, ['gpu', 'node'])).view.run).toBe(both);
  });

  test.each([
    ['memory', {}],
    ['SQLite', { sqlite: true }],
  ] as const)('fifty at once over thirty runs take each exactly once (%s) [adv.K2]', async (_, options) => {
    const it = openWith(TWO, options);
    const runs = await Promise.all(Array.from({ length: 30 }, () => queue(it)));

    const claimed = await Promise.all(
      Array.from({ length: 50 }, (_, n) => it.project.claims.claim(agent(`agent-${n}`), [])),
    );

    const taken = claimed.flatMap((one) => (one === null ? [] : [one.view.run]));
    expect(taken.toSorted()).toEqual(runs.toSorted());
    expect(await it.store.leases()).toHaveLength(30);
    for (const one of claimed) if (one !== null) await it.project.claims.admit(one.token);
    expect(await it.store.verify()).toMatchObject({ ok: true });
    await it.project.close();
  });

  test('goes past many runs that cannot be handed out, and notes each once for its epoch', async () => {
    const it = openWith();
    const broken = await Promise.all(Array.from({ length: 25 }, () => queue(it, { priority: 1 })));
    const fine = [await queue(it), await queue(it)];
    const load = it.store.load;
    Object.assign(it.store, {
      load: (run: string) => (broken.includes(run) ? Promise.reject(new Error('unreadable')) : load(run)),
    });

    const claimed = [await claim(it, ADA), await claim(it, BOB)];

    expect(claimed.map(({ view }) => view.run)).toEqual(fine);
    expect(await it.project.claims.claim(CY, [])).toBeNull();
    for (const run of broken) {
      const records = await it.store.history(run, { after: 1, limit: 9 });
      expect(records.map(({ event }) => event)).toEqual(['command_refused']);
    }
  });

  test('fails where no token can be signed, instead of finding every run wanting', async () => {
    const it = openWith();
    const run = await queue(it);
    const issue = it.parts.tokens.issue;
    Object.assign(it.parts.tokens, {
      issue: () => {
        throw new PhasegateError('keys_unavailable', 'the file is not there');
      },
    });

    await expect(it.project.claims.claim(ADA, [])).rejects.toMatchObject({ code: 'keys_unavailable' });

    const records = await it.store.history(run, { after: 1, limit: 9 });
    expect(records).toEqual([]);
    Object.assign(it.parts.tokens, { issue });
    expect((await claim(it, ADA)).view.run).toBe(run);
  });

  test('reads a run that is not for such an agent once, and again when it has moved on [S2.81]', async () => {
    const { store, ...from } = openWith();
    const loaded: string[] = [];
    const load = async (run: string) => {
      loaded.push(run);
      return store.load(run);
    };
    const { project } = openWith(TWO, { parts: { store: { ...store, load }, tokens: from.parts.tokens } });
    const it = { ...from, store, project };
    const runs: string[] = [];
    for (let count = 0; count < 25; count += 1) runs.push(await queue(it));
    const reads = async () => {
      loaded.length = 0;
      // It works in files of its own, and what a phase may write cannot be seen there.
      expect(await project.claims.away.claim(BOB, [])).toBeNull();
      return loaded.toSorted();
    };
    expect(await reads()).toEqual(runs.toSorted());
    expect(await reads()).toEqual([]);
    const { view } = await claim(it, ADA);
    expect(view.run).toBe(runs[0]);
    expect(await reads()).toEqual([]);
    await project.claims.release(view.run, ADA, 'given_back');
    expect(await reads()).toEqual([view.run]);
    expect((await claim(it, BOB)).view.run).toBe(view.run);
  });

  test('by two processes at once takes each run exactly once [adv.K2]', async () => {
    const here = openWith(TWO, { sqlite: true });
    const there = openWith(TWO, { sqlite: here.folder });
    const runs = await Promise.all(Array.from({ length: 10 }, () => queue(here)));

    const claimed = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? here : there).project.claims.claim(agent(`a${n}`), []),
      ),
    );

    const taken = claimed.flatMap((one) => (one === null ? [] : [one.view.run]));
    expect(taken.toSorted()).toEqual(runs.toSorted());
    await Promise.all([here.project.close(), there.project.close()]);
  });

  test('passes over a run that is parked below the ring its workflow asks for', async () => {
    const it = openWith();
    const { workflow } = await it.parts.catalog.load('tested');
    const demanding = { ...workflow, enforcement: { ...workflow.enforcement, ring: 'hooked' as const } };
    const workflowHash = it.parts.hash(canonicalJson(demanding as unknown as Json));
    const { run, events: started } = decideStart(
      { ...STARTING, workflow: demanding, workflowHash, ring: 'hooked' },
      { principal: EVE, now: it.now(), facts: {} },
    );
    if (run === null) throw new Error('it was not started');
    await it.store.create({ ...run, ring: 'served' }, drafts(started, EVE, { command: null, facts: {} }), []);

    expect(await it.store.list({ status: 'queued' })).toHaveLength(1);
    expect(await it.project.claims.claim(ADA, [])).toBeNull();
    const claiming = it.project.claims.claimRun(run.id, ADA, []);
    await expect(claiming).rejects.toMatchObject({
      code: 'not_permitted',
      message: expect.stringContaining('`hooked`'),
    });
  });

  test('of a run by its id says why not, and gives the holder a fresh token', async () => {
    const it = openWith();
    const run = await queue(it);
    const first = await it.project.claims.claimRun(run, ADA, []);

    await expect(it.project.claims.claimRun(run, BOB, [])).rejects.toMatchObject({ code: 'not_permitted' });
    await expect(it.project.claims.claimRun('none', BOB, [])).rejects.toMatchObject({ code: 'run_unknown' });
    const again = await it.project.claims.claimRun(run, ADA, []);
    expect(again.view.epoch).toBe(first.view.epoch);
    expect(again.token).not.toBe(first.token);
  });

  test.each([
    ['memory', {}],
    ['SQLite', { sqlite: true }],
  ] as const)(
    'by name gives a run to its agent, whichever of its claims took it (%s)',
    async (_, options) => {
      const it = openWith(TWO, options);
      const { claim: next, claimRun } = it.project.claims;
      const races: readonly ((run: string) => readonly Promise<Claimed | null>[])[] = [
        (run) => [claimRun(run, ADA, []), next(ADA, [])],
        (run) => [next(ADA, []), claimRun(run, ADA, [])],
        (run) => [claimRun(run, ADA, []), claimRun(run, ADA, [])],
      ];
      for (const race of races) {
        const run = await queue(it);

        const claimed = await Promise.all(race(run));

        // The plain one finds nothing where it was the later.
        const given = claimed.filter((one) => one !== null);
        expect(given.map(({ view }) => [view.run, view.holder])).toEqual(given.map(() => [run, 'ada']));
        for (const { token } of given)
          expect(await it.project.claims.admit(token)).toMatchObject({ runId: run });
      }
      await it.project.close();
    },
  );
});

describe('a lease', () => {
  test('is renewed by a call once a third of it is over, and by calls without a token', async () => {
    const it = openWith();
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const end = async () => (await it.store.lease(run, null))?.expiresAt;

    it.pass(99);
    await it.project.claims.admit(token);
    expect(await later(end)).toBe('2026-11-15T12:05:00.000Z');
    it.pass(2);
    await it.project.claims.admit(token);
    expect(await later(end)).toBe('2026-11-15T12:06:41.000Z');
    it.pass(150);
    await it.project.as(ADA).view(run);
    expect(await later(end)).toBe('2026-11-15T12:09:11.000Z');
    await it.project.as(EVE).view(run);
    expect((await it.store.lease(run, null))?.epoch).toBe(2);
  });

  test('is renewed by the one who attends to the run, and by nobody else', async () => {
    const it = openWith();
    const run = await queue(it);
    await claim(it, ADA);
    const end = async () => (await it.store.lease(run, null))?.expiresAt;
    it.pass(150);

    await expect(it.project.claims.attend(run, BOB)).rejects.toMatchObject({ code: 'not_permitted' });
    await expect(it.project.claims.attend('none', ADA)).rejects.toMatchObject({ code: 'run_unknown' });
    expect(await later(end)).toBe('2026-11-15T12:05:00.000Z');
    expect(await it.project.claims.attend(run, ADA)).toMatchObject({ id: run, phase: 'PLAN', holder: 'ada' });
    expect(await later(end)).toBe('2026-11-15T12:07:30.000Z');
  });

  test('is not renewed by one who only watches the run, and another agent may not even do that', async () => {
    const it = openWith();
    const run = await queue(it);
    await claim(it, ADA);
    const end = async () => (await it.store.lease(run, null))?.expiresAt;
    it.pass(150);

    expect(await it.project.look(run, ADA)).toMatchObject({ run, phase: 'PLAN', holder: 'ada' });
    expect(await it.project.look(run, EVE)).toMatchObject({ run, phase: 'PLAN' });
    await expect(it.project.look(run, BOB)).rejects.toMatchObject({ code: 'not_permitted' });

    expect(await later(end)).toBe('2026-11-15T12:05:00.000Z');
  });

  test('that is given back puts the run into the queue, and counts as no crash', async () => {
    const it = openWith();
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    await expect(it.project.claims.release(run, BOB, 'given_back')).rejects.toMatchObject({
      code: 'not_permitted',
    });

    await it.project.claims.release(run, ADA, 'given_back');

    await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_dead' });
    expect(await it.store.leases()).toEqual([]);
    expect((await it.store.load(run))?.run.work.crashes).toBeUndefined();
    expect((await claim(it, BOB)).view.run).toBe(run);
  });

  test('of an agent that exited goes to another, from the last checkpoint [S2.92 C15]', async () => {
    const it = openWith([...TWO, { id: 'SHIP' }]);
    const run = await queue(it);
    const built = await done(it, await claim(it, ADA));

    await it.project.claims.release(run, ADA, 'exited');
    await it.project.claims.release(run, CY, 'exited');
    const again = await claim(it, BOB);

    expect(again.view).toMatchObject({ run, phase: 'BUILD', holder: 'bob', completedPhases: ['PLAN'] });
    await expect(it.project.claims.admit(built.next?.token ?? '')).rejects.toMatchObject({
      code: 'token_dead',
    });
    expect((await it.store.load(run))?.run.work.crashes).toBe(1);
  });
});

async function later<T>(read: () => Promise<T>): Promise<T> {
  await turns();
  return read();
}
