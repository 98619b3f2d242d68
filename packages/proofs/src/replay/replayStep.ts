import type { Circumstance, Facts, Look, Principal, Run, RunEvent } from '@phasegate/core/engine';
import {
  checksForStart,
  type Decision,
  databaseOf,
  decideOrLook,
  decideStart,
  holdsAnItem,
  judgeTool,
  type StartDecision,
} from '@phasegate/core/engine';
import {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
  phaseById,
  type Workflow,
} from '@phasegate/core/model';
import { asRecordedBefore } from './asRecordedBefore.ts';
import type { RecordedStep } from './recordedSteps.ts';
import { type Answered, answeredByOtherCode, answersFrom, lookName, settle } from './replayFacts.ts';
import { movedTo, startingIn } from './replayMoved.ts';
import { askedIn, askedOf, compared, outlookOf, toolOutlook } from './replayOutlook.ts';
import type { Outlook, ReplayedStep, Replaying } from './replayReport.ts';

type Step<K extends RecordedStep['kind']> = Extract<RecordedStep, { kind: K }>;
type Found = Pick<ReplayedStep, 'kind' | 'was' | 'would' | 'reason'>;
type Deciding<T> = (facts: Facts) => T | { readonly looks: readonly Look[] };

/** One recorded decision, made again under the changed workflow with what was known then. */
export async function replayStep(
  step: RecordedStep,
  replaying: Pick<Replaying, 'changed' | 'reads' | 'look'>,
): Promise<ReplayedStep> {
  const { seq, at, by, before } = step;
  const told = { seq, at, by, phase: before?.phase ?? null, asked: askedFor(step) };
  return { ...told, ...(await replayed(step, replaying)) };
}

async function replayed(
  step: RecordedStep,
  replaying: Pick<Replaying, 'changed' | 'reads' | 'look'>,
): Promise<Found> {
  switch (step.kind) {
    case 'unrecorded':
      return { kind: 'unrecorded', was: null, would: null, reason: UNRECORDED[step.why] };
    case 'start': {
      const { after } = step;
      const deciding = (workflow: Workflow) => starting(step, workflow);
      return decided(step, replaying, [deciding(after.workflow), deciding(replaying.changed)]);
    }
    case 'tool':
      return tool(step, replaying.changed);
    case 'command':
      return command(step, replaying);
  }
}

async function command(
  step: Step<'command'>,
  replaying: Pick<Replaying, 'changed' | 'reads' | 'look'>,
): Promise<Found> {
  const before = step.before as Run;
  const own = (facts: Facts) => decideOrLook(before, step.command, circumstance(step, facts));
  const moved = movedTo(before, replaying.changed);
  const gone = goneFor(step, before, replaying.changed);
  if (typeof moved === 'string' || gone !== null) {
    const then = await settle<Decision>(own, (look) => step.facts[look.id] ?? null);
    const was = then.decision === null ? null : outlook(then.decision);
    return { ...(gone ?? { kind: 'unknown', reason: String(moved) }), was, would: null };
  }
  const changed = (facts: Facts) => decideOrLook(moved, step.command, circumstance(step, facts));
  return decided(step, replaying, [own, changed]);
}

/** Decides twice, under the run's own workflow and under the changed one, and compares. */
async function decided(
  step: Step<'start' | 'command'>,
  replaying: Pick<Replaying, 'reads' | 'look'>,
  [own, changed]: readonly [Deciding<Decision | StartDecision>, Deciding<Decision | StartDecision>],
): Promise<Found> {
  const then = await settle(own, (look) => step.facts[look.id] ?? null);
  const again = then.open.length === 0 ? then.decision : null;
  if (again === null || !isWhatWasRecorded(step, again)) {
    return { kind: 'unknown', was: null, would: null, reason: DRIFTED };
  }
  const was = outlook(again);
  const now = await settle(changed, answersFrom(then.answered, replaying));
  const reason = notAnswered(now.open, then.answered);
  if (now.decision === null) return { kind: 'unknown', was, would: null, reason };
  const would = outlook(now.decision);
  // A check nobody looked at can only add to what refuses: refused without it is refused with it.
  if (now.open.length > 0 && would.verdict !== 'refused')
    return { kind: 'unknown', was, would: null, reason };
  return { ...compared(was, would), was, would };
}

function starting(step: Step<'start'>, workflow: Workflow): Deciding<StartDecision> {
  const start = startingIn(step.after, workflow);
  return (facts) => {
    const around = circumstance(step, facts);
    const looks = checksForStart(start, around);
    return looks.length > 0 ? { looks } : decideStart(start, around);
  };
}

function tool(step: Step<'tool'>, changed: Workflow): Found {
  const before = step.before as Run;
  const verdict = (run: Run) => judgeTool(mine(run, step.by) ? run : null, step.use);
  const own = verdict(before);
  const code = own.allowed ? null : own.blockers[0].code;
  if (own.allowed !== step.allowed || code !== step.code) {
    return { kind: 'unknown', was: null, would: null, reason: DRIFTED };
  }
  const was = toolOutlook(own, isPermissive(before.workflow));
  // Who had no part in the run was judged without it, and without its phase.
  const gone = mine(before, step.by) ? goneFor(step, before, changed) : null;
  if (gone !== null) return { ...gone, was, would: null };
  const would = toolOutlook(verdict({ ...before, workflow: changed }), isPermissive(changed));
  return { ...compared(was, would), was, would };
}

