import type { Question } from '@phasegate/core/engine';
import { didYouMean } from '@phasegate/core/model';
import type { Arguments, CliCommand } from '../command.ts';
import { refuse } from '../refuse.ts';
import { reportToHuman } from '../reportSubmitted.ts';
import { required } from '../required.ts';
import { humanAndRun } from '../runOf.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate answer`: a human's answer to an agent's question. */
export const answer: CliCommand = {
  usage: ['answer [RUN] --question N (--option LABEL | --text T) [--as NAME] [--passphrase-fd N]'],
  examples: [
    'phasegate answer RUN --question 1 --option SQLite',
    'phasegate answer RUN --question 2 --text "neither: use the one in staging"',
  ],
  options: {
    question: { type: 'text', value: 'N', summary: 'which question, from 1' },
    option: { type: 'text', value: 'LABEL', summary: 'one of its options' },
    text: { type: 'text', value: 'T', summary: 'an answer in your own words' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN'],
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const question = questionNumber(args);
    checkForm(args);
    const { human, runId } = await humanAndRun(invocation, 'with questions');
    const gate = (await invocation.reach()).as(human.principal);
    const { questions } = await gate.view(runId);
    const asked = questions[question - 1];
    const option = args.text('option');
    if (asked !== undefined && option !== undefined && !asked.options.includes(option)) {
      const next_action = 'answer again with one of them, or in your own words with `--text TEXT`';
      return refuse(out, { error: 'option_unknown', message: optionUnknown(option, asked), next_action });
    }
    const text = option ?? required(args, 'text');
    return reportToHuman(out, await gate.submit(runId, { kind: 'answer', question, text }));
  },
};

function questionNumber(args: Arguments): number {
  const word = required(args, 'question');
  if (!/^[1-9]\d{0,3}$/.test(word)) throw usageError('`--question` needs a number from 1');
  return Number(word);
}

function checkForm(args: Arguments): void {
  const option = args.text('option');
  const text = args.text('text');
  if (option === undefined && text === undefined) {
    throw usageError('`--option LABEL` or `--text T` is missing');
  }
  if (option !== undefined && text !== undefined) {
    throw usageError('`--option` and `--text` exclude each other');
  }
}

function optionUnknown(option: string, asked: Question): string {
  const options = asked.options.map((label) => `\`${label}\``).join(', ');
  return `the question has no option \`${option}\`${didYouMean(option, asked.options)}: it has ${options}`;
}
