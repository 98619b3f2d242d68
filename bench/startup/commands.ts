import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One process to measure. */
export interface Measured {
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** What Node is called with; prepares what the call needs. */
  words(): readonly string[];
}

const COMMAND = join(import.meta.dirname, '../../packages/phasegate/bin/phasegate.js');
const EMPTY = join(import.meta.dirname, '../transitions/emptyProcess.mjs');

/** The processes, with a project for them in this folder: evidence held against a schema, a run for each `done`. */
export function makeCommands(place: string): readonly Measured[] {
  const project = join(place, 'project');
  mkdirSync(project);
  const schema = '{ type: object, required: [steps], properties: { steps: { type: array } } }';
  const phases = `phases: { A: { required_artifacts: [{ type: plan, schema: ${schema} }] }, B: {} }`;
  writeFileSync(join(project, 'agent_workflow.yaml'), `workflow: bench\n${phases}\n`);
  const evidence = join(place, 'evidence.json');
  writeFileSync(evidence, '{"plan":{"steps":[1,2,3]}}');
  const env = { ...process.env, XDG_STATE_HOME: join(place, 'state') };

  const here = ['--project', project];
  const start = [COMMAND, 'start', 'bench', '--json', ...here];
  const newRun = () => {
    const printed = execFileSync(process.execPath, start, { env, encoding: 'utf8' });
    return (JSON.parse(printed) as { readonly run: string }).run;
  };
  const shown = newRun();
  const measured = (name: string, words: () => readonly string[]): Measured => ({ name, env, words });
  return [
    measured('node -e 0', () => ['-e', '0']),
    measured('empty, SQLite', () => [EMPTY, join(place, 'empty.db')]),
    measured('phasegate --version', () => [COMMAND, '--version']),
    measured('phasegate --help', () => [COMMAND, '--help']),
    measured('phasegate status', () => [COMMAND, 'status', shown, ...here]),
    measured('phasegate next', () => [COMMAND, 'next', shown, ...here]),
    measured('phasegate done', () => [COMMAND, 'done', newRun(), '--evidence', evidence, ...here]),
    measured('phasegate start', () => start),
  ];
}
