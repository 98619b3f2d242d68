import type { JsonObject, RunView, Submitted, Verdict } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { encodeBlockers, encodeSubmitted, spellAction } from '@phasegate/wire';
import type { ExitCode } from './command.ts';
import type { Output } from './output.ts';
import { SHELL, SHELL_OF_HUMAN } from './spell.ts';
import { describeAnswer, describeRefusal } from './text/describeAnswer.ts';
import { describeRun } from './text/describeRun.ts';

/** Prints what came of an agent's command: the public answer, or the same in words. */
export async function reportAnswer(out: Output, submitted: Submitted): Promise<ExitCode> {
  const answer = encodeSubmitted(submitted, SHELL);
  await out.result(answer, () => describeAnswer(answer, out.paint));
  return submitted.verdict.allowed ? 0 : 1;
}

/** Prints what came of a command after which the run itself is the answer: one of an agent that hands it to a human. */
export async function reportRun(out: Output, submitted: Submitted): Promise<ExitCode> {
  return report(out, submitted, encodeSubmitted(submitted, SHELL));
}

/** The same of a human's command. Where it is refused, the next step is theirs, and not that of the run's agent. */
export async function reportToHuman(out: Output, submitted: Submitted): Promise<ExitCode> {
  const { verdict, view } = submitted;
  if (verdict.allowed) return reportRun(out, submitted);
  const next_action = spellAction(verdict.blockers[0].nextAction, view, SHELL_OF_HUMAN);
  return report(out, submitted, { ...encodeSubmitted(submitted, SHELL_OF_HUMAN), next_action });
}

async function report(out: Output, { verdict, view }: Submitted, told: JsonObject): Promise<ExitCode> {
  const answer = { run: view.run, ...told };
  await out.result(answer, () =>
    verdict.allowed ? describeRun(view, out, furtherOf(view, out)) : describeRefusal(answer, out.paint),
  );
  return verdict.allowed ? 0 : 1;
}

/** Where work goes on, the one who set it free may have an agent do it. */
function furtherOf({ run, status }: RunView, { paint }: Output): readonly string[] {
  if (status !== 'active') return [];
  return [`or let an agent do it: ${paint.cyan(`phasegate run ${shellWord(run)} --agent NAME`)}`];
}

/** Prints the refusal of a run that was not made. */
export async function reportNotStarted(
  out: Output,
  verdict: Verdict & { readonly allowed: false },
): Promise<ExitCode> {
  const [first] = verdict.blockers;
  const refusal: JsonObject = {
    error: first.code,
    message: first.message,
    blockers: encodeBlockers(verdict.blockers, { run: 'RUN' }, SHELL),
    next_action: spellAction(first.nextAction, { run: 'RUN' }, SHELL),
  };
  await out.result(refusal, () => describeRefusal(refusal, out.paint));
  return 1;
}
