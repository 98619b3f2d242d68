import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLocalProject } from 'phasegate';
import { folder, median } from '../transitions/measure.ts';
import { newEvidence, STEPS, workflowText } from '../wholeRuns/contender.ts';
import { type Point, timed } from './curve.ts';

const COMMAND = join(import.meta.dirname, '../../packages/phasegate/bin/phasegate.js');

/**
 * What a start costs in a project with so many workflow files: in a server, beside a transition there, and as a command.
 * In a server each workflow is started once before: its first start there compiles it, and is told apart.
 */
export async function costsWithFiles(sizes: readonly number[], tries: number) {
  const costs = {
    first: [] as Point[],
    start: [] as Point[],
    transition: [] as Point[],
    command: [] as Point[],
  };
  for (const size of sizes) {
    const at = folder();
    const root = join(at, 'project');
    mkdirSync(join(root, 'workflows'), { recursive: true });
    for (let file = 0; file < size; file++)
      writeFileSync(join(root, 'workflows', `w${file}.workflow.yaml`), workflowText(`bench-${file}`));
    const env = { XDG_STATE_HOME: join(at, 'state') };
    const served = await inServer({ root, env }, size, tries);
    costs.first.push({ size, milliseconds: served.first });
    costs.start.push({ size, milliseconds: served.start });
    costs.transition.push({ size, milliseconds: served.transition });
    costs.command.push({ size, milliseconds: asCommand({ root, env }, size, Math.ceil(tries / 2)) });
    rmSync(at, { recursive: true });
  }
  return costs;
}

interface Place {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Start and transition in turn, so that a machine that slows down slows both; the first third is not counted. */
async function inServer({ root, env }: Place, files: number, tries: number) {
  const project = await openLocalProject({ projectDir: root, env });
  const opened = await project.open();
  const agent = opened.as({ kind: 'agent', name: 'worker' });
  const firsts: number[] = [];
  const starts: number[] = [];
  const transitions: number[] = [];
  const stop = { kind: 'stop', reason: 'measured' } as const;
  for (let index = 0; index < files; index++) {
    let run = '';
    const first = await timed(1, async () => {
      run = (await agent.start({ workflow: `bench-${index}` })).view?.run ?? '';
    });
    await opened.as({ kind: 'human', name: 'operator' }).submit(run, stop);
    firsts.push(first);
  }
  for (let index = 0; index < tries * 3; index++) {
    let run = '';
    const start = await timed(1, async () => {
      const { view } = await agent.start({ workflow: `bench-${index % files}` });
      if (view === null) throw new Error('the start was refused');
      run = view.run;
    });
    const step = { kind: 'complete', phase: STEPS[0], evidence: { work: newEvidence() } } as const;
    const transition = await timed(1, async () => {
      const { verdict } = await agent.submit(run, step);
      if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
    });
    await opened.as({ kind: 'human', name: 'operator' }).submit(run, stop);
    if (index < tries) continue;
    starts.push(start);
    transitions.push(transition);
  }
  await opened.close();
  return { first: median(firsts), start: median(starts), transition: median(transitions) };
}

/** From the start of the process to its end. */
function asCommand({ root, env }: Place, files: number, tries: number): number {
  const times: number[] = [];
  for (let index = -2; index < tries; index++) {
    const words = [COMMAND, 'start', `bench-${(index + files) % files}`, '--json', '--project', root];
    const from = process.hrtime.bigint();
    const { status, stderr } = spawnSync(process.execPath, words, {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    if (index >= 0) times.push(Number(process.hrtime.bigint() - from) / 1e6);
  }
  return median(times);
}
