import type { CliCommand } from '../command.ts';
import { reportRun } from '../reportSubmitted.ts';
import { required } from '../required.ts';
import { LOCAL_AGENT } from '../unlockHuman.ts';

/** `phasegate blocked`: the honest way out when evidence cannot be had. */
export const blocked: CliCommand = {
  usage: ['blocked RUN --reason T'],
  examples: ['phasegate blocked RUN --reason "the test database cannot be reached"'],
  options: { reason: { type: 'text', value: 'T', summary: 'why the phase cannot be completed' } },
  positionals: ['RUN'],
  async run({ args, out, open }) {
    const runId = args.positionals[0] as string;
    const reason = required(args, 'reason');
    const submitted = await (await open()).as(LOCAL_AGENT).submit(runId, { kind: 'report_blocked', reason });
    return reportRun(out, submitted);
  },
};
