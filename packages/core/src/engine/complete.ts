import type { JsonObject } from '../json.ts';
import { ENGINE_FIELDS } from '../model/names.ts';
import { type Check, type Outcome, type Phase, phaseById, REPORTED_OUTCOMES } from '../model/workflow.ts';
import { notAtItem, sequenceBlocker } from './atWork.ts';
import { blocker, byRule, completeAction, nextActionFor, refused } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { Asking, type Considered, escalation, refuseWork, turnAway } from './deciding.ts';
import { evidenceProblems, unusableSchemas } from './evidence.ts';
import { type Fenced, fenceOf } from './fence.ts';
import { awayFromItems, considerItem, considerJoin, readItem, withFailedItems } from './items.ts';
import { type Completing, considerLeaving, leaveFailed, outcomeBlocker } from './leaving.ts';
import type { Item, Run } from './run.ts';
import { subjectFor } from './scope.ts';
import { readSubmission, type Submission } from './submission.ts';
import { checkBlockers, checkWarnings, established } from './transition.ts';
import type { Blocker } from './verdict.ts';

type Complete = Extract<Command, { kind: 'complete' }>;

/**
 * Completing a phase, in order, all or nothing: principal, sequence, undeclared evidence, outcome, shape of the evidence,
 * tasks, the work of a handler, postconditions and blockers, the human gate, the route, the target's preconditions.
 */
export function considerComplete(run: Run, command: Complete, circumstance: Circumstance): Considered {
  const away = notAtItem(run, circumstance, command.item);
  if (away !== null) return turnAway([away]);
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const refuse = (found: Blocker) =>
    withFailedItems(run, circumstance.now, refuseWork(run, circumstance.now, uncounted(found, command.item)));

  if (command.phase !== run.phase) {
    const found = sequenceBlocker(run, command.phase);
    // A phase submitted twice is a retry that came late, not a skip: it must not count towards an escalation.
    const late = run.completions.some((completion) => completion.phase === command.phase);
    return late ? turnAway([found]) : refuse(found);
  }
  const others = awayFromItems(run, phase, command.item);
  if (others !== null) return others;
  const submission = readSubmission(phase, command.evidence);
  // Nothing of it is kept, and nothing is counted: without these names the same submission is judged as if new.
  if (submission.undeclared.length > 0 && !isPermissive(run)) return turnAway(submission.undeclared);
  const outcome = readOutcome(phase, command);
  if (typeof outcome !== 'string') return refuse(outcome);

  const item = readItem(run, phase, command);
  if (item === 'all') {
    const asking = new Asking(circumstance);
    const fenced = fenceOf(run, phase, asking);
    if (asking.missing.length > 0) return { looks: asking.missing };
    if (fenced.blockers.length > 0 && !isPermissive(run))
      return refuseFenced(run, fenced, { item: command.item, now: circumstance.now });
    return considerJoin(run, { phase, expected: command.target }, circumstance);
  }
  if (item !== null && 'code' in item) return refuse(item);
  const submitted: Submitted = { phase, command, submission, item };
  if (outcome === 'fail' && phase.work.kind !== 'handler') return considerFail(run, submitted, circumstance);
  return considerWork(run, { ...submitted, outcome }, circumstance);
}

/** What an agent handed in for a phase, or for one item of it. */
interface Submitted {
  readonly phase: Phase;
  readonly command: Complete;
  readonly submission: Submission;
  readonly item: Item | null;
}

