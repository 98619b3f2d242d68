import { atRun } from '../atRun.ts';
import { Cancelled } from '../cancelled.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { phaseIdOf } from '../phaseIdOf.ts';
import { reportToHuman } from '../reportSubmitted.ts';
import { required } from '../required.ts';
import { humanAndRun } from '../runOf.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate override`: a human breaks the glass. */
export const override: CliCommand = {
  usage: ['override [RUN] --reason T [--to PHASE] [--as NAME] [--passphrase-fd N]'],
  details:
    'Leads a run past the phase it is in, although its evidence, its checks or its gate say no. The phase is not\n' +
    'completed and nothing is approved: it is shown as overridden wherever the run is shown, with your name and the\n' +
    'reason, which you sign. What was changed outside the scope is settled first, with `phasegate fence`. `--to` is\n' +
    'needed where the phase leads to several places; `--to end` ends the run.',
  examples: ['phasegate override RUN --reason "the registry is down, and the fix cannot wait"'],
  options: {
    reason: { type: 'text', value: 'T', summary: 'why; everyone who sees the run is shown it' },
    to: { type: 'text', value: 'PHASE', summary: 'where it leads, where there are several ways' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN'],
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const reason = required(args, 'reason');
    const { human, runId } = await humanAndRun(invocation, 'any unfinished');
    const there = await atRun(invocation, runId);
    const project = await there.reach();
    const { phase } = await project.as(human.principal).view(runId);
    await confirm(invocation, { runId, phase });
    const to = args.text('to');
    const order = { reason, ...(to === undefined ? {} : { to: to === 'end' ? null : phaseIdOf(to) }) };
    return reportToHuman(out, await project.override(runId, order, human));
  },
};

/** On a terminal it is asked for once more: nothing else leads past a phase. */
async function confirm(
  { prompts }: Invocation,
  { runId, phase }: { readonly runId: string; readonly phase: string | number | null },
): Promise<void> {
  if (prompts === null || phase === null) return;
  const asked = `Lead run ${runId} past phase ${phase}, without what it asks for?`;
  if (!(await prompts.confirm(asked))) throw new Cancelled();
}
