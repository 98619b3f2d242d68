import { atATime, workflowText } from '../wholeRuns/contender.ts';
import { type Point, timed } from './curve.ts';
import { openBench } from './openBench.ts';

/** Tool calls recorded for each run. */
const CALLS = 100;

/** What `audit verify` costs with so many records, at a hundred for each run. */
export async function verifyWithRecords(sizes: readonly number[]): Promise<readonly Point[]> {
  const { project, close } = await openBench(workflowText('bench', ['read_files']));
  const points: Point[] = [];
  let runs = 0;
  for (const size of sizes) {
    const wanted = Math.ceil(size / CALLS);
    const first = runs;
    await atATime(wanted - first, 8, async (index) => {
      const agent = project.as({ kind: 'agent', name: `agent-${Math.floor((first + index) / 900)}` });
      const { view } = await agent.start({ workflow: 'bench' });
      if (view === null) throw new Error('the start was refused');
      const use = { tool: 'read_files', input: { path: 'a' } };
      await Promise.all(Array.from({ length: CALLS }, () => agent.judgeTool(view.run, use)));
    });
    runs = wanted;
    points.push({
      size,
      milliseconds: await timed(1, async () => {
        const report = await project.verifyAudit();
        if (!report.ok || report.records < size) throw new Error(JSON.stringify(report).slice(0, 1000));
      }),
    });
  }
  await close();
  return points;
}
