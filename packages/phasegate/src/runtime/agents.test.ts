import { createHash } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { createAgents } from './agents.ts';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';
import type { AgentPrincipal } from './ports.ts';

const open = () => openMemoryProject({ id: 'tested', phases: [{ id: 'PLAN' }, { id: 'BUILD' }] });
const ADA: AgentPrincipal = { kind: 'agent', name: 'ada' };

describe('an agent', () => {
  test('gets a key that is shown once and kept as a hash [S2.37]', async () => {
    const { project, store } = open();

    const { name, key } = await project.agents.add('ada', { capabilities: ['node', 'node'], by: null });

    expect(name).toBe('ada');
    expect(key).toMatch(/^pgk_[\w-]{43}$/);
    const [record] = await store.agents();
    expect(record).toMatchObject({ keyHash: createHash('sha256').update(key).digest('hex') });
    expect(await project.agents.list()).toEqual([
      { name: 'ada', capabilities: ['node'], addedAt: record?.addedAt },
    ]);
    const audit = JSON.stringify(await store.history(null, { after: 0, limit: 9 }));
    expect(audit).toContain('agent_added');
    expect(audit).not.toContain(key);
  });

  test('is known by its key, and nobody by any other', async () => {
    const { project } = open();
    const { key } = await project.agents.add('ada', { by: null });
    const other = await project.agents.add('bob', { capabilities: ['gpu'], by: null });

    expect(await project.agents.identify(key)).toEqual({ principal: ADA, capabilities: null });
    expect(await project.agents.identify(other.key)).toMatchObject({ capabilities: ['gpu'] });
    for (const wrong of ['', 'ada', `${key}x`, key.slice(0, -1), key.toUpperCase(), 'x'.repeat(10_000)]) {
      expect(await project.agents.identify(wrong)).toBeNull();
    }
  });

  test('is looked for once for all who show a key meanwhile, and never in what was read before it was withdrawn [adv.O5]', async () => {
    const { project, store } = open();
    const { key } = await project.agents.add('ada', { by: null });
    const gates: (() => void)[] = [];
    let looks = 0;
    const agents = createAgents({
      store: {
        ...store,
        async agents() {
          looks += 1;
          const read = await store.agents();
          await new Promise<void>((resolve) => gates.push(resolve));
          return read;
        },
      },
      now: () => '2026-11-15T12:00:00.000Z',
      releaseAll: async () => undefined,
    });
    const openGate = async () => {
      while (gates.length === 0) await new Promise(setImmediate);
      gates.shift()?.();
    };

    const early = agents.identify(key);
    while (gates.length === 0) await new Promise(setImmediate);
    await project.agents.remove('ada', null);
    const late = [key, ...Array.from({ length: 200 }, (_, index) => `pgk_guess${index}`)].map((shown) =>
      agents.identify(shown),
    );
    await openGate();
    expect(await early).toMatchObject({ principal: ADA });
    await openGate();

    expect(new Set(await Promise.all(late))).toEqual(new Set([null]));
    expect(looks).toBe(2);
  });

  test('is looked for again after the store could not be read', async () => {
    const { project, store } = open();
    const { key } = await project.agents.add('ada', { by: null });
    let fails = true;
    const agents = createAgents({
      store: {
        ...store,
        agents: async () => {
          if (!fails) return store.agents();
          throw new PhasegateError('store_unavailable', 'the store is away');
        },
      },
      now: () => '2026-11-15T12:00:00.000Z',
      releaseAll: async () => undefined,
    });

    const asked = [agents.identify(key), agents.identify(key), agents.identify('pgk_guess')];
    for (const one of await Promise.allSettled(asked)) expect(one.status).toBe('rejected');
    fails = false;
    expect(await agents.identify(key)).toMatchObject({ principal: ADA });
  });

  test('gets a new key under the same name, and the old one is void', async () => {
    const { project } = open();
    const before = await project.agents.add('ada', { by: null });
    const after = await project.agents.add('ada', { by: null });

    expect(await project.agents.identify(before.key)).toBeNull();
    expect(await project.agents.identify(after.key)).toMatchObject({ principal: ADA });
    expect(await project.agents.list()).toHaveLength(1);
  });

  test('whose key is replaced loses what it holds, and its tokens with it', async () => {
    const { project, store } = open();
    await project.agents.add('ada', { by: null });
    await project.as({ kind: 'human', name: 'eve' }).start({ workflow: 'tested' });
    const claimed = await project.claims.claim(ADA, []);
    await project.humans.add('eve', 'a long passphrase', null);
    const eve = await project.humans.unlock('eve', 'a long passphrase');

    const { key } = await project.agents.add('ada', { by: eve });

    await expect(project.claims.admit(claimed?.token ?? '')).rejects.toMatchObject({ code: 'token_dead' });
    expect(await store.list({ status: 'queued' })).toMatchObject([{ run: claimed?.view.run, holder: null }]);
    expect(await store.leases()).toEqual([]);
    expect((await store.history(null, { after: 0, limit: 99 })).slice(-2)).toMatchObject([
      { event: 'agent_removed', principal: 'human:eve', data: { agent: 'ada', cause: 'key_replaced' } },
      { event: 'agent_added', principal: 'human:eve', data: { agent: 'ada', replaced: true } },
    ]);
    // Anyone with the new key takes it up again.
    expect(await project.agents.identify(key)).toMatchObject({ principal: ADA });
    expect(await project.claims.claim(ADA, [])).toMatchObject({ view: { run: claimed?.view.run } });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  test.each([
    '',
    'local',
    'Local',
    'ENGINE',
    'Phasegate',
    '-ada',
    'a b',
    'a/b',
    'ä',
    'x'.repeat(65),
    'x'.repeat(10_000),
  ])('cannot be called `%s`', async (name) => {
    const { project } = open();
    const adding = project.agents.add(name, { by: null });
    await expect(adding).rejects.toMatchObject({ code: 'usage' });
    await expect(adding).rejects.toThrow(/^.{1,200}$/);
    expect(await project.agents.list()).toEqual([]);
  });

  test('may be called by a name of 64 letters, and can do only what has a name', async () => {
    const { project } = open();
    await project.agents.add('x'.repeat(64), { by: null });
    const adding = project.agents.add('ada', { capabilities: ['no spaces'], by: null });
    await expect(adding).rejects.toMatchObject({ code: 'usage' });
  });

  test('is not called as a human is, however that is written', async () => {
    const { project } = open();
    await project.humans.add('eve', 'a long passphrase', null);
    const eve = await project.humans.unlock('eve', 'a long passphrase');

    for (const name of ['eve', 'Eve', 'EVE']) {
      const adding = project.agents.add(name, { by: eve });
      await expect(adding).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining('human'),
      });
    }
  });

  test('is not called as a human is who comes later: the human takes another name, or it goes first', async () => {
    const { project } = open();
    await project.agents.add('Eve', { by: null });

    for (const name of ['Eve', 'eve']) {
      await expect(project.humans.add(name, 'a long passphrase', null)).rejects.toMatchObject({
        code: 'usage',
        message: '`Eve` is the name of an agent; take another name',
        hint: expect.stringContaining('phasegate agents remove Eve'),
      });
    }
    expect(await project.humans.list()).toEqual([]);
    await project.agents.remove('Eve', null);
    await project.humans.add('eve', 'a long passphrase', null);
  });

  test('that was spawned has a key only while the one who spawned it says so, and is withdrawn after that', async () => {
    const it = open();
    const { agents } = it.project;
    const { name, key } = await agents.add('ada-1', { by: 'spawn' });
    const run = await it.project
      .as({ kind: 'human', name: 'eve' })
      .start({ workflow: 'tested', queue: true });
    await it.project.claims.claim({ kind: 'agent', name }, []);

    it.pass(50);
    await agents.renew(name);
    it.pass(50);
    await agents.expire();
    expect(await agents.identify(key)).toMatchObject({ principal: { name } });

    it.pass(11);
    expect(await agents.identify(key)).toBeNull();
    await agents.expire();
    expect(await agents.list()).toEqual([]);
    expect((await it.project.load(run.view?.run ?? '')).status).toBe('queued');
    expect(await it.store.verify()).toMatchObject({ ok: true });

    // Anyone who was only asleep goes on.
    await agents.renew(name);
    expect(await agents.identify(key)).toMatchObject({ principal: { name } });
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('is added and removed by a human alone once there is one; spawning needs none [C18]', async () => {
    const { project } = open();
    await project.humans.add('eve', 'a long passphrase', null);
    const eve = await project.humans.unlock('eve', 'a long passphrase');

    const refused = { code: 'not_permitted' };
    await expect(project.agents.add('ada', { by: null })).rejects.toMatchObject(refused);
    const { key } = await project.agents.add('ada', { by: eve });
    await expect(project.agents.remove('ada', null)).rejects.toMatchObject(refused);
    await expect(project.agents.remove('ada', 'spawn')).rejects.toMatchObject(refused);
    await expect(project.agents.add('ada', { by: 'spawn' })).rejects.toMatchObject({ code: 'usage' });
    expect(await project.agents.identify(key)).not.toBeNull();

    await project.agents.add('spawned-1', { by: 'spawn' });
    await project.agents.remove('spawned-1', 'spawn');
    await project.agents.remove('ada', eve);
    expect(await project.agents.list()).toEqual([]);
    await expect(project.agents.remove('ada', eve)).rejects.toMatchObject({ code: 'agent_unknown' });
  });

  test('that is removed loses what it holds, and its token with it [S2.92]', async () => {
    const { project, store } = open();
    const { key } = await project.agents.add('ada', { by: null });
    await project.as({ kind: 'human', name: 'eve' }).start({ workflow: 'tested' });
    const claimed = await project.claims.claim(ADA, []);

    await project.agents.remove('ada', null);

    expect(await project.agents.identify(key)).toBeNull();
    await expect(project.claims.admit(claimed?.token ?? '')).rejects.toMatchObject({ code: 'token_dead' });
    expect(await store.list({ status: 'queued' })).toMatchObject([{ run: claimed?.view.run, holder: null }]);
    expect(await store.leases()).toEqual([]);
    const records = await store.history(claimed?.view.run ?? '', { after: 0, limit: 99 });
    expect(records.find(({ event }) => event === 'run_released')?.data).toMatchObject({
      holder: 'ada',
      cause: 'agent_removed',
    });
  });
});
