import { goalText } from '@phasegate/core/engine';
import { encodeGoal, encodePhase, spellNext } from '@phasegate/wire';
import type { CliCommand } from '../command.ts';
import { runOf } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { evidenceLines } from '../text/evidenceLines.ts';
import { agentOf } from '../unlockHuman.ts';

/** `phasegate next`: the current phase as an agent sees it. */
export const next: CliCommand = {
  usage: ['next [RUN]'],
  details: 'After a refused attempt the text says why: `Previous attempt failed: …`.',
  examples: ['phasegate next RUN', 'phasegate next RUN --json'],
  options: {},
  positionals: ['RUN'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { out } = invocation;
    const agent = await agentOf(invocation);
    const runId = await runOf(invocation, agent, 'held');
    const view = await (await invocation.reach()).as(agent).view(runId);
    const { run, status, feedback, current: phase } = view;
    const next_action = spellNext(view, SHELL);
    if (phase === null) {
      await out.result(
        { run, status, ...encodeGoal(view), phase: null, next_action },
        // A run that is over says so itself.
        () =>
          next_action.endsWith(`the run is ${status}`)
            ? `the run is ${status}`
            : `the run is ${status}; ${next_action}`,
      );
      return 0;
    }
    const phase_content = withFeedback(phase.content, feedback);
    const told = { run, status, ...encodeGoal(view), ...encodePhase(phase), phase_content };
    await out.result({ ...told, feedback, next_action }, () =>
      [
        ...(view.goal === undefined ? [] : [goalText(view.goal), '']),
        phase_content.trimEnd(),
        ...evidenceLines(phase.requiredEvidence, phase_content),
        '',
        `next: ${out.paint.cyan(next_action)}`,
      ].join('\n'),
    );
    return 0;
  },
};

function withFeedback(content: string, feedback: string | null): string {
  return feedback === null || content.includes(feedback) ? content : `${feedback}\n\n${content}`;
}
