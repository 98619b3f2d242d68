import type { JsonObject } from '../json.ts';
import {
  type Check,
  type Ending,
  EVIDENCE_CLASSES,
  type Phase,
  phaseById,
  type Target,
} from '../model/workflow.ts';
import { apply, newestNote, winningNote } from './apply.ts';
import { blocker, byRule, completeAction } from './blockers.ts';
import { installable } from './databaseHash.ts';
import { type Asking, NOT_LOOKED_AT } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { itemsFor } from './route.ts';
import { type CheckResult, type Established, type Result, type Run, resultOf, timesOf } from './run.ts';
import { type Judged, subjectFor } from './scope.ts';
import type { Blocker, BlockerCode, Warning } from './verdict.ts';
import { warned } from './warnings.ts';

/** A phase about to be left. */
export interface Leaving extends Result {
  readonly phase: Phase;
  readonly outcome: Ending;
  readonly state: JsonObject;
  readonly by: string;
  readonly now: string;
  readonly wouldRefuse: readonly Blocker[];
  /** Hash of what the workspace held when it was handed in, where that was before now. */
  readonly made?: string | undefined;
  /** What a human approved beside the evidence; absent: nobody did. */
  readonly approved?: JsonObject;
  /** SHA-256 of the sealed copy of the author's database. */
  readonly database?: string | undefined;
}

/** The event that leaves a phase, or why its target cannot be entered. */
export type Crossing =
  | { readonly ok: true; readonly event: RunEvent }
  | { readonly ok: false; readonly blockers: readonly Blocker[] };

/** Crosses to the target: its preconditions and items are looked at on the run as it would be. */
export function cross(
  run: Run,
  leaving: Leaving,
  way: {
    readonly target: Target;
    readonly iterated: boolean;
    readonly asking: Asking;
    readonly permissive: boolean;
    /** A human's option that is looked at before it is chosen: only what evidence alone decides is asked. */
    readonly ahead?: string;
  },
): Crossing {
  const event: RunEvent & { type: 'phase_completed' } = {
    at: leaving.now,
    type: 'phase_completed',
    phase: leaving.phase.id,
    outcome: leaving.outcome,
    ...resultOf(leaving),
    state: leaving.state,
    by: leaving.by,
    next: way.target,
    iterated: way.iterated,
    items: null,
    wouldRefuse: leaving.wouldRefuse,
    ...(leaving.approved === undefined ? {} : { approved: leaving.approved }),
    ...(leaving.outcome === 'fail' ? owedBy(run, leaving.phase) : {}),
    ...installable(leaving.outcome, leaving.database),
    ...noteIn(run),
    ...(way.target === null ? {} : way.asking.tree()),
    ...way.asking.files(),
    ...madeIn(leaving, way.asking),
  };
  const target = phaseById(run.workflow, way.target);
  if (target === undefined) return { ok: true, event };
  // Most phases ask nothing of the run as it would be.
  if (target.parallel === null && target.preconditions.length === 0) {
    return { ok: true, event: { ...event, ...warned(leaving.warnings ?? []) } };
  }
  const there = apply(run, event);
  const items = itemsFor(there, target);
  if (!items.ok) {
    const message = `phase \`${target.id}\` cannot be entered: ${items.reason}`;
    return { ok: false, blockers: [blocker('items_invalid', message, completeAction(leaving.phase))] };
  }
  const failed = preconditionBlockers(there, target, { ...way, from: leaving.phase });
  if (failed.length > 0 && !way.permissive) return { ok: false, blockers: failed };
  const warnings = [...(leaving.warnings ?? []), ...preconditionWarnings(there, target, way.asking)];
  return {
    ok: true,
    event: {
      ...event,
      items: items.items,
      wouldRefuse: [...leaving.wouldRefuse, ...failed],
      ...warned(warnings),
    },
  };
}

/** What waited at a gate was made when it was handed in, and not when somebody decided. */
function madeIn({ phase, made }: Leaving, asking: Asking): { readonly made?: string } {
  if (!phase.evidence.artifacts.some(({ bound }) => bound === true)) return {};
  return made === undefined ? asking.state() : { made };
}

/**
 * Reporting `fail` pays for nothing: attempts that failed in this visit count in the next. Those of visits before it were
 * judged there, and a visit in which nothing was judged is none that the ladder of severities counts.
 */
function owedBy(
  { work, owed: before = {} }: Run,
  { id }: Phase,
): { readonly owed?: number; readonly judged?: true } {
  const ofItems = Object.values(work.items ?? {}).map((item) => item.attempts);
  const owed = Math.max(work.attempts, ...ofItems.map((attempts) => Math.min(attempts, 1)));
  if (owed === 0) return {};
  return owed > timesOf(before, id) ? { owed, judged: true } : { owed };
}

function noteIn(run: Run): { readonly note?: string | null } {
  const note = winningNote(run);
  return note === newestNote(run) ? {} : { note };
}

/**
 * Why a phase's preconditions do not hold; `from` is where the agent stays meanwhile. Ahead of a human's choice only
 * those are asked that evidence alone decides.
 */
