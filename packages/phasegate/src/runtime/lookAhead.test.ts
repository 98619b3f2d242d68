import { expect, test } from 'vitest';
import { ADA, claim, events, openWith, queue } from './fixtures/agentsAtWork.ts';
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
