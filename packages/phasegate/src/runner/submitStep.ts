import { type Blocker, type Command, PhasegateError, type Submitted, type Verdict } from '@phasegate/core';
import type { WorkedAt } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import { attemptsOf, type Driving, isStillOpen, type StepAtWork, type StepEnd, visitOf } from './parts.ts';

/** What the engine made of a step. */
export interface Judged {
  readonly accepted: boolean;
  readonly message: string;
}

/** Hands in what came of a step. What the engine refuses for its form is a failed attempt of the step's. */
export async function submitStep(
  driving: Driving,
  step: StepAtWork,
  end: Extract<StepEnd, { kind: 'result' | 'failed' | 'asked' }>,
): Promise<Judged> {
  if (end.kind === 'failed') return reportFailure(driving, step, end.reason);
  // A question changes no database, and its step is done anew when it is answered.
  const attempt = end.kind === 'asked' ? null : step.attempt;
  const submitted = await submit(driving, { ...step, attempt }, commandFor(step, end));
  const { verdict } = submitted;
  if (verdict.allowed) return { accepted: true, message: acceptedMessage(submitted, step, verdict) };
  const message = reasonOf(verdict.blockers);
  // Not the work was judged but what lies around it: the engine counts how often, and hands it to a human.
  if (verdict.blockers.every(({ code }) => AROUND.has(code))) return { accepted: false, message };
  const now = await driving.request.open.load(step.run.id);
  const counted = attemptsOf(now, step.item) > attemptsOf(step.run, step.item);
  if (counted || !isStillOpen(now, step)) return { accepted: false, message };
  return reportFailure(driving, step, message);
}

/** Refusals that are no attempt of the step's. */
const AROUND: ReadonlySet<Blocker['code']> = new Set(['scope_violation', 'tree_moved', 'tree_unknown']);

async function reportFailure(driving: Driving, step: StepAtWork, reason: string): Promise<Judged> {
  const { phase, item } = step;
  // Without the copy of the database: what the failed attempt wrote is thrown away.
  await submit(
    driving,
    { ...step, attempt: null },
    {
      kind: 'report_failure',
      phase: phase.id,
      reason,
      ...(item === null ? {} : { item }),
      at: begunAt(step),
    },
  );
  return { accepted: false, message: reason };
}

function commandFor(step: StepAtWork, end: Extract<StepEnd, { kind: 'result' | 'asked' }>): Command {
  const { phase, item } = step;
  const at = begunAt(step);
  if (end.kind === 'asked') return { kind: 'ask', questions: end.questions, at };
  const { evidence, outcome, reason, target } = end;
  return {
    kind: 'complete',
    phase: phase.id,
    evidence,
    at,
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
    ...(item === null ? {} : { item }),
    // One item does not say where the whole phase leads.
    ...(target === undefined || item !== null ? {} : { target }),
  };
}

/** INVARIANT: what was done in one visit is not handed in for another. */
function begunAt({ run, phase }: StepAtWork): WorkedAt {
  return { epoch: run.epoch, visit: visitOf(run, phase.id) };
}

/** The work is done; that others changed the run meanwhile is no reason to do it again. */
const ROUNDS = 20;

async function submit(driving: Driving, step: StepAtWork, command: Command): Promise<Submitted> {
  const { open } = driving.request;
  const { attempt, run } = step;
  const { workflowHash, epoch } = run;
  // INVARIANT: what was done for one workflow is not handed in under another, whose work is still to be done.
  const gate = open.as(driving.principal, { workflowHash, ...(attempt === null ? {} : { attempt }) });
  for (let round = 1; ; round++) {
    try {
      const submitted = await gate.submit(run.id, command);
      // Somebody's tool call is in the way, and was waited for; the work is not done again for that either.
      if (round === ROUNDS || !isUnderWay(submitted.verdict)) return submitted;
    } catch (error) {
      const conflict = error instanceof PhasegateError && error.code === 'run_changed';
      // With a copy of the database the step is done anew, on the database as it is then.
      if (!conflict || attempt !== null || round === ROUNDS) throw error;
      const now = await open.load(run.id);
      if (now.workflowHash !== workflowHash || now.epoch !== epoch) throw error;
    }
  }
}

function isUnderWay(verdict: Verdict): boolean {
  return !verdict.allowed && verdict.blockers.some(({ code }) => code === 'calls_under_way');
}

function acceptedMessage(
  { view }: Submitted,
  { item }: StepAtWork,
  { wouldRefuse, warnings }: Verdict & { readonly allowed: true },
): string {
  const refusal = wouldRefuse === undefined ? '' : `; it would have been refused: ${reasonOf(wouldRefuse)}`;
  const would = `${refusal}${warnings === undefined ? '' : `; warning: ${reasonOf(warnings)}`}`;
  if (item !== null) return `item \`${oneLine(item)}\` is done${would}`;
  if (view.status === 'active') return `goes on with \`${view.phase}\`${would}`;
  return `the run is ${view.status}${would}`;
}

function reasonOf(blockers: readonly Pick<Blocker, 'message'>[]): string {
  return blockers.map(({ message }) => message).join('; ');
}
