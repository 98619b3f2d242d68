import {
  type Command,
  decide,
  type JsonObject,
  type Phasegate,
  PhasegateError,
  type Principal,
  type Run,
  type RunView,
  type ToolUse,
  type Verdict,
  viewFor,
} from '@phasegate/core';
import {
  holdsAnItem,
  overviewOf,
  phaseAnswer,
  type SkippedPhase,
  withoutRecording,
} from '@phasegate/core/engine';
import { attachmentOf } from '@phasegate/core/model';
import { type AskedBy, askedWith, judgedData, nameOf } from './auditDrafts.ts';
import { demandHere, demandInFolder, isElsewhere } from './boundFolder.ts';
import { createDoor, type Door, type Submitting } from './door.ts';
import { ENGINE } from './engine.ts';
import { keptWaitingBy, withHolder } from './fence/workspaceHolder.ts';
import { timeAtGate } from './gateClock.ts';
import { heldAt } from './heldAt.ts';
import { judgeProtected } from './judgeProtected.ts';
import { createJudging } from './judging.ts';
import { recordLate } from './lateRefusal.ts';
import { movedLease } from './leases/leaseTerms.ts';
import { maskedCommand } from './masking.ts';
import { createPlacedDenials } from './placedDenials.ts';
import type { Admitted, Around, AuditDraft, CallRecord, StoredRun } from './ports.ts';
import { createPresence } from './presence.ts';
import { createRendering } from './rendering.ts';
import { createRepeatedDenials } from './repeatedDenials.ts';
import { demandRole } from './roles.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { type ShownCard, shownCard } from './shownCard.ts';
import { RING, startRun } from './startRun.ts';
import { timeFor } from './timeFor.ts';
import { tokenRefused } from './tokens/tokenFaults.ts';
import { toldAs } from './toldAs.ts';
import type { Judging } from './toolbox.ts';
import { unknownRun } from './unknownRun.ts';

/** The runtime: shows runs, judges tool calls, and has the door change what is changed. */
export interface Runtime extends Pick<Door, 'submit'> {
  as(principal: Principal, around?: Around & Pick<Submitting, 'loaded'>): Phasegate;
  /**
   * As `judgeTool`, for the holder of a token: the run must still be in the token's epoch, else `token_dead`. With a
   * call that is to be carried out, that call is under way from the moment the verdict that allows it is on record.
   */
  judge(admitted: Admitted, use: ToolUse, how?: Judging): Promise<Verdict>;
  /**
   * The verdict on all that one call of a client comes to: refused where anything of it is. It is given to `keep` with
   * its notes and the epoch it was judged in, and stands only where that says that it was kept.
   */
  judgeTogether(run: Run | null, uses: readonly AskedUse[], how: JudgedTogether): Promise<Verdict | null>;
  /** The run as it is now for a principal who may see it: a gate whose time is up is closed, and its lease renewed. */
  attend(runId: string, principal: Principal): Promise<Run>;
  /** The run as a principal may see it, by one who is not there: no lease is renewed, no gate closed, no text rendered. */
  look(runId: string, principal: Principal): Promise<RunView>;
  /** What stands at the gate now, with the hash a human's decision must carry and the run it was made of. */
  card(runId: string): Promise<(ShownCard & { readonly of: StoredRun | undefined }) | null>;
}

/** One use, with a verdict where it needs no engine to refuse it. */
export interface AskedUse {
  readonly use: ToolUse;
  readonly verdict?: Verdict;
}

/** How uses are judged together. */
export interface JudgedTogether {
  readonly principal: Principal;
  /** What every note says beside. */
  readonly told: JsonObject;
  keep(verdict: Verdict, notes: readonly AuditDraft[]): Promise<boolean>;
}

