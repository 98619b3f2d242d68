import { type Point, timed } from './curve.ts';
import { openBench } from './openBench.ts';

const WORKFLOW = `workflow: each
params: { areas: { type: list } }
phases:
  EACH:
    allowed_tools: [read_files]
    parallel: true
    parallel_key: areas
  DONE: {}
`;

const WORKER = { kind: 'agent', name: 'worker' } as const;

/** What acts on one item cost in a run that has so many. */
export async function costsWithItems(sizes: readonly number[], tries: number) {
  const costs = new Map<string, Point[]>();
  for (const size of sizes) {
    const { project, close } = await openBench(WORKFLOW);
    const areas = Array.from({ length: size }, (_, index) => `area-${index}`);
    const agent = project.as(WORKER);
    const { view } = await agent.start({ workflow: 'each', params: { areas }, queue: true });
    if (view === null) throw new Error('the start was refused');
    const claim = async () => {
      const { token } = (await project.claims.claim(WORKER, [])) ?? {};
      if (token === undefined) throw new Error('there is nothing to claim');
      return token;
    };
    let token = await claim();
    const check = async () => {
      const admitted = project.claims.admitAtOnce(token) ?? (await project.claims.admit(token));
      const { allowed } = await project.toolbox.check(admitted, { tool: 'read_files', input: { path: 'a' } });
      if (!allowed) throw new Error('the call was refused');
    };
    let next = 0;
    const complete = async () => {
      const item = `area-${next++}`;
      const command = { kind: 'complete', phase: 'EACH', item, evidence: { note: `did ${item}` } } as const;
      const { verdict } = await agent.submit(view.run, command);
      if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
    };
    const act = async (name: string, work: () => Promise<unknown>, times: number) => {
      const points = costs.get(name) ?? [];
      costs.set(name, [...points, { size, milliseconds: await timed(times, work) }]);
    };
    // The last one would end the phase, and that is another cost.
    const most = Math.max(1, Math.min(tries, Math.floor(size / 2)));
    await check();
    await act('check', check, tries);
    await act('complete', complete, most);
    await act(
      'claim',
      async () => {
        token = await claim();
      },
      Math.max(1, Math.min(most, size - most - 2)),
    );
    await close();
  }
  return costs;
}
