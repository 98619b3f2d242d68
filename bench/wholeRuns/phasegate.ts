import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '@phasegate/core';
import { openLocalProject } from 'phasegate';
import { atATime, type Contender, newEvidence, STEPS, workflowText } from './contender.ts';

const AGENT: Principal = { kind: 'agent', name: 'bench' };

/** A project on disk with its workflow in a file, opened as the command and the server open it. */
export async function openPhasegate(folder: string): Promise<Contender> {
  const root = join(folder, 'project');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'agent_workflow.yaml'), workflowText());
  const project = await openLocalProject({
    projectDir: root,
    env: { XDG_STATE_HOME: join(folder, 'state') },
  });
  const opened = await project.open();
  const phasegate = opened.as(AGENT);
  return {
    walk: (count, parallel) =>
      atATime(count, parallel, async () => {
        const { view } = await phasegate.start({ workflow: 'bench' });
        if (view === null) throw new Error('the start was refused');
        for (const phase of STEPS) {
          const evidence = { work: newEvidence() };
          const { verdict } = await phasegate.submit(view.run, { kind: 'complete', phase, evidence });
          if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
        }
      }),
    close: () => opened.close(),
  };
}
