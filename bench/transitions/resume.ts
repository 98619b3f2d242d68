import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, median } from './measure.ts';

const COMMAND = join(import.meta.dirname, '../../packages/phasegate/bin/phasegate.js');
const EMPTY = join(import.meta.dirname, 'emptyProcess.mjs');

/**
 * How much longer a new process takes to answer its first durable transition than an empty one takes to open SQLite,
 * commit once and say so. The real command, with evidence held against a schema.
 */
export async function resumeRatio(times: number): Promise<{ ratio: number; empty: number; command: number }> {
  const root = folder();
  const project = join(root, 'project');
  mkdirSync(project);
  const schema = '{ type: object, required: [steps], properties: { steps: { type: array } } }';
  const phases = `phases: { A: { required_artifacts: [{ type: plan, schema: ${schema} }] }, B: {} }`;
  writeFileSync(join(project, 'agent_workflow.yaml'), `workflow: bench\n${phases}\n`);
  writeFileSync(join(root, 'evidence.json'), '{"plan":{"steps":[1,2,3]}}');
  const env = { ...process.env, XDG_STATE_HOME: join(root, 'state') };

  const empty: number[] = [];
  const command: number[] = [];
  for (let time = 0; time < times; time++) {
    const words = ['start', 'bench', '--json', '--project', project];
    const { stdout } = spawnSync(process.execPath, [COMMAND, ...words], { env, encoding: 'utf8' });
    const { run } = JSON.parse(stdout) as { run: string };
    const done = ['done', run, '--project', project, '--evidence', join(root, 'evidence.json')];
    empty.push(await untilAnswer([EMPTY, join(root, 'empty.db')], env));
    command.push(await untilAnswer([COMMAND, ...done], env));
  }
  rmSync(root, { recursive: true });
  const ratio = median(command.map((value, index) => value / (empty[index] as number)));
  return { ratio, empty: median(empty), command: median(command) };
}

/** Milliseconds from starting a process until it has said something. */
async function untilAnswer(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const start = process.hrtime.bigint();
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
  child.stdout.resume();
  const [code] = await exit;
  if (code !== 0) throw new Error(`${words.join(' ')} exited with ${code}`);
  return elapsed;
}
