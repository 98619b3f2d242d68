import type { JsonObject } from '../json.ts';
import { type Outcome, type Phase, phaseById } from '../model/workflow.ts';
import { notAtItem, sequenceBlocker } from './atWork.ts';
import { blocker, completeAction, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { Asking, type Considered, refuseWork, turnAway } from './deciding.ts';
import { evidenceProblems } from './evidence.ts';
import { holds } from './holding.ts';
import { considerItem, considerJoin, readItem, withFailedItems } from './items.ts';
import { type Completing, considerLeaving, followRoute, outcomeBlocker } from './leaving.ts';
import type { Item, Run } from './run.ts';
import { subjectFor } from './scope.ts';
import { checkBlockers } from './transition.ts';
import type { Blocker } from './verdict.ts';

type Complete = Extract<Command, { kind: 'complete' }>;

/**
 * Completing a phase, in order, all or nothing: principal, sequence, outcome, evidence, tasks, the work of a handler,
 * postconditions and blockers, the human gate, the route, the target's preconditions.
 */
export function considerComplete(run: Run, command: Complete, circumstance: Circumstance): Considered {
  const away = notAtItem(run, circumstance, command.item);
  if (away !== null) return turnAway([away]);
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const { now } = circumstance;
  const refuse = (blockers: readonly Blocker[], counted = false) =>
    withFailedItems(
      run,
      now,
      refuseWork(run, now, { blockers, counted, item: counted ? command.item : undefined }),
    );

  if (command.phase !== run.phase) {
    const blockers = [sequenceBlocker(run, command.phase)];
    // A phase submitted twice is a retry that came late, not a skip: it must not count towards an escalation.
    const late = run.completions.some((completion) => completion.phase === command.phase);
    return late ? turnAway(blockers) : refuse(blockers);
  }
  const outcome = readOutcome(phase, command, holds(run, circumstance.principal.name));
  if (typeof outcome !== 'string') return refuse([outcome]);
  if (outcome === 'fail' && phase.work.kind !== 'handler')
    return considerFail(run, phase, command, circumstance);

  const item = readItem(run, phase, command);
  if (item === 'all') return considerJoin(run, joining(phase, command, outcome), circumstance);
  if (item !== null && 'code' in item) return refuse([item]);
  const permissive = run.workflow.enforcement.mode === 'permissive';
  const would: Blocker[] = [];

  const formal = [...shapeBlockers(phase, command.evidence), ...taskBlockers(run, phase)];
  if (formal.length > 0 && !permissive) return refuse(formal);
  would.push(...formal);
  // The fence stands here: the workspace's tree against the write scope, before anything is run.

  const asking = new Asking(circumstance);
  const judged = { phase, evidence: command.evidence, ...(item === null ? {} : { item }) };
  const handled = runHandler(run, judged, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if ('code' in handled) return refuse([handled], true);
  const unmapped = handled.outcome !== null && handled.outcome !== 'ok' && phase.next.kind !== 'outcomes';
  if (unmapped) return refuse([outcomeBlocker(phase, handled.outcome as Outcome)], true);
  if (handled.outcome === 'fail') {
    const by = circumstance.principal.name;
    const leaving = {
      phase,
      evidence: command.evidence,
      outcome: 'fail' as const,
      state: handled.state,
      by,
      now,
      wouldRefuse: would,
    };
    return followRoute(run, leaving, circumstance, command.target);
  }
  const worked: Run = { ...run, state: { ...run.state, ...handled.state } };

  // A skipped phase did no work to judge, but what stands behind its gate stays behind it.
  const judgedWork = handled.outcome === 'skip' ? [] : phase.postconditions;
  const checks = [...judgedWork, ...(item === null ? phase.blockers : [])];
  const failed = checkBlockers(worked, { judged, checks, asking, stage: 'leave' });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (failed.length > 0 && !permissive) return refuse(failed, true);
  would.push(...failed);

  const done: Completing = {
    phase,
    evidence: command.evidence,
    outcome: handled.outcome ?? outcome,
    state: handled.state,
    would,
    expected: command.target,
  };
  if (item === null) return considerLeaving(run, done, circumstance);
  return considerItem(run, command.item as string, done, circumstance);
}

/** Every item is done and the join was refused before: there is nothing new to submit, only to be looked at again. */
function joining(phase: Phase, { target }: Complete, outcome: Outcome): Completing {
  return { phase, evidence: {}, outcome, state: {}, would: [], expected: target };
}

/** `fail` needs a reason, and neither evidence nor checks: it says the work did not come off. */
function considerFail(run: Run, phase: Phase, command: Complete, circumstance: Circumstance): Considered {
  const { now, principal } = circumstance;
  const reason = command.reason?.trim() ?? '';
  if (reason === '') {
    const message = `outcome \`fail\` of phase \`${phase.id}\` needs a reason`;
    return refuseWork(run, now, {
      blockers: [blocker('reason_required', message, completeAction(phase))],
      counted: false,
    });
  }
  const evidence = { ...command.evidence, failure_reason: reason };
  const leaving = {
    phase,
    evidence,
    outcome: 'fail' as const,
    state: {},
    by: principal.name,
    now,
    wouldRefuse: [],
  };
  return followRoute(run, leaving, circumstance, command.target);
}

function readOutcome(phase: Phase, command: Complete, whole: boolean): Outcome | Blocker {
  const { outcome } = command;
  if (outcome === undefined) return 'ok';
  // What becomes of the whole phase is not for the holder of one item to say.
  if (!whole && outcome !== 'ok') return outcomeBlocker(phase, outcome);
  const reportable = outcome === 'ok' || outcome === 'fail' || outcome === 'iterate';
  if (!reportable || phase.work.kind === 'handler') return outcomeBlocker(phase, outcome);
  if (phase.next.kind !== 'outcomes') return outcome === 'ok' ? outcome : outcomeBlocker(phase, outcome);
  const mapped =
    Object.hasOwn(phase.next.map, outcome) || (phase.next.otherwise !== undefined && outcome !== 'iterate');
  return mapped ? outcome : outcomeBlocker(phase, outcome);
}

function shapeBlockers(phase: Phase, evidence: JsonObject): readonly Blocker[] {
  return evidenceProblems(phase.evidence, evidence).map((problem) =>
    blocker('incomplete_checkpoint', problem, completeAction(phase)),
  );
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
  if (fact.result.ok) return { outcome: fact.result.outcome, state: fact.result.state };
  return blocker(
    'handler_failed',
    `the handler of phase \`${phase.id}\` failed: ${fact.result.reason}`,
    completeAction(phase),
  );
}
