import { describe, expect, test } from 'vitest';
import {
  ADA,
  approve,
  BOB,
  claim,
  done,
  events,
  GATED,
  openWith,
  queue,
  slowTool,
  TWO,
  turns,
} from '../fixtures/agentsAtWork.ts';
import type { Claimed } from '../ports.ts';

describe('a transition', () => {
  test('gives the token of the next phase, and the old one is dead [S2.30 S2.31 S2.38 C8 adv.H7 fail.14]', async () => {
    const it = openWith();
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const admitted = await it.project.claims.admit(token);

    const { verdict, view, next } = await it.project.claims.transition(admitted, {
      artifacts: { plan: 'short' },
      target: 'BUILD',
    });

    expect(verdict.allowed).toBe(true);
    expect(view).toMatchObject({ phase: 'BUILD', epoch: 3 });
    expect(await it.project.claims.admit(next?.token ?? '')).toMatchObject({ phase: 'BUILD', epoch: 3 });
    await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_dead' });
    // Anyone who was let in before the run moved on is too late as well.
    const replayed = it.project.claims.transition(admitted, { artifacts: {} });
    await expect(replayed).rejects.toMatchObject({ code: 'token_dead' });
    expect((await events(it, run)).filter((event) => event === 'phase_completed')).toHaveLength(1);
    expect(await events(it, run)).toContain('token_refused');
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('at the end drops the lease, and there is no token', async () => {
    const it = openWith();
    const run = await queue(it);
    const first = await claim(it, ADA);
    const second = await done(it, first);
    expect(second.next).not.toBeNull();

    const last = await done(it, second.next as Claimed);

    expect(last).toMatchObject({ next: null, view: { status: 'completed', phase: null } });
    expect(await it.store.leases()).toEqual([]);
    await expect(it.project.claims.admit(second.next?.token ?? '')).rejects.toMatchObject({
      code: 'token_dead',
    });
    await expect(it.project.claims.token(run, ADA)).rejects.toMatchObject({ code: 'not_permitted' });
  });

  test('that is refused changes no right: same token, same lease, same phase [adv.K4]', async () => {
    const it = openWith([{ id: 'PLAN', artifacts: [{ type: 'plan' }] }, { id: 'BUILD' }]);
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const before = await it.store.leases();

    const refused = await it.project.claims.transition(await it.project.claims.admit(token), {
      artifacts: {},
    });
    const elsewhere = await it.project.claims.transition(await it.project.claims.admit(token), {
      artifacts: { plan: {} },
      target: 'PLAN',
    });

    expect(refused).toMatchObject({ verdict: { allowed: false }, next: null, view: { phase: 'PLAN' } });
    expect(elsewhere).toMatchObject({ verdict: { allowed: false }, next: null });
    expect(await it.project.claims.admit(token)).toMatchObject({ runId: run, phase: 'PLAN' });
    expect(await it.store.leases()).toEqual(before);
  });

  test('twice with the same token moves once [adv.K2 adv.K7]', async () => {
    const it = openWith([{ id: 'PLAN' }, { id: 'BUILD' }, { id: 'SHIP' }]);
    const run = await queue(it);
    const admitted = await it.project.claims.admit((await claim(it, ADA)).token);

    const both = await Promise.allSettled(
      [1, 2, 3].map(() => it.project.claims.transition(admitted, { artifacts: {} })),
    );

    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await it.project.as(ADA).view(run)).toMatchObject({ phase: 'BUILD' });
  });

  test('waits for allowed calls under way, and those that come meanwhile see the next phase [adv.D4 adv.K7]', async () => {
    const { tool, began, finish } = slowTool();
    const it = openWith(TWO, { parts: { tools: async () => [tool] } });
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const admitted = await it.project.claims.admit(token);
    const read = [{ tool: 'read_files', input: { path: 'a' } }];
    const call = it.project.toolbox.execute(admitted, read);
    await began;

    const moving = it.project.claims.transition(admitted, { artifacts: {} });
    const late = it.project.toolbox.execute(admitted, read);
    await turns();
    expect((await it.store.load(run))?.run.phase).toBe('PLAN');
    finish();

    expect(await call).toMatchObject([{ verdict: { allowed: true }, result: { ok: true } }]);
    expect((await moving).view.phase).toBe('BUILD');
    const came = await late.then(
      ([one]) => one?.result ?? 'refused',
      () => 'refused',
    );
    expect(came).toBe('refused');
  });

  test('back to the same phase ends its token all the same, no matter who moved the run [S2.38 C8 adv.H7]', async () => {
    const options = [{ label: 'Yes', next: 'PLAN' }, { label: 'No' }];
    const it = openWith([
      { id: 'PLAN', gates: [{ id: 'ok', human: { prompt: 'Go?', options } }] },
      { id: 'BUILD' },
    ]);
    const run = await queue(it);
    const first = await claim(it, ADA);
    await done(it, first);
    await approve(it, run);

    expect((await it.store.load(run))?.run).toMatchObject({ phase: 'PLAN', status: 'active', epoch: 3 });
    await expect(it.project.claims.admit(first.token)).rejects.toMatchObject({ code: 'token_dead' });
  });

  test('to a gate keeps lease and token, which is good for reading', async () => {
    const it = openWith(GATED);
    const run = await queue(it);
    const { token } = await claim(it, ADA);

    const waiting = await it.project.claims.transition(await it.project.claims.admit(token), {
      artifacts: {},
    });

    expect(waiting).toMatchObject({ verdict: { allowed: true }, next: null, view: { status: 'waiting' } });
    const admitted = await it.project.claims.admit(token);
    expect(await it.project.as(admitted.principal).view(run)).toMatchObject({ status: 'waiting' });
    expect(await it.store.leases()).toHaveLength(1);
    const call = await it.project.toolbox.check(admitted, { tool: 'write_files', input: { path: 'a' } });
    expect(call.allowed).toBe(false);
  });

  test('after a human’s act is resumed by a fresh token of the new epoch', async () => {
    const it = openWith(GATED);
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    await it.project.claims.transition(await it.project.claims.admit(token), { artifacts: {} });
    await approve(it, run);

    await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_dead' });
    await expect(it.project.claims.token(run, BOB)).rejects.toMatchObject({ code: 'not_permitted' });
    const fresh = await it.project.claims.token(run, ADA);

    expect(await it.project.claims.admit(fresh.token)).toMatchObject({ phase: 'BUILD', epoch: 3 });
    expect(await it.store.leases()).toMatchObject([{ agent: 'ada', epoch: 3, previousJti: null }]);
    expect((await done(it, fresh)).view.status).toBe('completed');
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });
});
