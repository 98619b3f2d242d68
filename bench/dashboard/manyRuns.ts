import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { openLocalServer } from '../../packages/phasegate/src/localServer.ts';
import { folder } from '../transitions/measure.ts';
import { atATime, workflowText } from '../wholeRuns/contender.ts';

/** One agent may have a thousand runs that are not finished. */
const RUNS_EACH = 900;

/** A served project with so many runs and records. */
export async function openManyRuns(runs: number, records: number) {
  const at = folder();
  const root = join(at, 'project');
  mkdirSync(root);
  writeFileSync(join(root, 'agent_workflow.yaml'), workflowText('bench', ['read_files']));
  const project = await openLocalProject({ projectDir: root, env: { XDG_STATE_HOME: join(at, 'state') } });
  const server = await openLocalServer({ project, port: 0, log: () => undefined });
  const calls = Math.max(1, Math.floor(records / runs) - 2);
  let run = '';
  await atATime(runs, 16, async (index) => {
    const agent = server.open.as({ kind: 'agent', name: `agent-${Math.floor(index / RUNS_EACH)}` });
    const { view } = await agent.start({ workflow: 'bench', goal: `change number ${index}` });
    if (view === null) throw new Error('the start was refused');
    const use = { tool: 'read_files', input: { path: 'a' } };
    await Promise.all(Array.from({ length: calls }, () => agent.judgeTool(view.run, use)));
    run = view.run;
  });
  return {
    url: server.url,
    run,
    code: async () => new URL(await server.signInLink(null)).searchParams.get('code') ?? '',
    async close() {
      await server.close();
      rmSync(at, { recursive: true });
    },
  };
}
