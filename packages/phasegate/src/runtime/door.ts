import {
  type Command,
  type Decision,
  decideOrLook,
  PhasegateError,
  type Principal,
  phaseById,
  type Run,
  type RunView,
  type Submitted,
  viewFor,
} from '@phasegate/core';
import { holdsAnItem, outcomeOf, recordedRefusal, refuseUnderWay } from '@phasegate/core/engine';
import { failureOf, refusedDatabase } from './attemptFor.ts';
import { drafts, largestRefusal, nameOf } from './auditDrafts.ts';
import { changesHands, NOTHING, overFor, type Past, WholeRun } from './callsOver.ts';
import { COMPLETION_MS, type Seen } from './callsUnderWay.ts';
import { companyOf } from './companyOf.ts';
import { demandFit } from './demandFit.ts';
import { withRestoredFiles } from './guard/guard.ts';
import { providedThat } from './heldAt.ts';
import { demandSame, inItsWords, inSameVisit } from './inSameVisit.ts';
import type { Judged, Judging } from './judging.ts';
import { type Asked, isLastItem, mannerOf, moves, roundsOf, type Scope, scopeOf } from './mannerOf.ts';
import type { Around, AuditDraft, Beside, CallRecord, LeaseChange, LeaseRecord, StoredRun } from './ports.ts';
import type { Rendering } from './rendering.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { NO_COPY, type StagedCopy, stagedCopy } from './stagedCopy.ts';
import { timeFor } from './timeFor.ts';

/**
 * The one way in which a run is changed, by any caller and on any surface: calls under way are waited for or
 * ended, the engine decides, and run, lease, token and audit are written together, or nothing is.
 */
export interface Door {
  submit(runId: string, asked: Asked, how: Submitting): Promise<Kept>;
  /** Reads what a submission of it begins with, all at once: for stores that are asked over a wire. */
  lookAhead(runId: string, asked: Asked): Promise<Ahead>;
}

/** What was read for a submission right before it. What changes in between shows when the decision is saved. */
export interface Ahead {
  readonly stored: StoredRun;
  readonly seen: Seen;
}

/** Who submits, and what goes with it. */
export interface Submitting extends Around {
  readonly principal: Principal;
  /** The run as it was shown to the one who decides: counts if it is saved over, else it is loaded anew. */
  readonly loaded?: StoredRun | undefined;
  readonly ahead?: Ahead | undefined;
  /** Called with the decision, before it is saved; called again when it has to be decided once more. */
  readonly beside?: (before: Run, decision: Judged) => Companions | Promise<Companions>;
}

/** What is written in the same transaction as a decision. */
export interface Companions {
  readonly leases?: readonly LeaseChange[];
  /** For the run's chain. */
  readonly notes?: readonly AuditDraft[];
  /** The lease it was decided by, where it must still be that one. */
  readonly seen?: LeaseRecord;
}

/** What came of a submission, and the run after it. */
export interface Kept {
  readonly submitted: Submitted;
  readonly run: Run;
}

/** What the door is built from. */
export interface DoorParts extends Omit<RuntimeParts, 'hear'> {
  load(runId: string): Promise<StoredRun>;
  readonly judging: Judging;
  readonly renderSaved: Rendering['renderSaved'];
  hear(run: Run, principal: Principal): void;
}