export function preconditionBlockers(
  run: Run,
  phase: Phase,
  { asking, from, ahead }: { readonly asking: Asking; readonly from: Phase; readonly ahead?: string },
): readonly Blocker[] {
  const checks = phase.preconditions.filter(({ frozen }) => ahead === undefined || frozen === true);
  const stage = ahead === undefined ? 'enter' : `enter:${ahead}`;
  return checkBlockers(run, { judged: { phase }, checks, asking, stage }).map((found) => ({
    ...found,
    code: 'precondition_failed',
    nextAction: completeAction(from),
  }));
}

/** What does not hold of a phase's preconditions and keeps nobody out. */
export function preconditionWarnings(run: Run, phase: Phase, asking: Asking): readonly Warning[] {
  const looking = { judged: { phase }, checks: phase.preconditions, asking, stage: 'enter' };
  return checkWarnings(run, looking).map(({ message }) => ({ code: 'precondition_failed', message }));
}

/** Checks about to be looked at. */
export interface Looking {
  readonly judged: Judged;
  readonly checks: readonly Check[];
  readonly asking: Asking;
  /** Keeps apart the same check asked on different occasions within one command. */
  readonly stage: string;
}

/** Why checks do not hold: a check that failed, threw, timed out, or whose answer is of too weak a class. */
export function checkBlockers(run: Run, looking: Looking): readonly Blocker[] {
  const blocking = looking.checks.filter(({ severity }) => severity !== 'warning');
  const { phase } = looking.judged;
  return unheld(run, { ...looking, checks: blocking }).map(({ code, message, check }) =>
    byRule(blocker(code, message, completeAction(phase)), phase, ruleOf(check)),
  );
}

/** The same of the checks that only warn. */
export function checkWarnings(run: Run, looking: Looking): readonly Warning[] {
  const warning = looking.checks.filter(({ severity }) => severity === 'warning');
  return [
    ...unheld(run, { ...looking, checks: warning }).map(({ code, message }) => ({ code, message })),
    ...lacks(looking),
  ];
}

/** What holds, and is less than the engine was to establish: it is said wherever the phase is. */
function lacks({ checks, asking, stage }: Looking): readonly Warning[] {
  return known(checks, asking, stage).flatMap(({ check, result }) => {
    if (result?.status !== 'passed' || result.lack === undefined || check.needs === 'verified') return [];
    const { reason, nextStep } = result.lack;
    const message = `\`${check.label}\` is ${result.class} and not verified: ${reason}; ${nextStep}`;
    return [{ code: 'evidence_class_too_low', message }];
  });
}

/** What the engine established for these checks: by programs that it ran, or by what it had observed itself. */
export function established({ checks, asking, stage }: Looking): readonly Established[] {
  return known(checks, asking, stage).flatMap(({ check, result }) => {
    if (result?.status !== 'passed') return [];
    const { receipt, lack, frozen } = result;
    // Without a word about it, a look that ran nothing would be taken for a look at the files.
    if (receipt === undefined && result.class !== 'observed') return [];
    return [
      {
        check: check.label,
        class: result.class,
        ...(receipt === undefined ? {} : { receipt }),
        ...(lack === undefined ? {} : { lack: lack.reason }),
        ...(frozen === undefined ? {} : { frozen }),
      },
    ];
  });
}

/** What is known of checks without asking for any: what is not asked for here may not be due yet. */
function known(checks: readonly Check[], asking: Asking, stage: Looking['stage']) {
  return checks.map((check) => ({ check, result: asking.known(`${stage}:${check.id}`) }));
}

function answers(run: Run, { judged, checks, asking, stage }: Looking) {
  if (checks.length === 0) return [];
  const subject = subjectFor(run, judged);
  return checks.map((check) => ({
    check,
    result: asking.fact({ kind: 'check', id: `${stage}:${check.id}`, check, subject })?.result,
  }));
}

/** `postconditions.0` of `PLAN/postconditions/0`: checks are named after the list they are written in. */
function ruleOf({ id }: Check): string {
  return id.split('/').slice(-2).join('.');
}

function unheld(run: Run, looking: Looking): readonly (Warning & { readonly check: Check })[] {
  return answers(run, looking).flatMap(({ check, result }) => {
    const found = checkBlocker(check, result ?? NOT_LOOKED_AT);
    return found === null ? [] : [{ ...found, check }];
  });
}

const CODES: Readonly<Record<Exclude<CheckResult['status'], 'passed'>, BlockerCode>> = {
  failed: 'check_failed',
  errored: 'check_errored',
  timed_out: 'check_timed_out',
};

function checkBlocker(check: Check, result: CheckResult): Warning | null {
  const reason = result.reason === '' ? '' : ` (${result.reason})`;
  if (result.status !== 'passed')
    return { code: result.code ?? CODES[result.status], message: `${check.message}${reason}` };
  if (EVIDENCE_CLASSES.indexOf(result.class) >= EVIDENCE_CLASSES.indexOf(check.needs)) return null;
  const why = result.lack === undefined ? '' : `: ${result.lack.reason}; ${result.lack.nextStep}`;
  const message = `${check.message} (needs ${check.needs} evidence, and this is ${result.class}${why})`;
  return { code: 'evidence_class_too_low', message };
}