/** Builds the runtime. All effects go through the parts; the engine decides. */
export function createRuntime(parts: RuntimeParts): Runtime {
  const { store } = parts;
  const { render, renderSaved } = createRendering(parts);
  const judging = createJudging(parts);
  const denials = createRepeatedDenials();
  const { withPlaces } = createPlacedDenials(store);
  const time = (run: Run | null) => timeFor(parts.now, run);

  async function load(runId: string): Promise<StoredRun> {
    const stored = await store.load(runId);
    if (stored === undefined) throw await unknownRun(store, runId);
    return stored;
  }

  function hear(run: Run, principal: Principal): void {
    if (parts.hear !== undefined && principal.kind === 'agent') parts.hear(run, principal.name);
  }

  const door = createDoor({ ...parts, load, judging, renderSaved, hear });
  const presence = createPresence(store, door);
  type Asked = Parameters<typeof door.submit>[1];
  const submit: typeof door.submit = async (runId, asked, how) => {
    const isAgent = how.principal.kind === 'agent';
    // At once, where it can be.
    const isAhead = isAgent && store.peek === undefined && how.loaded === undefined;
    const ahead = isAhead ? await door.lookAhead(runId, asked) : undefined;
    const before = ahead?.stored.run ?? store.peek?.(runId, null).run ?? (await load(runId)).run;
    // An agent is not made to wait for it: the one who submits first closes the run to calls first.
    if (how.principal.kind === 'human') await demandApprover(how.principal);
    const command = how.principal.kind === 'human' ? await permitted(asked, how.principal) : asked;
    demandInFolder(parts, before, asked);
    const isParked = isAgent && before.status === 'active' && (await parkUnhooked(before, true));
    const given = isParked ? how : { ...how, ahead };
    const decided = () => door.submit(runId, masked(command), withFiles(parts.fence, given));
    const answer = await late(how.admitted, parts.fence?.during(runId, decided) ?? decided());
    if (isAgent && 'kind' in asked && asked.kind === 'claim')
      await presence.demand(answer.run, how.principal.name, asked.item);
    // What others let a run enter, its agent was not asked about.
    if (!isAgent && answer.run.status === 'active' && answer.run !== before)
      await parkUnhooked(answer.run, false);
    const { submitted, run } = answer;
    const verdict = await withPlaces(run, submitted.verdict);
    return verdict === submitted.verdict ? answer : { ...answer, submitted: toldAs(submitted, verdict) };
  };
  /** INVARIANT: a token that is refused is on record, also where it died after its holder was let in. */
  function late<T>(admitted: Admitted | undefined, answer: Promise<T>): Promise<T> {
    if (admitted === undefined) return answer;
    return answer.catch((error: unknown) => recordLate({ store, time: time(null) }, admitted, error));
  }

  /** INVARIANT: who may only look changes no run, by whatever door. */
  async function demandApprover({ kind, name }: Principal): Promise<void> {
    if (kind === 'human') await demandRole(store, { name }, { least: 'approver', what: 'this' });
  }

  /** INVARIANT: only an admin leads a run past a phase, by whatever door. */
  async function permitted(asked: Asked, { name }: Principal): Promise<Asked> {
    const demanded = async (command: Command) => {
      if (command.kind === 'override')
        await demandRole(store, { name }, { least: 'admin', what: 'an override' });
      return command;
    };
    if ('make' in asked) return { make: async (run) => demanded(await asked.make(run)) };
    await demanded(asked);
    return asked;
  }

  /** INVARIANT: no phase is worked on by an agent that is attached less closely than its workflow asks for. */
  async function parkUnhooked(run: Run, isAtWork: boolean): Promise<boolean> {
    if (attachmentOf(run.workflow.enforcement.ring) !== 'hooked') return false;
    const message = (await parts.hooked?.problem(run, isAtWork)) ?? null;
    if (message === null) return false;
    await door.submit(run.id, { kind: 'escalate', reason: 'ring_too_low', message }, { principal: ENGINE });
    return true;
  }

  /** INVARIANT: masked before the engine sees it, so that run, audit, card and answer hold the same. */
  function masked(asked: Asked): Asked {
    const { masking } = parts;
    if (masking === undefined) return asked;
    if (!('make' in asked)) return maskedCommand(asked, masking);
    return { make: async (run) => maskedCommand(await asked.make(run), masking) };
  }

  /** A gate whose time is up is closed by the one who looks next. */
  async function attend(runId: string, principal: Principal): Promise<Attended> {
    const stored = await load(runId);
    const { run } = stored;
    demandSight(run, principal);
    hear(run, principal);
    if (run.status !== 'waiting' || isElsewhere(parts, run)) return { run, stored };
    const now = await timeAtGate(parts, run, time(run));
    const { events } = decide(run, { kind: 'expire' }, { principal: ENGINE, now, facts: {} });
    if (events.length === 0) return { run, stored };
    return { run: (await submit(runId, { kind: 'expire' }, { principal: ENGINE })).run };
  }

  /** Reading ahead changes nothing, and is on record all the same. */
  async function noteSkipped(run: Run, { message }: SkippedPhase, by: Principal): Promise<void> {
    const data = { command: 'get_phase', blockers: [{ code: 'phase_sequence_violation', message }] };
    const event = 'command_refused' as const;
    await store.note(run.id, [{ time: time(run), principal: nameOf(by), event, data }]);
  }

  /** Hands a run to a human whose agent asks for the same again and again. Nobody waits for it: a call is under way. */
  function park(run: Run, use: ToolUse, verdict: Verdict): void {
    const message = denials.heard(run, use, verdict);
    if (message === null || run.status !== 'active') return;
    const command = { kind: 'escalate', reason: 'refusals', message } as const;
    submit(run.id, command, { principal: ENGINE }).catch(() => undefined);
  }

  /** The verdict on one call, in the run or in none, and the note of it. On the path of every tool call. */
  async function judged(run: Run | null, use: ToolUse, asked: AskedBy) {
    const { principal, given, anywhere = false } = asked;
    if (run !== null && !anywhere) demandHere(parts, run);
    const mine = run === null || principal.kind !== 'agent' || isHeldBy(run, principal.name);
    const found = given ?? judgeProtected(parts.databases, mine ? run : null, use);
    const verdict = found instanceof Promise ? await found : found;
    const permissive = given === undefined && run?.workflow.enforcement.mode === 'permissive';
    const told = judgedData(run, use, verdict);
    const data = parts.masking?.mask(told) ?? told;
    const event = 'tool_judged' as const;
    const note = {
      time: time(run),
      principal: nameOf(principal),
      event,
      data: { ...data, ...askedWith(asked, verdict) },
    };
    const through: Verdict = verdict.allowed || !permissive ? verdict : letThrough(verdict);
    // Let through, it is not a denial to anyone.
    if (run !== null && mine) park(run, use, through);
    return { verdict: through, note };
  }

  async function judgeUse(run: Run | null, use: ToolUse, by: AskedBy): Promise<Verdict> {
    return onRecord(run, await judged(run, use, by));
  }

  /**
   * INVARIANT: the verdict is on disk, for the epoch it was judged in, before anyone acts on it; and where it was asked for
   * with a token, while that token is good.
   */
  async function onRecord(
    run: Run | null,
    { verdict, note }: Awaited<ReturnType<typeof judged>>,
    admitted?: Admitted,
  ): Promise<Verdict> {
    const judgedAt = run === null || admitted === undefined ? run?.epoch : heldAt(admitted);
    const kept = await store.note(run === null ? null : run.id, [note], judgedAt);
    if (!kept) {
      await admitted?.demandStill?.();
      throw new PhasegateError('run_changed', 'the phase changed while the call was judged');
    }
    const isPlain = verdict.allowed && verdict.wouldRefuse === undefined;
    return run === null || isPlain ? verdict : withPlaces(run, verdict);
  }

  /** INVARIANT: a call is under way for all to see with its verdict, in the very state it was judged in, or not at all. */
  async function judgeCall(admitted: Admitted, use: ToolUse, call: CallRecord): Promise<Verdict> {
    const { runId, epoch, principal, jti } = admitted;
    for (let round = 0; round < ROUNDS; round++) {
      const { run, version } = await load(runId);
      if (run.epoch !== epoch) throw tokenRefused('dead_epoch');
      const found = await judged(run, use, { principal, jti, call: call.id });
      // Judged once: a second look could allow what is then not under way.
      if (!found.verdict.allowed) return onRecord(run, found, admitted);
      if (await parts.calls.begin(call, version, [found.note], heldAt(admitted))) return found.verdict;
      await admitted.demandStill?.();
    }
    throw new PhasegateError('run_changed', 'the run changed again and again while the call was judged');
  }

  return {
    async card(runId) {
      const { run, stored } = await attend(runId, ENGINE);
      if (run.status === 'waiting') demandHere(parts, run);
      const found = await shownCard(parts, run);
      return found === null ? null : { ...found, of: stored };
    },
    submit,
    async look(runId, principal) {
      const { run } = await load(runId);
      demandSight(run, principal);
      return viewFor(run, principal);
    },
    async attend(runId, principal) {
      const { run } = await attend(runId, principal);
      if (run.phase !== null) demandHere(parts, run);
      return run;
    },
    async judge(admitted, use, { call, run: loaded } = {}) {
      if (call !== undefined) return judgeCall(admitted, use, call);
      const { runId, epoch, principal, jti } = admitted;
      const run = loaded ?? store.peek?.(runId, null).run ?? (await load(runId)).run;
      const judging = async () => {
        if (run.epoch !== epoch) throw tokenRefused('dead_epoch');
        return onRecord(run, await judged(run, use, { principal, jti }), admitted);
      };
      return late(admitted, judging());
    },
    async judgeTogether(run, uses, { principal, told, keep }) {
      const found = [];
      for (const { use, verdict } of uses)
        found.push(await judged(run, use, { principal, given: verdict, anywhere: true }));
      const notes = found.map(({ note }) => ({ ...note, data: { ...note.data, ...told } }));
      const refusal = found.find(({ verdict }) => !verdict.allowed)?.verdict;
      const verdict: Verdict = refusal ?? { allowed: true };
      return (await keep(verdict, notes)) ? verdict : null;
    },
    as: (principal, around = {}) => ({
      start: async (request) => {
        await demandApprover(principal);
        const started = await startRun(
          parts,
          { timeFor: time, lookAll: judging.lookAll, renderSaved },
          {
            request,
            principal,
            ring: around.ring ?? RING,
          },
        );
        if (principal.kind === 'agent' && started.view !== null)
          await presence.demand((await load(started.view.run)).run, principal.name);
        return started;
      },
      async view(runId) {
        const { run } = await attend(runId, principal);
        const view = viewFor(run, principal, await render(run, principal));
        return withHolder(view, await keptWaitingBy(store, run, parts.folder));
      },
      async phase(runId, requested) {
        const { run } = await attend(runId, principal);
        const answer = phaseAnswer(run, requested, await render(run, principal));
        if (!answer.ok) await noteSkipped(run, answer.skipped, principal);
        return answer;
      },
      overview: async (runId) => overviewOf((await attend(runId, principal)).run.workflow),
      async submit(runId, command) {
        const beside = (before: Run, { run: after }: { readonly run: Run }) =>
          movedLease({ before, after }, { principal, now: parts.now() });
        return (await submit(runId, command, { principal, beside, ...around })).submitted;
      },
      async runs({ held = false, ...query } = {}) {
        const wanted = held ? { ...query, holder: principal.name } : query;
        if (principal.kind !== 'agent') return store.list(wanted);
        return store.list({ ...wanted, seenBy: principal.name });
      },
      async judgeTool(runId, use) {
        const stored = runId === null ? null : await load(runId);
        const run = stored === null ? null : stored.run;
        if (run !== null) hear(run, principal);
        return judgeUse(run, use, { principal });
      },
      async history(runId, page = {}) {
        if (runId !== null) await attend(runId, principal);
        else if (principal.kind === 'agent')
          throw new PhasegateError('not_permitted', "the project's own audit is a human's to read");
        const { after = 0, limit = 1000, ...reading } = page;
        const records = await store.history(runId, { after, limit, ...reading });
        // INVARIANT: what lies ahead, and what others were refused, is not an agent's to read.
        return principal.kind === 'agent' ? records.map(withoutRecording) : records;
      },
    }),
  };
}

