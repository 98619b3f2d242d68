import { PhasegateError, type Problem } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { CliCommand } from '../command.ts';
import { demandProject } from '../demandProject.ts';
import { letCodeIn } from '../letCodeIn.ts';
import type { Output } from '../output.ts';
import { createSources, excerpt } from '../text/excerpt.ts';
import { unacceptedText } from '../text/unacceptedText.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate validate`: every problem of every definition, with its place. */
export const validate: CliCommand = {
  usage: ['validate [PATH…] [--as NAME] [--passphrase-fd N]'],
  details:
    'Without a path all workflows of the project are checked. Notes do not make a definition invalid.\n' +
    'Once a human is set up, code that nobody accepted is read and not run; `--as` lets this one command run it.',
  examples: ['phasegate validate', 'phasegate validate agent_workflow.yaml', 'phasegate validate --json'],
  options: HUMAN_OPTIONS,
  anywhere: true,
  positionals: ['[PATH…]'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, project } = invocation;
    await letCodeIn(invocation);
    const found = await project();
    const { root, catalog } = found;
    const { checked, problems, unaccepted } = await catalog.validate(args.positionals);
    // Nothing checked is not the same as nothing wrong.
    if (checked.length === 0) {
      await demandProject(found);
      if (args.positionals.length > 0) throw noneIn(args.positionals);
      throw new PhasegateError('workflow_unknown', `no workflow found in \`${root}\``, {
        hint: 'make one with `phasegate init`',
      });
    }
    const errors = problems.filter(({ severity }) => severity === 'error');
    const notes = problems.filter(({ severity }) => severity === 'note');
    const valid = errors.length === 0 && unaccepted.length === 0;
    const read = checked.length - unaccepted.length;
    const summary = errors.length === 0 ? `${count(read, 'file')} valid` : count(errors.length, 'problem');
    const untrusted = unaccepted.length === 0 ? {} : { error: 'untrusted_workflow', unaccepted };
    const value = { valid, problems: errors.map(place), notes: notes.map(place), checked, ...untrusted };
    const shown = showing(root, out);
    await out.result(value, () =>
      errors.length === 0 ? out.paint.green(summary) : errors.map(shown).join('\n'),
    );
    if (!out.json) {
      for (const note of notes) await out.log(shown(note));
      if (errors.length > 0) await out.log(out.paint.red(summary));
      for (const one of unaccepted) await out.log(unacceptedText(one, out.paint));
    }
    if (errors.length > 0) return 2;
    return valid ? 0 : 1;
  },
};

function noneIn(folders: readonly string[]): PhasegateError {
  const named = folders.map((folder) => `\`${folder}\``).join(' or ');
  return usageError(`no workflow in ${named}`, '`phasegate list` shows where the workflows are');
}

/** A problem as compilers print it: its place and what is wrong, then the line with a caret. */
function showing(root: string, out: Output): (problem: Problem) => string {
  const sourceOf = createSources(root);
  const { paint } = out;
  const width = out.screen?.columns ?? PIPED;
  return (problem) => {
    const { file, line, column, message, severity } = problem;
    const place = paint.bold(`${oneLine(file)}:${line}:${column}:`);
    const kind = severity === 'note' ? paint.cyan('note: ') : '';
    return [
      `${place} ${kind}${oneLine(message)}`,
      ...excerpt(sourceOf(problem), problem, { paint, width }),
    ].join('\n');
  };
}

/** Where no terminal says how wide it is. */
const PIPED = 120;

function place({ file, line, column, code, message }: Problem): Omit<Problem, 'severity'> {
  return { file, line, column, code, message };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
