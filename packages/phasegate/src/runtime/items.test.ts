import { describe, expect, test } from 'vitest';
import {
  ADA,
  agent,
  BOB,
  CY,
  claim,
  done,
  events,
  openWith,
  queue,
  slowTool,
  turns,
} from './fixtures/agentsAtWork.ts';
import type { MemoryProject, MemoryProjectOptions } from './fixtures/openMemoryProject.ts';
import type { Claimed } from './ports.ts';

const PHASES = [
  { id: 'SPLIT' },
  { id: 'EACH', parallel: { key: 'chapters' }, allowedTools: ['read_files'] },
  { id: 'JOIN' },
];

/** A run whose parallel phase `ada` has just entered, with the token of its first item. */
async function entered(chapters: readonly string[], options: MemoryProjectOptions = {}) {
  const it = openWith(PHASES, options);
  const run = await queue(it);
  const split = await claim(it, ADA);
  const { next } = await done(it, split, { artifacts: { chapters } });
  return { it, run, first: next as Claimed };
}

describe('an item that cannot be handed out', () => {
  test('keeps nobody from the other runs, and is noted once [adv.O2]', async () => {
    const { it, run } = await entered(['a', 'b']);
    await asBefore(it, run, { from: 'b', to: 'x'.repeat(9000) });
    const other = await queue(it);

    const claimed = await claim(it, BOB);

    expect(claimed.view).toMatchObject({ run: other, phase: 'SPLIT' });
    expect(await it.project.claims.claim(CY, [])).toBeNull();
    expect(await it.project.claims.claim(CY, [])).toBeNull();
    const notes = (await it.store.history(run, { after: 0, limit: 99 })).filter(
      ({ event }) => event === 'command_refused',
    );
    expect(notes).toMatchObject([
      {
        data: {
          command: 'claim',
          blockers: [{ code: 'too_large', message: 'the phase token would be larger than 8 KB' }],
        },
      },
    ]);
  });
});

/** Puts a run as an earlier version left it, when any key was taken. */
async function asBefore(
  { store }: MemoryProject,
  runId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const stored = await store.load(runId);
  if (stored?.run.work.items == null) throw new Error('the run has no items');
  const { run, version } = stored;
  const entries = Object.entries(run.work.items ?? {}).map(([key, item]) => [key === from ? to : key, item]);
  await store.save({ ...run, work: { ...run.work, items: Object.fromEntries(entries) } }, version, []);
}

