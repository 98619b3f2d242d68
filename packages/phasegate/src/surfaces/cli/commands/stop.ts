import type { CliCommand } from '../command.ts';
import { reportToHuman } from '../reportSubmitted.ts';
import { required } from '../required.ts';
import { humanAndRun } from '../runOf.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate stop`: a human ends a run. */
export const stop: CliCommand = {
  usage: ['stop [RUN] --reason T [--as NAME] [--passphrase-fd N]'],
  examples: ['phasegate stop RUN --reason "no longer needed"'],
  options: { reason: { type: 'text', value: 'T', summary: 'why' }, ...HUMAN_OPTIONS },
  positionals: ['RUN'],
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const reason = required(args, 'reason');
    const { human, runId } = await humanAndRun(invocation, 'any unfinished');
    const submitted = await (await invocation.reach())
      .as(human.principal)
      .submit(runId, { kind: 'stop', reason });
    return reportToHuman(out, submitted);
  },
};
