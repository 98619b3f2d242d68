import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { openLocalServer } from '../../packages/phasegate/src/localServer.ts';
import { snippetsIn } from './snippetsIn.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** What came of it. */
export interface Followed {
  /** What the agent printed. */
  readonly lines: readonly string[];
  /** Of all runs, in no order. */
  readonly statuses: readonly string[];
}

/** Does what a guide to agents shows first: its workflow, a server, three runs in the queue, its agent. */
export async function followGuide(guide: string): Promise<Followed> {
  const [workflow] = snippetsIn(guide);
  const agent = /^```js\n(import[\s\S]*?claimTask[\s\S]*?)^```$/m.exec(guide)?.[1];
  if (workflow === undefined || agent === undefined)
    throw new TypeError('the guide shows no workflow or agent');
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-guide-'));
  const root = join(base, 'project');
  mkdirSync(root);
  writeFileSync(join(root, 'agent_workflow.yaml'), workflow.text);
  writeFileSync(join(root, 'agent.mjs'), agent);
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  const project = await openLocalProject({
    projectDir: root,
    env: { XDG_STATE_HOME: join(base, 'state'), PATH: process.env.PATH },
  });
  const server = await openLocalServer({ project, port: 0, log: () => undefined });
  try {
    const { key } = await server.open.agents.add('ada', { by: null });
    const local = server.open.as({ kind: 'agent', name: 'local' });
    for (const topic of ['tides', 'moss', 'glass']) {
      await local.start({ workflow: 'note', params: { topic }, queue: true });
    }
    const { stdout } = await promisify(execFile)(process.execPath, ['agent.mjs'], {
      cwd: root,
      env: { PATH: process.env.PATH, PHASEGATE_URL: server.url, PHASEGATE_KEY: key },
    });
    const runs = await server.open.as({ kind: 'engine', name: 'phasegate' }).runs({});
    return { lines: stdout.trim().split('\n'), statuses: runs.map(({ status }) => status) };
  } finally {
    await server.close();
    rmSync(base, { recursive: true, force: true });
  }
}
