import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLocalProject } from 'phasegate';
import { folder } from '../transitions/measure.ts';
import { QUESTIONS, WORKFLOW } from './policy.ts';

/** Phasegate without HTTP: a token, a verdict on its phase, and the verdict on disk before it is given. */
export interface InProcess {
  /** Asks so often, so many at a time, each with the token of one of so many runs. */
  judge(count: number, at: { readonly once: number; readonly runs: number }): Promise<void>;
  close(): Promise<void>;
}

/** Opens a project and claims as many runs as will be used; several processes may do so in one folder. */
export async function openInProcess(
  runs: number,
  root = folder(),
  env: Readonly<Record<string, string>> = {},
): Promise<InProcess> {
  const projectDir = join(root, 'project');
  mkdirSync(projectDir, { recursive: true });
  writeFileSync(join(projectDir, 'agent_workflow.yaml'), WORKFLOW);
  const { open } = await openLocalProject({
    projectDir,
    env: { XDG_STATE_HOME: join(root, 'state'), ...env },
  });
  const project = await open();
  const agent = { kind: 'agent', name: 'bench' } as const;
  const tokens: string[] = [];
  for (let run = 0; run < runs; run++) {
    await project.as({ kind: 'human', name: 'operator' }).start({ workflow: 'bench' });
    tokens.push((await project.claims.claim(agent, []))?.token ?? '');
  }
  const once = async (index: number, used: number) => {
    const { tool, path, allowed } = QUESTIONS[index % QUESTIONS.length] as (typeof QUESTIONS)[number];
    const token = tokens[index % used] ?? '';
    const admitted = project.claims.admitAtOnce(token) ?? (await project.claims.admit(token));
    const verdict = await project.toolbox.check(admitted, { tool, input: { path } });
    if (verdict.allowed !== allowed) throw new Error(JSON.stringify({ tool, path, verdict }));
  };
  return {
    async judge(count, at) {
      let asked = 0;
      const worker = async () => {
        while (asked < count) {
          asked += 1;
          await once(asked, at.runs);
        }
      };
      await Promise.all(Array.from({ length: at.once }, worker));
    },
    async close() {
      await project.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