/** Work that is said to be done: its shape, its tasks, its handler, its checks. */
function considerWork(
  run: Run,
  submitted: Submitted & { readonly outcome: Outcome },
  circumstance: Circumstance,
): Considered {
  const { phase, command, submission, item } = submitted;
  const { evidence, undeclared } = submission;
  const { now } = circumstance;
  const permissive = isPermissive(run);
  const refuse = (blockers: readonly Blocker[], counted: boolean) => {
    return withFailedItems(run, now, refuseWork(run, now, { blockers, counted, item: command.item }));
  };

  const unusable = unusableSchemas(phase);
  if (unusable.length > 0) return handOver(run, phase, { now, problems: unusable });

  const shape = [...evidenceProblems(phase.evidence, evidence), ...submission.problems];
  const formal = [...shape.map((problem) => shapeBlocker(phase, problem)), ...taskBlockers(run, phase)];
  if (formal.length > 0 && !permissive) return refuse(formal, false);

  const asking = new Asking(circumstance);
  const fenced = fenceOf(run, phase, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (fenced.blockers.length > 0 && !permissive)
    return refuseFenced(run, fenced, { item: command.item, now: circumstance.now });
  const judged = { phase, evidence, ...(item === null ? {} : { item }) };
  const handled = runHandler(run, judged, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if ('code' in handled) return refuse([handled], true);
  const unmapped = handled.outcome !== null && handled.outcome !== 'ok' && phase.next.kind !== 'outcomes';
  if (unmapped) return refuse([outcomeBlocker(phase, handled.outcome as Outcome)], true);
  const worked: Run = { ...run, state: { ...run.state, ...handled.state } };

  const outcome = handled.outcome ?? submitted.outcome;
  const looking = { judged, checks: checksOn(phase, outcome, item), asking, stage: 'leave' };
  const failed = checkBlockers(worked, looking);
  const warnings = [...fenced.warnings, ...checkWarnings(worked, looking)];
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (failed.length > 0 && !permissive) return refuse(failed, true);

  const done: Completing = {
    phase,
    evidence,
    ...wordOf(submission),
    ...(formal.length + failed.length + fenced.blockers.length > 0 ? { letThrough: true } : {}),
    outcome,
    state: handled.state,
    would: [...undeclared, ...formal, ...fenced.blockers, ...failed],
    warnings,
    established: established(looking),
    expected: command.target,
  };
  if (item !== null) return considerItem(run, command.item as string, done, circumstance);
  return outcome === 'fail' ? leaveFailed(run, done, circumstance) : considerLeaving(run, done, circumstance);
}

/** What the fence refuses is no attempt: the work itself was not judged. */
function refuseFenced(
  run: Run,
  { blockers, outside }: Fenced,
  { item, now }: { readonly item: string | undefined; readonly now: string },
): Considered {
  return withFailedItems(run, now, refuseWork(run, now, { blockers, outside, counted: false, item }));
}

/**
 * A handler's `fail` says that there is nothing to judge. A skipped phase did no work to judge, but what stands behind
 * its gate stays behind it. The blockers of a parallel phase are asked about the join.
 */
function checksOn(phase: Phase, outcome: Outcome, item: Item | null): readonly Check[] {
  if (outcome === 'fail') return [];
  return [...(outcome === 'skip' ? [] : phase.postconditions), ...(item === null ? phase.blockers : [])];
}

/** No agent can do anything about what its phase asks for: a human moves the run to a workflow that can be used. */
function handOver(
  run: Run,
  phase: Phase,
  { now, problems }: { readonly now: string; readonly problems: readonly string[] },
): Considered {
  const text = `wait: a human fixes the workflow and moves the run to it with \`phasegate migrate ${run.id}\``;
  const [first, ...more] = problems.map((problem) =>
    blocker('escalated', `phase \`${phase.id}\` cannot be judged: ${problem}`, {
      act: 'wait_for_human',
      text,
    }),
  );
  const blockers = [first as Blocker, ...more];
  const message = `phase \`${phase.id}\` cannot be judged by what the run was started with`;
  const refusal = {
    at: now,
    type: 'phase_refused',
    phase: phase.id,
    item: null,
    blockers,
    counted: false,
  } as const;
  return {
    verdict: refused(blockers),
    events: [refusal, escalation(now, 'definition_unusable', message, blockers)],
  };
}

function uncounted(found: Blocker, item: string | undefined): Parameters<typeof refuseWork>[2] {
  return { blockers: [found], counted: false, item };
}

function isPermissive(run: Run): boolean {
  return run.workflow.enforcement.mode === 'permissive';
}

function wordOf({ word, problems }: Submission): { readonly word?: JsonObject } {
  return word === undefined || problems.length > 0 ? {} : { word };
}

/** `fail` needs a reason, and neither evidence nor checks: it says the work did not come off. */
function considerFail(
  run: Run,
  { phase, command, submission, item }: Submitted,
  circumstance: Circumstance,
): Considered {
  const reason = command.reason?.trim() ?? '';
  if (reason === '') {
    const message = `outcome \`fail\` of phase \`${phase.id}\` needs a reason`;
    const found = blocker('reason_required', message, completeAction(phase));
    const refusal = refuseWork(run, circumstance.now, uncounted(found, command.item));
    return withFailedItems(run, circumstance.now, refusal);
  }
  // What was changed outside the scope would be the measure of the phase that this leads to.
  const asking = new Asking(circumstance);
  const fenced = fenceOf(run, phase, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (fenced.blockers.length > 0 && !isPermissive(run))
    return refuseFenced(run, fenced, { item: command.item, now: circumstance.now });
  const done: Completing = {
    phase,
    evidence: { ...submission.evidence, failure_reason: reason },
    ...wordOf(submission),
    outcome: 'fail',
    state: {},
    would: [...submission.undeclared, ...fenced.blockers],
    warnings: fenced.warnings,
    expected: command.target,
  };
  if (item !== null) return considerItem(run, command.item as string, done, circumstance);
  return leaveFailed(run, done, circumstance);
}

function readOutcome(phase: Phase, command: Complete): Outcome | Blocker {
  const { outcome } = command;
  if (outcome === undefined) return 'ok';
  const reportable = REPORTED_OUTCOMES.includes(outcome);
  if (phase.work.kind === 'handler') {
    const message = `the handler of phase \`${phase.id}\` decides its outcome: leave \`${outcome}\` out`;
    return blocker('outcome_not_allowed', message, completeAction(phase));
  }
  if (!reportable) return outcomeBlocker(phase, outcome);
  if (phase.next.kind !== 'outcomes') return outcome === 'ok' ? outcome : outcomeBlocker(phase, outcome);
  const mapped =
    Object.hasOwn(phase.next.map, outcome) || (phase.next.otherwise !== undefined && outcome !== 'iterate');
  return mapped ? outcome : outcomeBlocker(phase, outcome);
}

function shapeBlocker(phase: Phase, problem: string): Blocker {
  return byRule(blocker('incomplete_checkpoint', problem, completeAction(phase)), phase, 'evidence');
}

function taskBlockers(run: Run, phase: Phase): readonly Blocker[] {
  const unread = phase.tasks.flatMap((_, index) => (run.work.fetched.includes(index + 1) ? [] : [index + 1]));
  if (unread.length === 0) return [];
  const message = `tasks of phase \`${phase.id}\` were never fetched: ${unread.join(', ')}`;
  return [blocker('tasks_not_fetched', message, nextActionFor(run))];
}

function runHandler(
  run: Run,
  judged: { readonly phase: Phase; readonly evidence: JsonObject; readonly item?: Item },
  asking: Asking,
): { readonly outcome: Outcome | null; readonly state: JsonObject } | Blocker {
  const { phase } = judged;
  if (phase.work.kind !== 'handler') return { outcome: null, state: {} };
  const look = {
    kind: 'handler' as const,
    id: `${phase.id}/handler`,
    ref: phase.work.ref,
    subject: subjectFor(run, judged),
  };
  const fact = asking.fact(look);
  if (fact === undefined) return { outcome: null, state: {} };
  if (fact.result.ok) {
    const { outcome, state } = fact.result;
    const taken = Object.keys(state).find(
      (name) => ENGINE_FIELDS.includes(name) || Object.hasOwn(run.workflow.params, name),
    );
    if (taken === undefined) return { outcome, state };
    const whose = Object.hasOwn(run.workflow.params, taken) ? 'a param' : 'a field of the engine';
    const message = `the handler of phase \`${phase.id}\` failed: its state has \`${taken}\`, the name of ${whose}`;
    return blocker('handler_failed', message, completeAction(phase));
  }
  return blocker(
    'handler_failed',
    `the handler of phase \`${phase.id}\` failed: ${fact.result.reason}`,
    completeAction(phase),
  );
}