/** A run that was looked at, and as it was loaded where nothing was changed by looking. */
interface Attended {
  readonly run: Run;
  readonly stored?: StoredRun;
}

/** How often a call is judged again while others write the same run. */
const ROUNDS = 50;

/** INVARIANT: an agent sees no run that another agent holds, whichever way it asks. */
function demandSight(run: Run, principal: Principal): void {
  if (principal.kind !== 'agent' || run.holder === null || isHeldBy(run, principal.name)) return;
  throw new PhasegateError('not_permitted', `run \`${run.id}\` is held by another agent`);
}

/** An agent may see a run, and have tools judged in it, that it holds or holds an item of. */
function isHeldBy(run: Run, agent: string): boolean {
  return run.holder === agent || holdsAnItem(run, agent);
}

/** INVARIANT: what a phase ended with is on the chain in the transaction that leaves it. */
function withFiles(fence: RuntimeParts['fence'], how: Submitting): Submitting {
  if (fence === undefined) return how;
  return {
    ...how,
    async beside(before, decision) {
      const given = await how.beside?.(before, decision);
      return { ...given, notes: [...(given?.notes ?? []), ...(await fence.notesOf(before, decision))] };
    },
  };
}

/** Refused, and let pass all the same: that is what permissive mode is for. */
function letThrough({ blockers }: Verdict & { readonly allowed: false }): Verdict {
  return { allowed: true, wouldRefuse: blockers };
}
