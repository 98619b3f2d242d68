import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowDraft } from '@phasegate/core';
import { expect, test } from 'vitest';
import { createFence } from '../workspace/fence/fence.ts';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';
import { ADA } from './fixtures/workingRun.ts';
import type { Store } from './ports.ts';

const DRAFT: WorkflowDraft = {
  id: 'lab',
  phases: [
    { id: 'ONE', writes: ['src/**'], allowedTools: ['read_files', 'write_files'] },
    { id: 'TWO', writes: ['src/**'], gates: [{ human: { prompt: 'Go?', options: [{ label: 'Yes' }] } }] },
  ],
};

test('what agents and people ask all the time never goes over all runs, leases or records', async () => {
  const { project, pass, store, wide, write } = bed();
  const phasegate = project.as(ADA);
  const stopped = String((await phasegate.start({ workflow: 'lab', target: 'a.md' })).view?.run);
  await project.as({ kind: 'human', name: 'maria' }).submit(stopped, { kind: 'stop', reason: 'no' });
  pass(1);
  wide.length = 0;

  await phasegate.start({ workflow: 'lab', target: 'a.md', queue: true });
  const { token, view } = (await project.claims.claim(ADA, [])) ?? { token: '', view: null };
  const run = String(view?.run);
  const admitted = await project.claims.admit(token);
  await project.toolbox.check(admitted, { tool: 'write_files', input: { path: 'src/a.txt', content: 'a' } });
  write('stray.txt', 's');
  const complete = (phase: string) => phasegate.submit(run, { kind: 'complete', phase, evidence: {} });
  expect((await complete('ONE')).verdict).toMatchObject({ allowed: false });
  await project.fencing.report(run);
  write('stray.txt', null);
  expect((await complete('ONE')).verdict).toMatchObject({ allowed: true });
  expect((await complete('TWO')).verdict).toMatchObject({ allowed: true });
  const card = await project.gateCard(run);
  await phasegate.view(run);
  await project.claims.countLeases();

  expect(JSON.stringify(card)).toContain(stopped);
  expect((await store.load(run))?.run.status).toBe('waiting');
  expect(wide).toEqual([]);
});

test('what an agent asks of a run with many items looks at none of them again', async () => {
  const each: WorkflowDraft = {
    id: 'each',
    params: { areas: { type: 'list' } },
    phases: [{ id: 'EACH', parallel: { key: 'areas' }, allowedTools: ['read_files'] }, { id: 'DONE' }],
  };
  const areas = Array.from({ length: 2000 }, (_, index) => `area-${index}`);
  let looks = 0;
  const watchedRuns = new WeakMap<object, object>();
  const { store: real } = openMemoryProject(each);
  const load: Store['load'] = async (id) => {
    const stored = await real.load(id);
    const items = stored?.run.work.items ?? null;
    if (stored === undefined || items === null) return stored;
    // The same value for the same items, as stores that keep what they read give it.
    const watched =
      watchedRuns.get(items) ??
      new Proxy(items, {
        get(all, key) {
          looks += 1;
          return Reflect.get(all, key) as unknown;
        },
      });
    watchedRuns.set(items, watched);
    return {
      ...stored,
      run: { ...stored.run, work: { ...stored.run.work, items: watched } },
    } as typeof stored;
  };
  const { project } = openMemoryProject(each, { parts: { store: { ...real, load } } });
  const phasegate = project.as(ADA);
  const run = String((await phasegate.start({ workflow: 'each', params: { areas }, queue: true })).view?.run);
  const { token } = (await project.claims.claim(ADA, [])) ?? { token: '' };
  await phasegate.view(run);
  looks = 0;

  const { current, nextAction } = await phasegate.view(run);
  await project.toolbox.check(await project.claims.admit(token), { tool: 'read_files', input: {} });

  expect(looks).toBeLessThan(20);
  expect(nextAction).toMatchObject({ item: 'area-0' });
  expect(current?.content).toContain('2000 in all: 2000 open (1 of them held)');
  expect(current?.content.length).toBeLessThan(10_000);
});

/** A project whose store tells of questions that cost what all runs, leases or records cost. */
function bed() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'flat-')));
  const [root, stateDir] = [join(base, 'project'), join(base, 'state')];
  mkdirSync(join(root, 'src'), { recursive: true });
  const { store: real } = openMemoryProject(DRAFT);
  const wide: string[] = [];
  const store: Store = {
    ...real,
    list: (query) => {
      if (query.limit === undefined && query.holder === undefined) wide.push('list');
      return real.list(query);
    },
    leases: (agent) => {
      if (agent === undefined) wide.push('leases');
      return real.leases(agent);
    },
    treesInUse: () => {
      wide.push('treesInUse');
      return real.treesInUse();
    },
    feed: (after, limit) => {
      if (after === 0) wide.push('feed');
      return real.feed(after, limit);
    },
  };
  const guardsOtherwise = async () => () => false;
  const folder = join(stateDir, 'fence');
  const measuring = createFence({ root, stateDir, folder, env: {}, guardsOtherwise });
  const { project, pass } = openMemoryProject(DRAFT, { parts: { store, measuring, workspace: root } });
  const write = (path: string, text: string | null) => {
    if (text === null) rmSync(join(root, path));
    else writeFileSync(join(root, path), text);
  };
  return { project, pass, store, wide, write };
}