/** Builds the door. */
export function createDoor(parts: DoorParts): Door {
  const { store, calls, load, judging } = parts;

  /** One call is one transaction with the expected version; on a conflict it is decided once more on fresh state. */
  async function submit(runId: string, asked: Asked, how: Submitting): Promise<Kept> {
    if ('kind' in asked) demandFit(asked);
    // INVARIANT: what a migration was proven by, and a workspace measured by, is nobody's word but that of those who did.
    if ('kind' in asked && (asked.kind === 'migrate' || asked.kind === 'fence'))
      throw new PhasegateError('not_permitted', 'a run is migrated by `migrate` only, and fenced by `fence`');
    // Counted from here: who has to wait for others that wait does not wait anew after them.
    const until = uptimeMs() + (parts.waits?.completionMs ?? COMPLETION_MS);
    const readAhead = how.ahead?.stored.run;
    try {
      const decided = await whileClosed(runId, asked, { ...how, readAhead, until, scope: scopeOf(asked) });
      // An item turned out to be the last: everyone's calls have to be waited for.
      const whole = { ...how, readAhead, ahead: undefined, until, scope: null };
      return decided ?? (await whileClosed(runId, asked, whole)) ?? changed(runId);
    } finally {
      await parts.guard?.release(runId, how.principal);
    }
  }

  /** Nobody new comes in while an agent's command waits and is looked at. Null where more has to be closed. */
  async function whileClosed(runId: string, asked: Asked, how: Scoped): Promise<Kept | null> {
    const { scope } = how;
    const closing = closes(runId, asked, how);
    // At once, where it can be: the one who submits first closes the run first.
    const isClosing = typeof closing === 'boolean' ? closing : await closing;
    // Who waits for another's command waits for it to change the run.
    const ahead = isClosing && calls.isClosed(runId, scope) ? undefined : how.ahead;
    const reopen = isClosing ? await calls.close(runId, scope) : () => undefined;
    try {
      return await decideInRounds(runId, asked, { ...how, ahead });
    } catch (error) {
      if (error instanceof WholeRun && scope !== null) return null;
      throw error;
    } finally {
      reopen();
    }
  }

  /** A human waits for nobody's checks, and a stranger keeps nobody out: it is refused, or decided once more. */
  function closes(runId: string, asked: Asked, how: Scoped): boolean | Promise<boolean> {
    const { kind, name } = how.principal;
    if (how.scope === undefined || kind !== 'agent' || 'make' in asked || mannerOf(asked) !== 'waits')
      return false;
    const isHeld = (run: Run) => run.holder === name || holdsAnItem(run, name);
    const run = how.readAhead ?? store.peek?.(runId, null).run;
    return run === undefined ? load(runId).then((stored) => isHeld(stored.run)) : isHeld(run);
  }

  async function decideInRounds(runId: string, asked: Asked, how: Scoped): Promise<Kept> {
    let lost = false;
    let { loaded, ahead } = how;
    for (let left = roundsOf(asked); left > 0; left--) {
      const came = await tryOnce(runId, asked, { ...how, loaded, ahead, lost, last: left === 1 });
      if (typeof came !== 'string') return came;
      if (came === 'given_up') break;
      // Waiting is not a conflict: the run is looked at afresh, as if it had been asked for now. So with what was read ahead.
      if (came === 'waited' || ahead !== undefined) left += 1;
      loaded = undefined;
      ahead = undefined;
      lost = came === 'lost';
      // Perhaps for its token alone: then that is what it hears.
      if (lost) await how.admitted?.demandStill?.();
    }
    return changed(runId);
  }

  async function tryOnce(runId: string, asked: Asked, how: Trying): Promise<Kept | Fruitless> {
    const { stored, seen } = how.ahead ?? (await lookAt(runId, how));
    const { run, version } = stored;
    const command = await commandFor(run, asked, how);
    const manner = how.last && mannerOf(command) === 'clears' ? 'ends' : mannerOf(command);
    if (
      seen.under.length > 0 &&
      manner !== 'ends' &&
      (how.lost || goesThrough(run, command, how.principal))
    ) {
      const inTheWay = await settle(run, { manner, seen }, how);
      if (inTheWay.length > 0) return refuse(run, command, { ...how, inTheWay });
      return manner === 'waits' ? 'waited' : 'lost';
    }
    return decideOnce({ run, version }, command, { ...how, seen, manner });
  }

  /** In any order: a call that is begun, and a run that is changed, after this is seen when the run is saved. */
  async function lookAt(runId: string, { scope, loaded }: Pick<Scoped, 'scope' | 'loaded'>): Promise<Ahead> {
    const [seen, stored] = await Promise.all([
      scope === undefined ? NOTHING : calls.look(runId, scope),
      loaded ?? load(runId),
    ]);
    return { stored, seen };
  }

  async function decideOnce(
    { run, version }: StoredRun,
    command: Command,
    how: Trying & Past,
  ): Promise<Kept | Fruitless> {
    // Programs are over by now: what they did to the guard's own files is undone before their work counts.
    const restored = handsInWork(command) ? ((await parts.guard?.settle(run.id)) ?? []) : [];
    // What is refused as it stands needs no copy of a database: others would wait for their turn on it.
    const needsCopy = how.attempt !== undefined || !isRefusedAsItIs(run, command, how.principal);
    const copy = needsCopy ? await stagedCopy(parts, run, { command, given: how.attempt }) : NO_COPY;
    try {
      const kept = await decideAndKeep({ run, version }, command, { ...how, copy });
      if (kept !== null) return { ...kept, submitted: withRestoredFiles(kept.submitted, restored) };
    } finally {
      await copy.end();
    }
    // What a handler wrote to the copy would be there twice: it is done anew on another.
    const isHandled = phaseById(run.workflow, run.phase)?.work.kind === 'handler';
    return how.attempt !== undefined && isHandled ? 'given_up' : 'lost';
  }

  async function commandFor(run: Run, asked: Asked, how: Scoped): Promise<Command> {
    if (typeof how.scope === 'string' && isLastItem(run, how.scope)) throw new WholeRun();
    demandSame(run, how);
    const command = 'make' in asked ? await asked.make(run) : inItsWords(run, inSameVisit(run, asked));
    if (command.kind !== 'decide' && command.kind !== 'override') return command;
    return signedDecision(run, command, how.principal);
  }

  /** Has the calls ended or waits for them, as the command wants it; gives those that stay in its way. */
  async function settle(
    run: Run,
    { manner, seen }: Past,
    { scope = null, until }: Trying,
  ): Promise<readonly CallRecord[]> {
    if (manner === 'clears') {
      await calls.end(run.id, scope);
      return [];
    }
    const around = calls.around(seen.under);
    if (around.length > 0) return around;
    if (manner === 'asks_once') return seen.under;
    return (await calls.wait(run.id, scope, until - uptimeMs())).under;
  }

  /** Null where someone else changed the run meanwhile. */
  async function decideAndKeep(
    { run, version }: StoredRun,
    command: Command,
    how: Scoped & Past & { readonly copy: StagedCopy },
  ): Promise<Kept | null> {
    const { principal, copy } = how;
    const judged = await judging.judge(run, command, how).catch(refusedDatabase);
    if (typeof judged === 'string') {
      const failure: Command = { ...failureOf(command), reason: judged };
      return decideAndKeep({ run, version }, failure, { ...how, copy: NO_COPY });
    }
    // Nothing will be saved that would tell whether the run is still as it was loaded.
    if (how.loaded !== undefined && judged.events.length === 0) return null;
    const beside = await how.beside?.(run, judged);
    // What was found against its work stands, whatever became of its token: else an agent could have failures forgotten.
    const by = judged.verdict.allowed ? how.admitted : undefined;
    const provided = providedThat(overFor(run, judged.run, how), by);
    const save = () => keep(run, version, { decision: judged, beside, provided });
    if (!(await (parts.fence?.around({ before: run, after: judged.run, save }) ?? save()))) return null;
    await copy.settle(judged);
    // From now on no call begins that the run allowed before; those that did are ended, wherever they go on.
    if (how.manner === 'ends' && judged.verdict.allowed) {
      if (moves(run, judged.run)) await calls.end(run.id, null);
      else await calls.end(run.id, how.scope ?? null, (call) => changesHands(call, run, judged.run));
    }
    parts.hear(judged.run, principal);
    return { submitted: await submitted(run, judged, principal), run: judged.run };
  }

  /** What is told is made when it is read: a runner that only wants the verdict pays for no text. */
  async function submitted(
    before: Run,
    decision: Decision & { readonly command: Command },
    principal: Principal,
  ): Promise<Submitted> {
    const rendered = await parts.renderSaved(decision.run, principal);
    let view: RunView | undefined;
    let outcome: Submitted['outcome'] | undefined;
    return {
      verdict: decision.verdict,
      get view() {
        view ??= viewFor(decision.run, principal, rendered);
        return view;
      },
      get outcome() {
        outcome ??= outcomeOf(before, decision.command, decision);
        return outcome;
      },
    };
  }

  async function keep(
    before: Run,
    version: number,
    { decision, beside = {}, provided }: Keeping,
  ): Promise<boolean> {
    const { events, verdict, run, by } = decision;
    if (events.length > 0) {
      const recording = verdict.allowed
        ? decision.recording
        : { ...decision.recording, largest: largestRefusal(version) };
      const audit = [...drafts(events, by, recording), ...(beside.notes ?? [])];
      const company = companyOf({ before, after: run }, by, beside);
      return store.save(run, version, audit, { ...company, ...provided });
    }
    if (verdict.allowed) return true;
    const { command, recording } = decision;
    const blockers = verdict.blockers.map(({ code, message }) => ({ code, message }));
    // The chain may have grown since the run was read, and a proof from both together is one of no state at all.
    if (command.kind === 'migrate' && (await load(run.id)).version !== version) return false;
    const proof = command.kind === 'migrate' ? {} : recordedRefusal(recording, verdict.blockers);
    await noteRefused(run, by, { command: command.kind, blockers, ...proof });
    return true;
  }

  /** Calls are in the way: nothing was decided, so nothing of the command is recorded but that it came. */
  async function refuse(
    run: Run,
    command: Command,
    { principal, inTheWay }: Scoped & { readonly inTheWay: readonly CallRecord[] },
  ): Promise<Kept> {
    const decision = refuseUnderWay(run, inTheWay, { inside: calls.around(inTheWay).length > 0 });
    const { verdict } = decision;
    // The engine asks again by itself, every second if need be.
    if (!verdict.allowed && principal.kind !== 'engine') {
      const blockers = verdict.blockers.map(({ code, message }) => ({ code, message }));
      await noteRefused(run, principal, { command: command.kind, blockers });
    }
    parts.hear(run, principal);
    return { submitted: await submitted(run, { ...decision, command }, principal), run };
  }

  async function noteRefused(run: Run, by: Principal, data: AuditDraft['data']): Promise<void> {
    const time = timeFor(parts.now, run);
    await store.note(run.id, [{ time, principal: nameOf(by), event: 'command_refused', data }]);
  }

  /** A decision that its human signed, with what of the votes before it still counts. */
  async function signedDecision(
    run: Run,
    given: Extract<Command, { kind: 'decide' | 'override' }>,
    principal: Principal,
  ): Promise<Command> {
    const unsaid = { voided: undefined, madeBy: undefined };
    const { voided: _, madeBy: _made, ...command } = { ...unsaid, ...given };
    if (principal.kind !== 'human') return command;
    if (await parts.signed(run, principal, command)) {
      return command.kind === 'decide' ? { ...command, ...(await parts.votes?.(run)) } : command;
    }
    const data = { run: run.id, verb: command.kind, human: principal.name };
    const by = { time: timeFor(parts.now, run), principal: nameOf(principal) };
    await store.note(null, [{ ...by, event: 'credential_failed', data }]);
    throw new PhasegateError('credential_invalid', `the decision is not signed by \`${principal.name}\``);
  }

  /** Whether the command may change anything: one that is refused as things stand need not wait for anybody. */
  function goesThrough(run: Run, command: Command, principal: Principal): boolean {
    const step = decidedAtOnce(run, command, principal);
    return step === null || step.verdict.allowed || step.run.status !== run.status;
  }

  function isRefusedAsItIs(run: Run, command: Command, principal: Principal): boolean {
    // Only a copy of a database is spared by it, so only then is it worth deciding twice.
    if (run.workflow.database === undefined || command.kind !== 'complete') return false;
    return decidedAtOnce(run, command, principal)?.verdict.allowed === false;
  }

  /** What the engine says without looking at anything; null where it has to look. */
  function decidedAtOnce(run: Run, command: Command, principal: Principal): Decision | null {
    // What is shown at a gate is not known here.
    if (command.kind === 'decide') return null;
    const step = decideOrLook(run, command, { principal, now: timeFor(parts.now, run), facts: {} });
    return 'looks' in step ? null : step;
  }

  return { submit, lookAhead: (runId, asked) => lookAt(runId, { scope: scopeOf(asked) }) };
}

interface Scoped extends Submitting {
  /** Says whose run it is, also once what was read with it no longer counts; a store that is near is asked instead. */
  readonly readAhead: Run | undefined;
  readonly scope: Scope;
  /** When waiting ends, on the clock that never goes back. */
  readonly until: number;
}

interface Trying extends Scoped {
  /** Somebody else was faster the last time: a call may have come in between. */
  readonly lost: boolean;
  readonly last: boolean;
}

type Fruitless = 'waited' | 'lost' | 'given_up';

/** A decision with what is to be written beside it. */
interface Keeping {
  readonly decision: Judged;
  readonly beside: Companions | undefined;
  /** What must still be so when it is written. */
  readonly provided: Pick<Beside, 'calls' | 'held'>;
}

function handsInWork({ kind }: Command): boolean {
  return kind === 'complete' || kind === 'report_failure';
}

function changed(runId: string): never {
  throw new PhasegateError('run_changed', `run \`${runId}\` was changed by someone else at the same time`, {
    hint: `phasegate status ${runId}`,
  });
}

/** A clock nobody puts back. Not `performance`, whose module a short-lived process would load for this alone. */
function uptimeMs(): number {
  return process.uptime() * 1000;
}
