import { PhasegateError, type Problem } from '@phasegate/core';
import type { CliCommand } from '../command.ts';
import { problemLine } from '../failure.ts';

/** `phasegate validate`: every problem of every definition, with its place. */
export const validate: CliCommand = {
  usage: ['validate [PATH…]'],
  details: 'Without a path all workflows of the project are checked. Notes do not make a definition invalid.',
  examples: ['phasegate validate', 'phasegate validate agent_workflow.yaml', 'phasegate validate --json'],
  options: {},
  anywhere: true,
  positionals: ['[PATH…]'],
  server: 'ignored',
  async run({ args, out, project }) {
    const { root, catalog } = await project();
    const { checked, problems } = await catalog.validate(args.positionals);
    // Nothing checked is not the same as nothing wrong.
    if (checked.length === 0) {
      throw new PhasegateError('workflow_unknown', `no workflow found in \`${root}\``, {
        hint: 'make one with `phasegate init`',
      });
    }
    const errors = problems.filter(({ severity }) => severity === 'error');
    const notes = problems.filter(({ severity }) => severity === 'note');
    const valid = errors.length === 0;
    const summary = valid ? `${count(checked.length, 'file')} valid` : count(errors.length, 'problem');
    await out.result({ valid, problems: errors.map(place), notes: notes.map(place), checked }, () =>
      valid ? out.paint.green(summary) : errors.map(problemLine).join('\n'),
    );
    if (!out.json) {
      for (const note of notes) await out.log(problemLine(note));
      if (!valid) await out.log(out.paint.red(summary));
    }
    return valid ? 0 : 2;
  },
};

function place({ file, line, column, code, message }: Problem): Omit<Problem, 'severity'> {
  return { file, line, column, code, message };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
