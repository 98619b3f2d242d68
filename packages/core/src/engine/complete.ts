import type { JsonObject } from '../json.ts';
import { type Outcome, type Phase, phaseById } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { ALLOWED, blocker, completeAction, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { Asking, type Considered, escalation, refuseWork, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { evidenceProblems } from './evidence.ts';
import { joinedResult, routeFrom } from './route.ts';
import type { Item, Run } from './run.ts';
import { subjectFor } from './scope.ts';
import { checkBlockers, cross } from './transition.ts';
import type { Blocker } from './verdict.ts';

type Complete = Extract<Command, { kind: 'complete' }>;

/**
 * Completing a phase, in order, all or nothing: principal, sequence, outcome, evidence, tasks, the work of a handler,
 * postconditions and blockers, the human gate, the route, the target's preconditions.
 */
export function considerComplete(run: Run, command: Complete, circumstance: Circumstance): Considered {
  const away = notAtWork(run, circumstance);
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
  const outcome = readOutcome(phase, command);
  if (typeof outcome !== 'string') return refuse([outcome]);
  if (outcome === 'fail' && phase.work.kind !== 'handler')
    return considerFail(run, phase, command, circumstance);

  const item = readItem(run, phase, command);
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

interface Completing {
  readonly phase: Phase;
  readonly evidence: JsonObject;
  readonly outcome: Outcome;
  readonly state: JsonObject;
  readonly would: readonly Blocker[];
  readonly expected: Complete['target'];
}

/** An item is done; when it was the last, the phase is, with the results joined. */
function considerItem(run: Run, key: string, done: Completing, circumstance: Circumstance): Considered {
  const completed: RunEvent = {
    at: circumstance.now,
    type: 'item_completed',
    phase: done.phase.id,
    item: key,
    evidence: done.evidence,
  };
  const after = apply(run, completed);
  const items = after.work.items as Readonly<Record<string, Item>>;
  const open = Object.values(items).filter((item) => item.status !== 'completed');
  if (open.length > 0) {
    const events: RunEvent[] = [completed];
    if (open.every((item) => item.status === 'failed')) events.push(failedItems(after, circumstance.now));
    return { verdict: ALLOWED, events };
  }
  const joined = { ...done, evidence: joinedResult(items) };
  const asking = new Asking(circumstance);
  const judged = { phase: done.phase, evidence: joined.evidence };
  const failed = checkBlockers(after, { judged, checks: done.phase.blockers, asking, stage: 'join' });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (failed.length > 0 && after.workflow.enforcement.mode !== 'permissive') {
    const refusal = refuseWork(after, circumstance.now, { blockers: failed, counted: true });
    return 'looks' in refusal ? refusal : { ...refusal, events: [completed, ...refusal.events] };
  }
  const left = considerLeaving(after, { ...joined, would: [...joined.would, ...failed] }, circumstance);
  return 'looks' in left ? left : { ...left, events: [completed, ...left.events] };
}

/** Once every open item has failed twice, only a human can go on. */
function withFailedItems(run: Run, now: string, refusal: Considered): Considered {
  if ('looks' in refusal || run.work.items === null) return refusal;
  const after = refusal.events.reduce(apply, run);
  const open = Object.values(after.work.items ?? {}).filter((item) => item.status !== 'completed');
  const stuck =
    after.status === 'active' && open.length > 0 && open.every((item) => item.status === 'failed');
  return stuck ? { ...refusal, events: [...refusal.events, failedItems(after, now)] } : refusal;
}

function failedItems(run: Run, now: string): RunEvent {
  const failed = Object.entries(run.work.items ?? {}).filter(([, item]) => item.status === 'failed');
  const blockers = failed.map(([key, item]) =>
    blocker('check_failed', `item \`${key}\`: ${item.error ?? 'failed'}`, {
      act: 'wait_for_human',
      text: 'wait: a human must act',
    }),
  );
  return escalation(
    now,
    'attempts',
    `${failed.length} items of phase \`${run.phase}\` failed twice`,
    blockers,
  );
}

/** All checks have passed: the human gate, if any, else the way on. */
function considerLeaving(run: Run, done: Completing, circumstance: Circumstance): Considered {
  const by = circumstance.principal.name;
  const { now } = circumstance;
  const { phase, evidence, outcome, state, would } = done;
  if (phase.humanGate !== null) {
    const wait = {
      for: 'gate' as const,
      gate: `${phase.humanGate.id}#${run.epoch}`,
      since: now,
      evidence,
      outcome,
      state,
      by,
      votes: [],
      wouldRefuse: would,
    };
    return { verdict: passed(would), events: [{ at: now, type: 'gate_opened', phase: phase.id, wait }] };
  }
  return followRoute(
    run,
    { phase, evidence, outcome, state, by, now, wouldRefuse: would },
    circumstance,
    done.expected,
  );
}

/** Follows the phase's own route, after checks and any human's yes. */
export function followRoute(
  run: Run,
  leaving: Parameters<typeof cross>[1],
  circumstance: Circumstance,
  expected?: Complete['target'],
): Considered {
  const { phase, now } = leaving;
  const asking = new Asking(circumstance);
  const worked: Run = { ...run, state: { ...run.state, ...leaving.state } };
  const routed = routeFrom(worked, { phase, evidence: leaving.evidence, outcome: leaving.outcome }, asking);
  const refuse = (blockers: readonly Blocker[]): Considered =>
    run.status === 'active' ? refuseWork(run, now, { blockers, counted: false }) : turnAway(blockers);
  switch (routed.kind) {
    case 'asking':
      return { looks: asking.missing };
    case 'unanswerable':
      return refuse([
        blocker(
          'condition_unanswerable',
          `the way on cannot be told: ${routed.reason}`,
          completeAction(phase),
        ),
      ]);
    case 'unmapped':
      return refuse([outcomeBlocker(phase, routed.outcome)]);
    case 'exhausted': {
      const blockers = [
        blocker('iterations_exhausted', routed.message, {
          act: 'wait_for_human',
          text: 'wait: a human must act',
        }),
      ];
      const refusal = refuseWork(run, now, { blockers, counted: false });
      if ('looks' in refusal) return refusal;
      const refusals = refusal.events.filter((event) => event.type !== 'run_escalated');
      return {
        verdict: refusal.verdict,
        events: [...refusals, escalation(now, 'iterations', routed.message, blockers)],
      };
    }
    case 'to':
      break;
  }
  if (expected !== undefined && expected !== routed.target) {
    return refuse([
      blocker(
        'not_the_next_phase',
        `phase \`${phase.id}\` does not lead to \`${expected}\` now`,
        completeAction(phase),
      ),
    ]);
  }
  const permissive = run.workflow.enforcement.mode === 'permissive';
  const crossing = cross(run, leaving, {
    target: routed.target,
    iterated: routed.iterated,
    asking,
    permissive,
  });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (!crossing.ok) return refuse(crossing.blockers);
  const event = crossing.event as RunEvent & { type: 'phase_completed' };
  return { verdict: passed(event.wouldRefuse), events: [event] };
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

/** Why this principal may not work on the run now, or null. */
export function notAtWork(run: Run, circumstance: Circumstance): Blocker | null {
  const { principal } = circumstance;
  const next = nextActionFor(run);
  if (principal.kind !== 'agent')
    return blocker('not_an_agent', 'phases are completed by the agent that holds the run', next);
  if (run.status === 'queued')
    return blocker('run_not_active', `run \`${run.id}\` is queued and nobody holds it`, next);
  if (run.holder !== principal.name) {
    return blocker('not_your_run', `run \`${run.id}\` is held by another agent`, {
      act: 'none',
      text: 'work on a run of your own',
    });
  }
  if (run.status === 'waiting') return blocker('run_waiting', `run \`${run.id}\` waits for a human`, next);
  if (run.status === 'escalated')
    return blocker('run_escalated', `run \`${run.id}\` is escalated: ${run.escalation.message}`, next);
  if (run.status !== 'active') return blocker('run_ended', `run \`${run.id}\` is ${run.status}`, next);
  return null;
}

/** The refusal of any phase but the current one. */
export function sequenceBlocker(run: Run, requested: string | number): Blocker {
  const message = `Cannot access Phase ${requested}: currently on Phase ${run.phase}`;
  return blocker('phase_sequence_violation', message, nextActionFor(run));
}

function readOutcome(phase: Phase, command: Complete): Outcome | Blocker {
  const { outcome } = command;
  if (outcome === undefined) return 'ok';
  const reportable = outcome === 'ok' || outcome === 'fail' || outcome === 'iterate';
  if (!reportable || phase.work.kind === 'handler') return outcomeBlocker(phase, outcome);
  if (phase.next.kind !== 'outcomes') return outcome === 'ok' ? outcome : outcomeBlocker(phase, outcome);
  const mapped =
    Object.hasOwn(phase.next.map, outcome) || (phase.next.otherwise !== undefined && outcome !== 'iterate');
  return mapped ? outcome : outcomeBlocker(phase, outcome);
}

function outcomeBlocker(phase: Phase, outcome: Outcome): Blocker {
  return blocker(
    'outcome_not_allowed',
    `phase \`${phase.id}\` has no way for the outcome \`${outcome}\``,
    completeAction(phase),
  );
}

function readItem(run: Run, phase: Phase, command: Complete): Item | Blocker | null {
  const items = run.work.items;
  const action = completeAction(phase);
  if (items === null) {
    return command.item === undefined
      ? null
      : blocker('item_unknown', `phase \`${phase.id}\` has no items`, action);
  }
  const open = Object.keys(items).filter((key) => items[key]?.status === 'pending');
  if (command.item === undefined) {
    return blocker(
      'item_required',
      `phase \`${phase.id}\` is completed item by item; open: ${open.join(', ')}`,
      action,
    );
  }
  const item = Object.hasOwn(items, command.item) ? items[command.item] : undefined;
  if (item === undefined)
    return blocker('item_unknown', `there is no item \`${command.item}\`; open: ${open.join(', ')}`, action);
  if (item.status === 'completed')
    return blocker('item_done', `item \`${command.item}\` is already completed`, action);
  if (item.status === 'failed') {
    return blocker('item_done', `item \`${command.item}\` failed twice; a human must act`, action);
  }
  return item;
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

function passed(would: readonly Blocker[]) {
  return would.length === 0 ? ALLOWED : { allowed: true as const, wouldRefuse: would };
}
