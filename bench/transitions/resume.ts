import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, median } from './measure.ts';

const HERE = import.meta.dirname;
const COMMAND = join(HERE, '../../packages/phasegate/bin/phasegate.js');

/** How much longer a new process takes to its first durable transition than an empty one that opens SQLite. */
export async function resumeRatios(times: number): Promise<{ library: number; command: number }> {
  const root = folder();
  mkdirSync(join(root, 'project'));
  writeFileSync(join(root, 'project/agent_workflow.yaml'), 'workflow: bench\nphases: { A: {}, B: {} }\n');
  const env = { ...process.env, XDG_STATE_HOME: join(root, 'state') };
  const project = ['--project', join(root, 'project')];
  const start = () =>
    (JSON.parse(run([COMMAND, 'start', 'bench', '--json', ...project], env)) as { run: string }).run;

  const library: number[] = [];
  const command: number[] = [];
  for (let time = 0; time < times; time++) {
    const [first, second] = [start(), start()];
    const empty = timed([join(HERE, 'emptyProcess.ts'), join(root, 'empty.db')], env);
    library.push(timed([join(HERE, 'resumeProcess.ts'), join(root, 'project'), first], env) / empty);
    command.push(timed([COMMAND, 'done', second, ...project], env) / empty);
  }
  rmSync(root, { recursive: true });
  return { library: median(library), command: median(command) };
}

function timed(words: readonly string[], env: NodeJS.ProcessEnv): number {
  const start = process.hrtime.bigint();
  run(words, env);
  return Number(process.hrtime.bigint() - start);
}

function run(words: readonly string[], env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
