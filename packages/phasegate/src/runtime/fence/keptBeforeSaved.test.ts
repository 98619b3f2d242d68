import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run, WorkflowDraft } from '@phasegate/core';
import { expect, test } from 'vitest';
import { createFence } from '../../workspace/fence/fence.ts';
import { openMemoryProject } from '../fixtures/openMemoryProject.ts';
import type { Store } from '../ports.ts';

const ADA = { kind: 'agent', name: 'ada' } as const;
const DRAFT: WorkflowDraft = {
  id: 'lab',
  phases: [
    { id: 'ONE', writes: ['src/**'] },
    { id: 'TWO', writes: ['src/**'] },
  ],
};

test('no run is ever written whose measure is not on disk, and a write that fails leaves the run its own', async () => {
  const { project, store, saved, measures, write, failNext } = bed();
  const phasegate = project.as(ADA);
  const { view } = await phasegate.start({ workflow: 'lab' });
  const run = String(view?.run);
  const complete = (phase: string) =>
    phasegate.submit(run, { kind: 'complete', phase, evidence: {} }).then(({ verdict }) => verdict);
  const treeOf = async () => (await store.load(run))?.run.work.tree ?? '';
  const first = await treeOf();

  write('src/a.txt', 'a');
  write('stray.txt', 's');
  expect(await complete('ONE')).toMatchObject({ allowed: false });
  // Refused: the measure that was taken for it is nobody's, and nowhere.
  expect(measures()).toEqual([first]);
  write('stray.txt', null);
  failNext();
  await expect(complete('ONE')).rejects.toThrow('the power went');
  expect(await treeOf()).toBe(first);
  expect(await complete('ONE')).toMatchObject({ allowed: true });
  const second = await treeOf();
  expect(measures()).toContain(second);
  expect(measures()).not.toContain(first);
  expect(await complete('TWO')).toMatchObject({ allowed: true });

  expect(second).not.toBe(first);
  expect(saved.length).toBeGreaterThan(3);
  expect(saved.every(({ kept }) => kept)).toBe(true);
});

test('a run that another command changed first is judged again, and has the measure it is saved with', async () => {
  const { project, store, measures, write, loseNext } = bed();
  const phasegate = project.as(ADA);
  const { view } = await phasegate.start({ workflow: 'lab' });
  const run = String(view?.run);
  write('src/a.txt', 'a');
  loseNext();

  const { verdict } = await phasegate.submit(run, { kind: 'complete', phase: 'ONE', evidence: {} });

  expect(verdict).toMatchObject({ allowed: true });
  expect(measures()).toEqual([(await store.load(run))?.run.work.tree]);
});

/** A project whose store looks, at each write, whether the measures of the run are there. */
function bed() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kept-')));
  const [root, stateDir] = [join(base, 'project'), join(base, 'state')];
  mkdirSync(join(root, 'src'), { recursive: true });
  const folder = join(stateDir, 'fence');
  const { store: real } = openMemoryProject(DRAFT);
  const saved: { readonly kept: boolean }[] = [];
  let [fails, loses] = [false, false];
  const measures = () =>
    ['own', 'shared'].flatMap((name) => {
      const names = existsSync(join(folder, name)) ? readdirSync(join(folder, name)) : [];
      return names.filter((one) => one.endsWith('.json')).map((one) => one.slice(0, -5));
    });
  const look = ({ phase, work: { tree } }: Run) => {
    saved.push({ kept: phase === null || (tree !== undefined && measures().includes(tree)) });
    if (fails) {
      fails = false;
      throw new Error('the power went');
    }
  };
  const store: Store = {
    ...real,
    create: async (run, ...rest) => {
      look(run);
      return real.create(run, ...rest);
    },
    save: async (run, ...rest) => {
      look(run);
      if (!loses) return real.save(run, ...rest);
      loses = false;
      return false;
    },
  };
  const guardsOtherwise = async () => () => false;
  const measuring = createFence({ root, stateDir, folder, env: {}, guardsOtherwise });
  const { project } = openMemoryProject(DRAFT, { parts: { store, measuring, workspace: root } });
  return {
    project,
    store,
    saved,
    measures,
    write: (path: string, text: string | null) => {
      if (text === null) rmSync(join(root, path));
      else writeFileSync(join(root, path), text);
    },
    failNext: () => {
      fails = true;
    },
    loseNext: () => {
      loses = true;
    },
  };
}