/** What the decision was about and the changed workflow does not have. */
function goneFor(
  step: Step<'command' | 'tool'>,
  before: Run,
  changed: Workflow,
): Pick<Found, 'kind' | 'reason'> | null {
  const asked = step.kind === 'command' ? step.command : null;
  const read = asked?.kind === 'fetch_task' ? asked.phase : null;
  for (const id of [before.phase, read]) {
    if (id === null || phaseById(before.workflow, id) === undefined) continue;
    if (phaseById(changed, id) !== undefined) continue;
    return { kind: 'phase_gone', reason: `the changed workflow has no phase \`${id}\`` };
  }
  const atGate = asked?.kind === 'decide' || asked?.kind === 'expire';
  if (!atGate || before.status !== 'waiting' || before.wait.for !== 'gate') return null;
  if (phaseById(changed, before.phase)?.humanGate !== null) return null;
  return { kind: 'gate_gone', reason: `no human decides behind phase \`${before.phase}\` any more` };
}

/** Who decides and when; a human who decided then had seen what stood there. */
function circumstance(step: Step<'start' | 'command'>, facts: Facts): Circumstance {
  const asked = step.kind === 'command' ? step.command : null;
  const shown = asked?.kind === 'decide' ? { shown: asked.shown } : {};
  const database = step.kind === 'command' ? databaseOf(step) : {};
  return { principal: step.by, now: step.at, facts, ...shown, ...database, ...placeOf(step) };
}

/** The workspace and the measure of it that came with it; those of a start stand in its event. */
function placeOf(step: Step<'start' | 'command'>): { readonly tree?: string; readonly folder?: string } {
  const [first] = step.events;
  const begun = first?.type === 'run_started' ? first : undefined;
  const told = step.kind === 'command' ? step : begun;
  const { tree, folder } = told ?? NOWHERE;
  return { ...(tree === undefined ? {} : { tree }), ...(folder === undefined ? {} : { folder }) };
}

const NOWHERE: { readonly tree?: string; readonly folder?: string } = {};

/** INVARIANT: only where the run's own workflow still gives what is on record can a difference be the change's. */
function isWhatWasRecorded(step: Step<'start' | 'command'>, { verdict, events }: Decided): boolean {
  const turnedAway = step.kind === 'command' ? step.turnedAway : undefined;
  if (turnedAway !== undefined) {
    const codes = verdict.allowed ? [] : verdict.blockers.map((blocker) => blocker.code);
    return events.length === 0 && codes.join() === turnedAway.join();
  }
  const [again, then] = isFromBefore(step)
    ? [events.map(asRecordedBefore), step.events.map(asRecordedBefore)]
    : [events, step.events];
  return jsonEqual(inOneOrder(again), inOneOrder(then));
}

/** Whether the run began under the rules from before every value had an owner. */
function isFromBefore(step: Step<'start' | 'command'>): boolean {
  const [first] = step.events;
  if (first?.type === 'run_started') return first.rules === undefined;
  return step.before?.rules === undefined;
}

/**
 * Recordings list the reasons of a refusal in the order the workflow's file once had, and earlier ones do not name the
 * rules; nothing hangs on either, nor on the lines that rules are written in.
 */
function inOneOrder(events: readonly RunEvent[]): Json {
  return events.map((event) => {
    const { places: _, ...told } = withoutRules(event as unknown as Json) as JsonObject;
    const { blockers } = told;
    return Array.isArray(blockers) ? { ...told, blockers: blockers.map(canonicalJson).sort() } : told;
  });
}

function withoutRules(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutRules);
  if (!isJsonObject(value)) return value;
  const isReason = Object.hasOwn(value, 'nextAction') && Object.hasOwn(value, 'code');
  const kept = Object.entries(value).filter(([key]) => !isReason || key !== 'rule');
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutRules(part)]));
}

type Decided = Decision | StartDecision;

function outlook({ verdict, run }: Decided): Outlook {
  return outlookOf(verdict, run);
}

function notAnswered(open: readonly Look[], then: readonly Answered[]): string {
  const { other = [], nobody = [] } = Object.groupBy(open, (look) =>
    answeredByOtherCode(look, then) ? 'other' : 'nobody',
  );
  const listed = (looks: readonly Look[]) => looks.map(lookName).join(', ');
  return [
    ...(other.length === 0 ? [] : [`other code than now answered then for ${listed(other)}`]),
    ...(nobody.length === 0 ? [] : [`nobody looked then at ${listed(nobody)}`]),
  ].join('; ');
}

/** As the runtime judges: in a run of another's, an agent is judged as without one. */
function mine(run: Run, by: Principal): boolean {
  return by.kind !== 'agent' || run.holder === by.name || holdsAnItem(run, by.name);
}

function isPermissive({ enforcement }: Workflow): boolean {
  return enforcement.mode === 'permissive';
}

function askedFor(step: RecordedStep): string {
  if (step.kind === 'tool') return askedOf(step.use);
  if (step.kind === 'command') return askedIn(step.command);
  return step.kind === 'start' ? 'start the run' : (step.events[0]?.type ?? 'a verdict');
}

const DRIFTED = 'under its own workflow this version decides otherwise than is on record';

const UNRECORDED = {
  not_recorded:
    'what it was made from was not kept: it is older than recordings, or than a migration of the run',
  other_version: 'it is recorded in a form this version does not know',
  too_large: 'what was submitted was too large to be kept',
} as const;
