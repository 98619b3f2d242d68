import type { CliCommand } from '../command.ts';
import { reportToHuman } from '../reportSubmitted.ts';
import { humanAndRun } from '../runOf.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate resume`: an escalated run goes on, with its attempts back to 0. */
export const resume: CliCommand = {
  usage: ['resume [RUN] [--note T] [--as NAME] [--passphrase-fd N]'],
  details: 'The note is shown to the agent with the next attempt.',
  examples: ['phasegate resume RUN --note "the fixture is fixed, try again"'],
  options: { note: { type: 'text', value: 'T', summary: 'what the agent should know' }, ...HUMAN_OPTIONS },
  positionals: ['RUN'],
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const note = args.text('note');
    const { human, runId } = await humanAndRun(invocation, 'escalated');
    const submitted = await (await invocation.reach())
      .as(human.principal)
      .submit(runId, { kind: 'resume', ...(note === undefined ? {} : { note }) });
    return reportToHuman(out, submitted);
  },
};
