import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { encodeSource } from '@phasegate/wire';
import type { ParsedSource, SourcePhase, SourceTask } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import type { Output } from '../output.ts';

/** `phasegate tasks`: what the source parser understood of a file. */
export const tasks: CliCommand = {
  usage: ['tasks FILE [--parser NAME]'],
  details:
    'FILE is a `tasks.md`, or the folder that holds one. What was not understood is listed with its\n' +
    'line; the exit code is 2 only when nothing usable was found.',
  examples: ['phasegate tasks specs/login/tasks.md', 'phasegate tasks specs/login --json'],
  options: {
    parser: { type: 'text', value: 'NAME', summary: 'the parser (default spec_tasks_parser)' },
  },
  anywhere: true,
  positionals: ['FILE'],
  server: 'ignored',
  async run({ args, out, project }) {
    const { root, sources } = await project();
    const name = args.text('parser') ?? 'spec_tasks_parser';
    const parsers = await sources();
    const parser = parsers.get(name);
    if (parser === undefined) {
      throw new PhasegateError('usage', `there is no parser \`${name}\``, {
        hint: `parsers: ${parsers.names().join(', ')}`,
      });
    }
    const file = args.positionals[0] as string;
    const parsed = await parser.parse(...placeOf(root, file));
    await out.result(encodeSource(parsed), () => tree(parsed, out));
    if (!out.json)
      for (const { line, message } of parsed.warnings)
        await out.log(`${oneLine(file)}:${line}: ${oneLine(message)}`);
    return 0;
  },
};

/**
 * The folder and the name of the file meant: as the shell sees it, else as the project does. Anyone who types a path may
 * have it read wherever it is; only what a workflow names has to be inside the project.
 */
function placeOf(root: string, file: string): [string, string] {
  const path = existsSync(resolve(file)) ? resolve(file) : resolve(root, file);
  // Said here, in the words that were typed: the parser is given the last of them alone.
  if (!existsSync(path)) {
    throw new PhasegateError('file_unreadable', `\`${oneLine(file)}\` does not exist`, {
      hint: 'name a `tasks.md`, or the folder that holds one',
    });
  }
  const real = realpathSync(path);
  return [dirname(real), basename(real)];
}

function tree({ phases, warnings }: ParsedSource, out: Output): string {
  const all = phases.flatMap((phase) => phase.tasks);
  const criteria = sum(all.map((task) => task.acceptanceCriteria.length));
  const gates = sum(phases.map((phase) => phase.validationGate.length));
  const counts = [
    count(phases.length, 'phase'),
    count(all.length, 'task'),
    `${criteria} criteria`,
    count(gates, 'gate condition'),
    count(warnings.length, 'warning'),
  ];
  return [...phases.map((phase) => phaseText(phase, out)), counts.join(', ')].join('\n');
}

function phaseText(phase: SourcePhase, { paint }: Output): string {
  const duration = phase.estimatedDuration === '' ? '' : paint.dim(` (${phase.estimatedDuration})`);
  const gate = phase.validationGate.length;
  return [
    `${paint.bold(`Phase ${phase.id}: ${phase.name}`)}${duration}`,
    ...phase.tasks.map((task) => taskText(task, paint.dim)),
    ...(gate === 0 ? [] : [`  gate: ${count(gate, 'condition')}`]),
    '',
  ].join('\n');
}

function taskText(task: SourceTask, dim: (text: string) => string): string {
  const ticked = task.acceptanceCriteria.filter(({ checked }) => checked).length;
  const about = [
    task.status === 'pending' ? '' : task.status.replace('_', ' '),
    task.estimatedTime,
    `${task.acceptanceCriteria.length} criteria${ticked === 0 ? '' : ` (${ticked} ticked)`}`,
    task.dependencies.length === 0 ? '' : `after ${task.dependencies.join(', ')}`,
  ];
  return `  ${task.id}  ${task.name}  ${dim(about.filter((part) => part !== '').join('; '))}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
