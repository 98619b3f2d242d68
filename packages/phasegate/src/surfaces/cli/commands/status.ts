import type { CliCommand } from '../command.ts';
import { wireView } from '../nextAction.ts';
import { describeRun } from '../text/describeRun.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate status`: one run, all that the caller may see of it. */
export const status: CliCommand = {
  usage: ['status RUN'],
  details: 'With a human credential the JSON also holds the gate card and its hash, for `decide --shown`.',
  examples: ['phasegate status RUN', 'phasegate status RUN --json'],
  options: HUMAN_OPTIONS,
  positionals: ['RUN'],
  runFromEnvironment: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const runId = args.positionals[0] as string;
    const caller = await callerOf(invocation);
    const project = await invocation.reach();
    const view = await project.as(caller).view(runId);
    // The card holds the agent's evidence and the gate's context: for humans only.
    const card = caller.kind === 'human' && view.gate !== null ? await project.gateCard(runId) : null;
    const shown = card === null ? {} : { gate_card: card.card, shown: card.shown };
    await out.result({ ...wireView(view), ...shown }, () => describeRun(view, out.paint));
    return 0;
  },
};
