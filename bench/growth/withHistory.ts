import { EVIDENCE_SCHEMA, newEvidence } from '../wholeRuns/contender.ts';
import { type Point, timed } from './curve.ts';
import { openBench } from './openBench.ts';

/** A loop may be taken a thousand times, so there are several, one after the other. */
const PHASES = ['ONE', 'TWO', 'THREE'];
const LOOPS = PHASES.map((id, index) => {
  const then = PHASES[index + 1] ?? 'null';
  const back = `on_false: ${id}, max_iterations: 1000, on_exhausted: ${then}`;
  return `  ${id}:
    allowed_tools: [read_files]
    required_artifacts: [{ type: work, schema: ${JSON.stringify(EVIDENCE_SCHEMA)} }]
    next: { condition: 'length(result.work.steps) === 0', on_true: null, ${back} }
`;
});

/** What acts on a run cost that has completed so many phases. */
export async function costsWithHistory(sizes: readonly number[], tries: number) {
  const { project, close } = await openBench(`workflow: loop\nphases:\n${LOOPS.join('')}`);
  const agent = project.as({ kind: 'agent', name: 'worker' });
  const { view } = await agent.start({ workflow: 'loop' });
  if (view === null) throw new Error('the start was refused');
  let phase = view.phase;
  const complete = async () => {
    if (phase === null) throw new Error('the run ended');
    const command = { kind: 'complete', phase, evidence: { work: newEvidence() } } as const;
    const { verdict, view: after } = await agent.submit(view.run, command);
    if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
    phase = after.phase;
  };
  const costs = new Map<string, Point[]>();
  const note = async (name: string, size: number, act: () => Promise<unknown>) => {
    const points = costs.get(name) ?? [];
    costs.set(name, [...points, { size, milliseconds: await timed(tries, act) }]);
  };
  let completed = 0;
  for (const size of sizes) {
    for (; completed < size; completed++) await complete();
    await note('status', size, () => agent.view(view.run));
    await note('check', size, async () => {
      const use = { tool: 'read_files', input: { path: 'a' } };
      if (!(await agent.judgeTool(view.run, use)).allowed) throw new Error('the call was refused');
    });
    await note('transition', size, complete);
    completed += tries;
  }
  await close();
  return costs;
}
