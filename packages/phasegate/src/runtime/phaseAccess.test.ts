import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Phasegate } from '@phasegate/core';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalProject } from '../localProject.ts';

const WORKFLOW = `workflow: three
phases:
  A: { instructions: Begin }
  B: { instructions: Go on }
  C: { instructions: End }
`;

test('whether a phase may be read is decided from the stored state of the named run, no matter who changed it [S0.7]', async () => {
  const [here, there] = await twoProcesses();
  const [one, two] = [await start(here), await start(here)];
  const readable = async (agent: Phasegate, run: string) => {
    const answers = await Promise.all(['A', 'B', 'C'].map((phase) => agent.phase(run, phase)));
    return answers.map(({ ok }) => ok);
  };

  expect(await readable(here, one)).toEqual([true, false, false]);
  // Past the back of the one that has just read it.
  await there.submit(one, { kind: 'complete', phase: 'A', evidence: {} });

  for (const agent of [here, there]) {
    expect(await readable(agent, one)).toEqual([true, true, false]);
    expect(await readable(agent, two)).toEqual([true, false, false]);
    await expect(agent.phase('run-of-nobody', 'A')).rejects.toMatchObject({ code: 'run_unknown' });
  }
});

/** One project, opened twice, as by two processes. */
async function twoProcesses(): Promise<readonly [Phasegate, Phasegate]> {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-access-'));
  const root = join(folder, 'project');
  await mkdir(root);
  await writeFile(join(root, 'three.workflow.yaml'), WORKFLOW);
  const open = async () => {
    const project = await openLocalProject({
      projectDir: root,
      env: { XDG_STATE_HOME: join(folder, 'state') },
    });
    return project.open();
  };
  const opened = [await open(), await open()] as const;
  onTestFinished(async () => {
    for (const project of opened) await project.close();
    await rm(folder, { recursive: true, force: true });
  });
  const [here, there] = opened;
  return [here.as({ kind: 'agent', name: 'local' }), there.as({ kind: 'agent', name: 'local' })];
}

async function start(agent: Phasegate): Promise<string> {
  const { view, verdict } = await agent.start({ workflow: 'three' });
  if (view === null) throw new Error(JSON.stringify(verdict));
  return view.run;
}
