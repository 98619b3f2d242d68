import { describe, expect, test } from 'vitest';
import { createCallsUnderWay } from './callsUnderWay.ts';
import { ADA, claim, events, openWith, queue } from './fixtures/agentsAtWork.ts';
import type { MemoryProject } from './fixtures/openMemoryProject.ts';
import { createReleases } from './leases/releases.ts';
import { createOpenProject } from './openProject.ts';
import type { Store } from './ports.ts';
import { createRuntime } from './runtime.ts';
import { createStuckRuns } from './stuckRuns.ts';

/** As another node does it that has looked for what the agent holds already, and found nothing yet. */
async function removedElsewhere({ store, now }: MemoryProject, name: string): Promise<void> {
  const data = { agent: name };
  await store.removeAgent(name, [{ time: now(), principal: 'setup', event: 'agent_removed', data }]);
}

describe('an agent that is removed at another node', () => {
  test('in the moment in which it claims keeps nothing: the run is queued again', async () => {
    const it = openWith();
    const run = await queue(it);
    await it.project.agents.add('ada', { by: null });
    await removedElsewhere(it, 'ada');

    await expect(it.project.claims.claimRun(run, ADA, [])).rejects.toMatchObject({
      code: 'not_permitted',
      message: 'agent `ada` was removed',
    });

    expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', holder: null });
    expect(await it.store.leases()).toEqual([]);
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('in the moment in which it starts a run does not hold that run', async () => {
    const it = openWith();
    await it.project.agents.add('ada', { by: null });
    await removedElsewhere(it, 'ada');

    await expect(it.project.as(ADA).start({ workflow: 'tested' })).rejects.toMatchObject({
      code: 'not_permitted',
    });

    const [made] = await it.store.list({});
    expect(made).toMatchObject({ status: 'queued', holder: null });
  });

  test('by a process that ended before it took back what the agent holds loses that all the same', async () => {
    const it = openWith();
    const run = await queue(it);
    await it.project.agents.add('ada', { by: null });
    const { token } = await claim(it, ADA);
    await removedElsewhere(it, 'ada');
    expect(await it.project.claims.admit(token)).toMatchObject({ runId: run });

    await it.project.agents.expire();

    expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', holder: null });
    await expect(it.project.claims.admit(token)).rejects.toThrow('earlier');
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('loses what can be taken back, also where one of its runs cannot be', async () => {
    const it = openWith();
    const [broken, sound] = [await queue(it), await queue(it)];
    await it.project.agents.add('ada', { by: null });
    for (const run of [broken, sound]) await it.project.claims.claimRun(run, ADA, []);
    const load: Store['load'] = async (id) => {
      if (id === broken) throw new Error('it cannot be read');
      return it.store.load(id);
    };
    const store = { ...it.store, load };
    const calls = createCallsUnderWay({ ...it.parts, store, onError: () => undefined });
    const runtime = createRuntime({ ...it.parts, store, calls, signed: async () => true });
    const releases = createReleases({ store, runtime, calls, now: () => Date.parse(it.now()) });

    await expect(releases.releaseAll('ada', 'agent_removed')).rejects.toThrow('it cannot be read');

    expect((await it.store.load(sound))?.run).toMatchObject({ status: 'queued', holder: null });
  });

  test('does not come back with the next renewal of the one who spawned it', async () => {
    const it = openWith();
    const { name, key } = await it.project.agents.add('ada-1', { by: 'spawn' });
    await it.project.agents.renew(name);
    await removedElsewhere(it, name);

    // Its spawner tries again and again, also when the key would have run out long ago.
    for (let tried = 0; tried < 10; tried += 1) {
      it.pass(15);
      await expect(it.project.agents.renew(name)).rejects.toMatchObject({ code: 'agent_unknown' });
    }

    expect(await it.project.agents.identify(key)).toBeNull();
    expect(await it.project.agents.list()).toEqual([]);
  });
});

describe('an agent whose key a human replaces', () => {
  test('keeps nothing that it claims by the old one in the same moment', async () => {
    const it = openWith();
    const run = await queue(it);
    await it.project.agents.add('ada', { by: null });
    const putAgent: Store['putAgent'] = async (...words) => {
      const isPut = await it.store.putAgent(...words);
      await it.project.claims.claimRun(run, ADA, []);
      return isPut;
    };
    const node = createOpenProject({ ...it.parts, store: { ...it.store, putAgent } });

    await node.agents.add('ada', { by: null });

    expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', holder: null });
    expect(await it.store.leases()).toEqual([]);
  });

  test('after a node removed it that was ended before it took everything back loses that, too', async () => {
    const it = openWith();
    await queue(it);
    await it.project.agents.add('ada', { by: null });
    const { token } = await claim(it, ADA);
    await removedElsewhere(it, 'ada');

    await it.project.agents.add('ada', { by: null });

    await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_dead' });
  });

  test('does not get the old one back with the next renewal of the one who spawned it', async () => {
    const it = openWith();
    const { name, key } = await it.project.agents.add('ada-1', { by: 'spawn' });

    const replaced = await createOpenProject(it.parts).agents.add(name, { by: null });

    await expect(it.project.agents.renew(name)).rejects.toMatchObject({ code: 'agent_unknown' });
    expect(await it.project.agents.identify(key)).toBeNull();
    expect(await it.project.agents.identify(replaced.key)).toMatchObject({ principal: { name } });
  });
});

test('a run that nothing happens in is told of once, however many nodes look at the same time', async () => {
  const it = openWith();
  const run = await queue(it);
  it.pass(3600);
  const now = () => Date.parse(it.now());
  const nodes = [1, 2].map(() => createStuckRuns({ store: it.store, now, afterMs: 1000 }));

  const found = await Promise.all(nodes.map((node) => node.next()));
  for (const [index, node] of nodes.entries())
    for (const one of found[index]?.found ?? []) await node.report(one);

  expect((await events(it, run)).filter((event) => event === 'run_stuck')).toHaveLength(1);
  const again = await nodes[0]?.next();
  expect(again).toEqual({ found: [], over: true });
});

test('a lease that ended takes nothing from the same agent, who claimed anew meanwhile', async () => {
  const it = openWith();
  const run = await queue(it);
  await claim(it, ADA);
  it.pass(301);
  const [lease] = await it.store.leases();
  let meanwhile = async () => {
    await it.project.claims.release(run, ADA, 'given_back');
    await claim(it, ADA);
  };
  // Another node is faster, right after this one has seen that the lease is over.
  const store: Store = {
    ...it.store,
    async lease(...asked) {
      const seen = await it.store.lease(...asked);
      await meanwhile();
      meanwhile = async () => undefined;
      return seen;
    },
  };
  const now = () => Date.parse(it.now());
  const calls = createCallsUnderWay({ ...it.parts, store, onError: () => undefined });
  const runtime = createRuntime({
    ...it.parts,
    store,
    calls,
    signed: async () => true,
  });
  if (lease === undefined) throw new Error('nobody holds the run');

  await createReleases({ store, runtime, calls, now }).expire(lease);

  expect((await it.store.load(run))?.run).toMatchObject({ status: 'active', holder: 'ada' });
  expect(await it.store.leases()).toMatchObject([{ agent: 'ada' }]);
});
