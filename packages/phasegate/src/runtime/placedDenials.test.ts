import { expect, test } from 'vitest';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';
import { ADA } from './fixtures/workingRun.ts';
import { createPlacedDenials } from './placedDenials.ts';

const REFUSED = {
  allowed: false,
  blockers: [
    {
      code: 'tool_not_allowed',
      message: 'no',
      nextAction: { act: 'none', text: 'nothing' },
      rule: { name: 'tools', phase: 'ONE' },
    },
  ],
} as const;

test('an agent that is refused again and again has its history read once in a phase', async () => {
  const phases = ['ONE', 'TWO'].map((id) => ({ id, name: id, instructions: '' }));
  const { project, store } = openMemoryProject({ id: 'work', phases });
  const started = await project.as(ADA).start({ workflow: 'work' });
  const { run } = (await store.load(String(started.view?.run))) ?? expect.fail('not started');
  let reads = 0;
  const denials = createPlacedDenials({
    history: (...asked) => {
      reads += 1;
      return store.history(...asked);
    },
  });

  await denials.withPlaces(run, REFUSED);
  const first = reads;
  for (let times = 0; times < 20; times += 1) await denials.withPlaces(run, REFUSED);

  expect(first).toBeGreaterThan(0);
  expect(reads).toBe(first);
  await denials.withPlaces({ ...run, epoch: run.epoch + 1 }, REFUSED);
  expect(reads).toBe(2 * first);
});

test('a history that could not be read is read again', async () => {
  const phases = [{ id: 'ONE', name: 'ONE', instructions: '' }];
  const { project, store } = openMemoryProject({ id: 'work', phases });
  const started = await project.as(ADA).start({ workflow: 'work' });
  const { run } = (await store.load(String(started.view?.run))) ?? expect.fail('not started');
  let isAway = true;
  const denials = createPlacedDenials({
    history: async (...asked) => {
      if (isAway) throw new Error('the store is away');
      return store.history(...asked);
    },
  });

  await expect(denials.withPlaces(run, REFUSED)).rejects.toThrow('the store is away');
  isAway = false;

  expect(await denials.withPlaces(run, REFUSED)).toEqual(REFUSED);
});