describe('an item of a parallel phase', () => {
  test('of an agent’s own run goes behind a run that was given a higher priority', async () => {
    const { it, run } = await entered(['a', 'b', 'c']);
    const urgent = await queue(it, { priority: 100 });

    expect((await claim(it, BOB)).view.run).toBe(urgent);
    expect((await claim(it, CY)).view.run).toBe(run);
  });

  test('is completed by its own token and under its own name only [adv.O7]', async () => {
    const { it, first } = await entered(['a', 'b']);
    const admitted = await it.project.claims.admit(first.token);

    await expect(it.project.claims.transition(admitted, { artifacts: {}, item: 'b' })).rejects.toMatchObject({
      code: 'not_permitted',
    });
    expect((await it.project.claims.transition(admitted, { artifacts: {}, item: 'a' })).verdict.allowed).toBe(
      true,
    );
  });

  test('stays with its agent, call and token included, when the holder of the run lets go [adv.O7]', async () => {
    const { tool, began, finish } = slowTool();
    const { it, run, first } = await entered(['a', 'b', 'c'], { parts: { tools: async () => [tool] } });
    const second = await claim(it, BOB);
    const admitted = await it.project.claims.admit(second.token);
    const call = it.project.toolbox.execute(admitted, [{ tool: 'read_files', input: { path: 'x' } }]);
    await began;

    await it.project.claims.release(run, ADA, 'given_back');
    finish();

    expect(await call).toMatchObject([{ result: { ok: true } }]);
    expect((await done(it, second)).verdict).toEqual({ allowed: true });
    await expect(it.project.claims.admit(first.token)).rejects.toMatchObject({ code: 'token_dead' });
  });

  test('is what the agent that enters the phase goes on with, and others claim theirs', async () => {
    const { it, run, first } = await entered(['a', 'b', 'c']);
    const [second, third] = [await claim(it, BOB), await claim(it, CY)];

    expect([first.item, second.item, third.item].map((item) => item?.key)).toEqual(['a', 'b', 'c']);
    expect(second.view).toMatchObject({ run, phase: 'EACH' });
    expect(await it.project.claims.claim(agent('dan'), [])).toBeNull();
    expect(await it.project.claims.admit(second.token)).toMatchObject({ runId: run, item: 'b' });
    expect(await it.store.leases()).toMatchObject([
      { item: null, agent: 'ada', jti: null },
      { item: 'a', agent: 'ada' },
      { item: 'b', agent: 'bob' },
      { item: 'c', agent: 'cy' },
    ]);
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('is claimed before queued runs: what is begun is finished first', async () => {
    const { it, run } = await entered(['a', 'b']);
    const other = await queue(it);

    expect((await claim(it, BOB)).view.run).toBe(run);
    expect((await claim(it, BOB)).view.run).toBe(other);
  });

  test('is completed by its own token only, and the one who completes the last goes on with the run', async () => {
    const { it, run, first } = await entered(['a', 'b']);
    const second = await claim(it, BOB);

    const one = await done(it, first);
    expect(one).toMatchObject({ verdict: { allowed: true }, next: null, view: { phase: 'EACH' } });
    expect((await it.store.load(run))?.run.work.items).toMatchObject({
      a: { status: 'completed' },
      b: { status: 'pending', holder: 'bob' },
    });
    await expect(it.project.claims.admit(first.token)).rejects.toMatchObject({ code: 'token_dead' });

    const last = await done(it, second);
    expect(last.next).toMatchObject({ item: null, view: { phase: 'JOIN', holder: 'bob' } });
    expect(await it.store.leases()).toMatchObject([{ item: null, agent: 'bob' }]);
    await expect(it.project.claims.admit(second.token)).rejects.toMatchObject({ code: 'token_dead' });
    await expect(it.project.claims.token(run, ADA)).rejects.toMatchObject({ code: 'not_permitted' });
    expect((await done(it, last.next as Claimed)).view.status).toBe('completed');
    expect(await it.store.leases()).toEqual([]);
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test.each([
    ['memory', {}],
    ['SQLite', { sqlite: true }],
  ] as const)('twenty agents over twenty items: each once, one join (%s) [adv.K2]', async (_, options) => {
    const chapters = Array.from({ length: 20 }, (_, n) => `chapter-${n}`);
    const { it, run, first } = await entered(chapters, options);
    const others = await Promise.all(chapters.slice(1).map((_, n) => claim(it, agent(`agent-${n}`))));
    const keys = [first, ...others].map(({ item }) => item?.key);
    expect(keys.toSorted()).toEqual(chapters.toSorted());

    const ends = await Promise.all([first, ...others].map((claimed) => done(it, claimed)));

    expect(ends.filter(({ next }) => next !== null)).toHaveLength(1);
    const names = await events(it, run);
    expect(names.filter((name) => name === 'item_completed')).toHaveLength(20);
    expect(names.filter((name) => name === 'phase_completed')).toHaveLength(2);
    expect(await it.store.leases()).toHaveLength(1);
    expect(await it.store.verify()).toMatchObject({ ok: true });
    await it.project.close();
  });

  test('that turns out to be the last waits for everyone’s calls, not only its own [adv.D4]', async () => {
    const { tool, began, finish } = slowTool();
    const { it, run, first } = await entered(['a', 'b'], { parts: { tools: async () => [tool] } });
    const second = await claim(it, BOB);
    const { jti: _, ...admitted } = await it.project.claims.admit(first.token);
    const whole = { ...admitted, item: null };
    const call = it.project.toolbox.execute(whole, [{ tool: 'read_files', input: { path: 'a' } }]);
    await began;

    const both = Promise.all([done(it, first), done(it, second)]);
    await turns();
    expect((await it.store.load(run))?.run.phase).toBe('EACH');
    finish();

    expect((await both).filter(({ next }) => next !== null)).toHaveLength(1);
    expect(await call).toMatchObject([{ result: { ok: true } }]);
    expect((await it.store.load(run))?.run.phase).toBe('JOIN');
  });

  test('can be completed with the run’s own token by its holder, where nobody else holds it', async () => {
    const { it, run, first } = await entered(['a', 'b']);
    await done(it, first);
    const whole = await it.project.claims.token(run, ADA);
    expect(whole.item).toBeNull();

    expect(await done(it, whole)).toMatchObject({ verdict: { allowed: false }, next: null });
    const { next } = await done(it, whole, { item: 'b' });

    expect(next).toMatchObject({ view: { phase: 'JOIN' } });
  });

  test('of a run that waits in the queue is claimed together with it', async () => {
    const { it, run } = await entered(['a', 'b']);
    await it.project.claims.release(run, ADA, 'exited');
    expect(await it.store.list({ status: 'queued' })).toHaveLength(1);

    const again = await claim(it, BOB);

    expect(again).toMatchObject({ item: { key: 'a', value: 'a' }, view: { holder: 'bob' } });
    expect(await it.store.leases()).toMatchObject([
      { item: null, agent: 'bob' },
      { item: 'a', agent: 'bob' },
    ]);
  });

  test('and its run may be read, and tools judged in it, by the one who holds it', async () => {
    const { it, run } = await entered(['a', 'b']);
    const second = await claim(it, BOB);

    expect(await it.project.as(BOB).view(run)).toMatchObject({ phase: 'EACH' });
    await expect(it.project.as(CY).view(run)).rejects.toMatchObject({ code: 'not_permitted' });
    const read = { tool: 'read_files', input: { path: 'a' } };
    expect((await it.project.as(BOB).judgeTool(run, read)).allowed).toBe(true);
    const admitted = await it.project.claims.admit(second.token);
    expect((await it.project.toolbox.check(admitted, read)).allowed).toBe(true);
  });

  test('gets a fresh token of its own', async () => {
    const { it, run } = await entered(['a', 'b']);
    await claim(it, BOB);

    expect((await it.project.claims.token(run, BOB)).item?.key).toBe('b');
    expect((await it.project.claims.token(run, BOB, 'b')).item?.key).toBe('b');
    await expect(it.project.claims.token(run, BOB, 'a')).rejects.toMatchObject({ code: 'not_permitted' });
  });

  test('is given again to an agent that claims its run by name while another claim of its own takes it', async () => {
    const { it, run } = await entered(['a', 'b']);

    const byName = () => it.project.claims.claimRun(run, BOB, []);
    const both = await Promise.all([byName(), byName()]);

    expect(both).toMatchObject([{ item: { key: 'b' } }, { item: { key: 'b' } }]);
  });

  test('is given back without a crash', async () => {
    const { it, run } = await entered(['a', 'b']);
    const second = await claim(it, BOB);

    await it.project.claims.release(run, BOB, 'given_back');

    await expect(it.project.claims.admit(second.token)).rejects.toMatchObject({ code: 'token_dead' });
    expect((await claim(it, CY)).item?.key).toBe('b');
    expect((await it.store.load(run))?.run.work.items?.b).not.toHaveProperty('crashes');
  });
});
