import { atATime, newEvidence, STEPS, workflowText } from '../wholeRuns/contender.ts';
import { type Point, timed } from './curve.ts';
import { openBench } from './openBench.ts';

const HUMAN = { kind: 'human', name: 'operator' } as const;
/** One agent may have a thousand runs that are not finished. */
const RUNS_EACH = 900;

/** What acts on one run cost while so many others are under way. */
export async function costsWithRuns(sizes: readonly number[], tries: number) {
  const { project, close } = await openBench(workflowText('bench', ['read_files']));
  const costs = new Map<string, Point[]>();
  const note = async (name: string, size: number, act: (index: number) => Promise<unknown>) => {
    const points = costs.get(name) ?? [];
    costs.set(name, [...points, { size, milliseconds: await timed(tries, act) }]);
  };
  const worker = { kind: 'agent', name: 'worker' } as const;
  let active = 0;
  for (const size of sizes) {
    const first = active;
    await atATime(size - first, 64, async (index) => {
      const name = `agent-${Math.floor((first + index) / RUNS_EACH)}`;
      await project.as({ kind: 'agent', name }).start({ workflow: 'bench' });
    });
    active = size;
    const taken: string[] = [];
    for (let index = 0; index < tries; index++) {
      await project.as(HUMAN).start({ workflow: 'bench', queue: true });
    }
    await note('claim', size, async () => {
      const claimed = await project.claims.claim(worker, []);
      if (claimed === null) throw new Error('nothing was claimed');
      taken.push(claimed.view.run);
    });
    const own = project.as(worker);
    await note('status', size, (index) => own.view(taken[index] as string));
    await note('check', size, (index) =>
      own.judgeTool(taken[index] as string, { tool: 'read_files', input: { path: 'a' } }),
    );
    await note('transition', size, (index) =>
      own.submit(taken[index] as string, {
        kind: 'complete',
        phase: STEPS[0],
        evidence: { work: newEvidence() },
      }),
    );
    await note('list of 50', size, () => project.as(HUMAN).runs({ limit: 50 }));
    for (const run of taken) await project.as(HUMAN).submit(run, { kind: 'stop', reason: 'measured' });
  }
  await close();
  return costs;
}
