import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLocalProject } from 'phasegate';
import { folder } from '../transitions/measure.ts';

/** A project on disk with one workflow, opened as the command and the server open it. */
export async function openBench(workflow: string) {
  const at = folder();
  const root = join(at, 'project');
  mkdirSync(root);
  writeFileSync(join(root, 'agent_workflow.yaml'), workflow);
  const project = await openLocalProject({ projectDir: root, env: { XDG_STATE_HOME: join(at, 'state') } });
  const opened = await project.open();
  return {
    project: opened,
    async close() {
      await opened.close();
      rmSync(at, { recursive: true });
    },
  };
}
