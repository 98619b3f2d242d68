import { expect, test } from 'vitest';
import { ADA, BOB, claim, events, openWith, queue, TWO } from './fixtures/agentsAtWork.ts';
import { createOpenProject } from './openProject.ts';
import type { OpenProject, Store } from './ports.ts';

/** A node on a store that has to be asked over a wire; `hooks.before` is done right before a run is saved at it. */
async function far(phases: readonly string[]) {
  const it = openWith(phases.map((id) => ({ id })));
  const run = await queue(it);
  await claim(it, ADA);
  const asked: string[] = [];
  const hooks: { before?: (() => Promise<unknown>) | undefined } = {};
  const { peek: _, ...rest } = it.store;
  const store: Store = {
    ...rest,
    load: (id) => {
      asked.push('load');
      return rest.load(id);
    },
    calls: (id, item) => {
      asked.push('calls');
      return rest.calls(id, item);
    },
    lease: (id, item) => {
      asked.push('lease');
      return rest.lease(id, item);
    },
    save: async (...words) => {
      asked.push('save');
      const { before } = hooks;
      hooks.before = undefined;
      await before?.();
      return rest.save(...words);
    },
  };
  return { it, run, asked, hooks, node: createOpenProject({ ...it.parts, store }) };
}

const complete = (node: OpenProject, run: string, phase: string) =>
  node.as(ADA).submit(run, { kind: 'complete', phase, evidence: {} });

test('a phase is completed by one question for the run and one for its calls', async () => {
  const { it, node, run, asked } = await far(['PLAN', 'BUILD', 'SHIP']);

  expect((await complete(node, run, 'PLAN')).view?.phase).toBe('BUILD');

  expect(asked.slice(0, 3)).toEqual(['calls', 'load', 'save']);
  // The lease goes with the run, and its token does not.
  expect(await it.store.lease(run, null)).toMatchObject({ agent: 'ada', epoch: 3, jti: null });
});

test('what another node changes between the reading and the saving is decided on anew', async () => {
  const { it, node, run, hooks } = await far(['PLAN', 'BUILD', 'SHIP']);
  hooks.before = () => complete(it.project, run, 'PLAN');

  const { verdict } = await complete(node, run, 'PLAN');

  expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'phase_sequence_violation' }] });
  expect((await it.store.load(run))?.run.phase).toBe('BUILD');
  expect((await events(it, run)).filter((event) => event === 'phase_completed')).toHaveLength(1);
});

test('a call that begins between the reading and the saving is waited for', async () => {
  const { it, node, run, hooks, asked } = await far(['PLAN', 'BUILD']);
  const call = { id: 'c', run, item: null, tool: 't', process: 'p', ending: false };
  const deadline = new Date(Date.parse(it.now()) + 60_000).toISOString();
  const begin = async () => it.store.beginCall({ ...call, deadline }, version, []);
  const { version } = (await it.store.load(run)) as { readonly version: number };
  hooks.before = begin;

  const moving = complete(node, run, 'PLAN');
  while (asked.filter((what) => what === 'calls').length < 3) await new Promise(setImmediate);
  expect((await it.store.load(run))?.run.phase).toBe('PLAN');
  await it.store.endCall(call, []);

  expect((await moving).view?.phase).toBe('BUILD');
});

test.each([
  ['the phase', {}],
  ['an item that nobody knows', { item: 'nobody-knows' }],
])(
  'a stranger who completes %s keeps no call of the holder waiting, however long it takes',
  async (_, what) => {
    const tool = { name: 'read_files', description: 'reads', input: { type: 'object' } };
    const tools = async () => [{ ...tool, run: async () => ({ ok: true, output: 'read' }) }];
    const it = openWith(TWO, { parts: { tools } });
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const [reached, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { peek: _near, ...rest } = it.store;
    const store: Store = {
      ...rest,
      async note(runId, drafts, judgedAt) {
        if (drafts.some(({ principal }) => principal === 'agent:bob')) {
          reached.resolve();
          await letGo.promise;
        }
        return rest.note(runId, drafts, judgedAt);
      },
    };
    const node = createOpenProject({ ...it.parts, store });

    const refused = node.as(BOB).submit(run, { kind: 'complete', phase: 'PLAN', evidence: {}, ...what });
    await reached.promise;
    const call = { tool: 'read_files', input: { paths: ['a'] } };
    const done = await node.toolbox.execute(await node.claims.admit(token), [call]);
    letGo.resolve();

    expect(done).toMatchObject([{ verdict: { allowed: true }, result: { ok: true } }]);
    expect((await refused).verdict).toMatchObject({ allowed: false, blockers: [{ code: 'not_your_run' }] });
  },
);
