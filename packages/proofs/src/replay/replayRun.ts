import type { Run } from '@phasegate/core/engine';
import { own, PhasegateError } from '@phasegate/core/model';
import { type RecordedStep, recordedSteps } from './recordedSteps.ts';
import {
  REPLAY_KINDS,
  type ReplayedStep,
  type Replaying,
  type ReplayKind,
  type ReplayReport,
} from './replayReport.ts';
import { replayStep } from './replayStep.ts';

/**
 * Decides a recorded run again under a changed workflow. History stays as it happened: each decision is asked on its
 * own, on the run as it stood before it.
 */
export async function replayRun(replaying: Replaying): Promise<ReplayReport> {
  const { run, records } = replaying;
  // To put a run under another workflow is not a decision under any.
  const recorded = stepsOf(replaying).filter((step) => !isMigration(step));
  const counts = Object.fromEntries(REPLAY_KINDS.map((kind) => [kind, 0])) as Record<ReplayKind, number>;
  const steps: ReplayedStep[] = [];
  for (const step of recorded) {
    const replayed = await replayStep(hasItsWorkflow(step, replaying) ? step : unknownTo(step), replaying);
    counts[replayed.kind]++;
    if (replayed.kind !== 'same') steps.push(replayed);
  }
  const strange = new Set(recorded.flatMap((step) => (isStrange(step) ? [step.seq] : [])));
  const versions = records.flatMap(({ seq, data }) =>
    strange.has(seq) ? [String(own(own(data, 'recorded'), 'version'))] : [],
  );
  return { run: run.id, decisions: recorded.length, counts, steps, otherVersions: [...new Set(versions)] };
}

/** INVARIANT: a decision is held against the workflow it was made under, never against the one that came after it. */
function hasItsWorkflow(step: RecordedStep, { run, startedWith, records }: Replaying): boolean {
  const started = own(records[0]?.data ?? null, 'workflowHash');
  const known = startedWith !== undefined && startedWith !== run.workflow;
  if (known || started === run.workflowHash) return true;
  return (step.before ?? step.after).workflowHash !== started;
}

function unknownTo({ seq, at, by, before, after, ...step }: RecordedStep): RecordedStep {
  const events = 'events' in step ? step.events : [];
  return { seq, at, by, before, after, kind: 'unrecorded', events, why: 'not_recorded' };
}

function isMigration(step: RecordedStep): boolean {
  return step.kind === 'command' && step.command.kind === 'migrate';
}

function isStrange(step: RecordedStep): boolean {
  return step.kind === 'unrecorded' && step.why === 'other_version';
}

/** The steps, if they lead to the run as it is stored: a record this version cannot read would be passed over. */
function stepsOf({ run, records, startedWith }: Replaying): readonly RecordedStep[] {
  let steps: readonly RecordedStep[];
  try {
    steps = recordedSteps(startedWith ?? run.workflow, records);
  } catch (cause) {
    throw unreadable(run, cause);
  }
  const last = steps.at(-1)?.after;
  if (last === undefined || !isSame(last, run)) throw unreadable(run, undefined);
  return steps;
}

function isSame(folded: Run, stored: Run): boolean {
  const keys = ['status', 'phase', 'epoch', 'updatedAt', 'workflowHash', 'holder'] as const;
  return keys.every((key) => folded[key] === stored[key]);
}

function unreadable({ id }: Run, cause: unknown): PhasegateError {
  return new PhasegateError('audit_broken', `the records of run \`${id}\` do not lead to where it stands`, {
    cause,
    hint: '`phasegate audit verify` says whether records are missing; if not, another version wrote them: replay with that one',
  });
}
