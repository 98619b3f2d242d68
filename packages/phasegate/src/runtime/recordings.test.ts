import { replayRun } from '@phasegate/proofs';
import { expect, test } from 'vitest';
import { ADA, claim, done, openWith, queue } from './fixtures/agentsAtWork.ts';
import type { RecordedRun, Store } from './ports.ts';
import { recordingsIn } from './recordings.ts';

test('a run that goes on while it is read comes with the records that lead to where it stands', async () => {
  const it = openWith();
  const { project, store } = it;
  const run = await queue(it);
  const claimed = await claim(it, ADA);
  let reads = 0;
  // As if another process completed the phase between the reading of the run and that of its records.
  const busy: Store = {
    ...store,
    history: async (...page) => {
      if (reads++ === 0) await done(it, claimed);
      return store.history(...page);
    },
  };

  const [found] = await all(recordingsIn(busy, project.load, { runs: [run] }));

  if (found === undefined) throw new Error('nothing was found');
  expect(found.run.phase).toBe('BUILD');
  const again = await replayRun({
    ...found,
    changed: found.run.workflow,
    ...(await project.records.lookingAgain()),
  });
  expect(again.counts.same).toBe(again.decisions);
});

test('a run that is not there is unknown', async () => {
  const { project } = openWith();

  await expect(all(project.records.runs({ runs: ['run-none'] }))).rejects.toMatchObject({
    code: 'run_unknown',
  });
});

async function all(recordings: AsyncIterable<RecordedRun>): Promise<readonly RecordedRun[]> {
  const found: RecordedRun[] = [];
  for await (const one of recordings) found.push(one);
  return found;
}
