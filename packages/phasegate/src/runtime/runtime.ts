import {
  answerFor,
  type Circumstance,
  type Command,
  type Decision,
  decide,
  decideOrLook,
  type Fact,
  type Facts,
  findPhase,
  holdsAnItem,
  type JsonObject,
  judgeTool,
  type Look,
  overviewOf,
  type Phasegate,
  PhasegateError,
  type Principal,
  phaseAnswer,
  phaseById,
  type Recording,
  type Run,
  recordedRefusal,
  type Submitted,
  type ToolUse,
  type Verdict,
  viewFor,
  type Workflow,
  withoutRecording,
} from '@phasegate/core';
import { failureOf, refusedDatabase } from './attemptFor.ts';
import { drafts, judgedData, largestRefusal, nameOf } from './auditDrafts.ts';
import { companyOf } from './companyOf.ts';
import { demandFit } from './demandFit.ts';
import { inSameVisit } from './inSameVisit.ts';
import { instantOf } from './instantOf.ts';
import { CodeChanged, type Looking, lookAt } from './look.ts';
import type { Admitted, Around, AuditDraft, CheckImplementation, LeaseChange, StoredRun } from './ports.ts';
import { createRendering, modulePath } from './rendering.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { type ShownCard, shownCard } from './shownCard.ts';
import { NO_COPY, type StagedCopy, stagedCopy } from './stagedCopy.ts';
import { startRun } from './startRun.ts';
import { tokenRefused } from './tokenFaults.ts';

/** The runtime: loads the run, has the checks looked at, asks the engine, saves. */
export interface Runtime {
  as(principal: Principal, around?: Around): Phasegate;
  /** As `as(principal).submit`, with what is to be written beside the run. Gives the run as it is now, too. */
  submit(runId: string, command: Command, how: Submitting): Promise<Kept>;
  /** As `judgeTool`, for the holder of a token: the run must still be in the token's epoch, else `token_dead`. */
  judge(admitted: Admitted, use: ToolUse): Promise<Verdict>;
  /** What stands at the gate now, with the hash a human's decision must carry. */
  card(run: Run): Promise<ShownCard | null>;
}

/** Who submits, and what goes with it. */
export interface Submitting extends Around {
  readonly principal: Principal;
  /** Of the token it comes with: a run that moved on refuses it with `token_dead`. */
  readonly epoch?: number;
  /** Called with the decision, before it is saved; called again when it has to be decided once more. */
  readonly beside?: (before: Run, decision: Decision) => Companions;
}

/** What is written in the same transaction as a decision. */
export interface Companions {
  readonly leases?: readonly LeaseChange[];
  /** For the run's chain. */
  readonly notes?: readonly AuditDraft[];
}

/** What came of a submission, and the run after it. */
export interface Kept {
  readonly submitted: Submitted;
  readonly run: Run;
}

/** The engine itself, where it acts on its own. */
export const ENGINE: Principal = { kind: 'engine', name: 'phasegate' };

/** Builds the runtime. All effects go through the parts; the engine decides. */
export function createRuntime(parts: RuntimeParts): Runtime {
  const { store } = parts;
  const { render, renderSaved } = createRendering(parts);
  let shelf: Promise<ReadonlyMap<string, CheckImplementation>> | undefined;
  const checks = () => {
    shelf ??= parts.checks().then((list) => new Map(list.map((check) => [check.name, check])));
    return shelf;
  };

  const looking = (workflow: Workflow, copy: string | null): Looking => ({
    checks,
    functions: parts.functions,
    workspace: parts.workspace,
    module: modulePath(parts.workspace, workflow.module),
    database: copy ?? modulePath(parts.workspace, workflow.database?.file ?? null),
  });

  /** INVARIANT: time never goes back past what the run has seen, whatever the clock does. */
  const timeFor = (run: Run | null) => {
    const clock = instantOf(parts.now());
    return run !== null && run.updatedAt > clock ? run.updatedAt : clock;
  };

  async function load(runId: string): Promise<StoredRun> {
    const stored = await store.load(runId);
    if (stored === undefined)
      throw new PhasegateError('run_unknown', `there is no run \`${runId}\``, { hint: 'phasegate runs' });
    return stored;
  }

  /** Looks of one round do not depend on each other. */
  async function lookAll(
    looks: readonly Look[],
    workflow: Workflow,
    facts: Record<string, Fact>,
    copy: string | null = null,
  ): Promise<void> {
    const around = looking(workflow, copy);
    const answers = await Promise.all(looks.map((look) => lookAt(look, around)));
    looks.forEach((look, index) => {
      facts[look.id] = answers[index] as Fact;
    });
  }

  async function judgeCommand(
    run: Run,
    command: Command,
    {
      principal,
      copy,
      known = {},
    }: { readonly principal: Principal; readonly copy: StagedCopy; readonly known?: Facts },
  ): Promise<Judged> {
    const bare: Circumstance = { principal, now: timeFor(run), facts: {}, ...(await shownFor(run, command)) };
    try {
      const facts: Record<string, Fact> = { ...known };
      for (;;) {
        const step = decideOrLook(run, command, { ...bare, ...copy.known(), facts });
        if ('looks' in step)
          await lookAll(step.looks, run.workflow, facts, await copy.fileFor(step.looks, facts));
        else if (!(await copy.sealFor(step, facts)))
          return { ...step, command, by: principal, recording: { command, facts, ...copy.known() } };
      }
    } catch (error) {
      if (!(error instanceof CodeChanged)) throw error;
      const escalate: Command = { kind: 'escalate', reason: 'code_changed', message: error.message };
      return {
        ...decide(run, escalate, { principal: ENGINE, now: bare.now, facts: {} }),
        command,
        by: ENGINE,
        recording: { command: escalate, facts: {} },
      };
    }
  }

  async function shownFor(run: Run, command: Command): Promise<{ readonly shown?: string }> {
    const card = command.kind === 'decide' ? await shownCard(parts, run) : null;
    return card === null ? {} : { shown: card.shown };
  }

  /** One call is one transaction with the expected version; on a conflict it is decided once more on fresh state. */
  async function submit(runId: string, asked: Command, how: Submitting): Promise<Kept> {
    const { principal } = how;
    demandFit(asked);
    // INVARIANT: what a migration was proven by is nobody's word but `createMigrations`'s.
    if (asked.kind === 'migrate')
      throw new PhasegateError('not_permitted', 'a run is migrated by `migrate` only');
    // Items are worked on side by side, and one that was done does not make another's verdict stale for good.
    const rounds = 'item' in asked ? ITEM_ROUNDS : 2;
    for (let round = 0; round < rounds; round++) {
      const { run, version } = await load(runId);
      // INVARIANT: a token serves the epoch it was issued in; who was admitted before the run moved on is too late.
      if (how.epoch !== undefined && how.epoch !== run.epoch) throw tokenRefused('dead_epoch');
      if (how.workflowHash !== undefined && how.workflowHash !== run.workflowHash)
        throw new PhasegateError('run_changed', `run \`${runId}\` has another workflow by now`);
      const command = inItsWords(run, inSameVisit(run, asked));
      if (command.kind === 'decide') await demandSignature(run, command, principal);
      const copy = await stagedCopy(parts, run, { command, given: how.attempt });
      try {
        const kept = await decideAndKeep({ run, version }, command, { ...how, copy });
        if (kept !== null) return kept;
      } finally {
        await copy.end();
      }
      // What a handler wrote to the copy would be there twice: it is done anew on another.
      if (how.attempt !== undefined && phaseById(run.workflow, run.phase)?.work.kind === 'handler') break;
    }
    throw new PhasegateError('run_changed', `run \`${runId}\` was changed by someone else at the same time`, {
      hint: `phasegate status ${runId}`,
    });
  }

  /** Null where someone else changed the run meanwhile. */
  async function decideAndKeep(
    { run, version }: StoredRun,
    command: Command,
    how: Submitting & { readonly copy: StagedCopy },
  ): Promise<Kept | null> {
    const { principal, copy } = how;
    const judged = await judgeAndPrepare(run, command, how).catch(refusedDatabase);
    if (typeof judged === 'string') {
      const failure: Command = { ...failureOf(command), reason: judged };
      return decideAndKeep({ run, version }, failure, { ...how, copy: NO_COPY });
    }
    const decision = judged;
    if (!(await keep(run, version, { decision, beside: how.beside?.(run, decision) }))) return null;
    await copy.settle(decision);
    heard(decision.run, principal);
    return { submitted: await submitted(run, decision, principal), run: decision.run };
  }

  /** A copy that turns out to be one that cannot be installed any more is decided on, with what was seen before. */
  async function judgeAndPrepare(
    run: Run,
    command: Command,
    how: { readonly principal: Principal; readonly copy: StagedCopy },
  ): Promise<Judged> {
    const decision = await judgeCommand(run, command, how);
    if (await how.copy.prepare(decision)) return decision;
    return judgeCommand(run, command, { ...how, known: decision.recording.facts });
  }

  /** What is told is made when it is read: a runner that only wants the verdict pays for no text. */
  async function submitted(before: Run, decision: Judged, principal: Principal): Promise<Submitted> {
    const rendered = await renderSaved(decision.run, principal);
    return {
      verdict: decision.verdict,
      get view() {
        return viewFor(decision.run, principal, rendered);
      },
      get answer() {
        return answerFor(before, decision.command, decision);
      },
    };
  }

  async function keep(before: Run, version: number, { decision, beside = {} }: Keeping): Promise<boolean> {
    const { events, verdict, run, by } = decision;
    if (events.length > 0) {
      const recording = verdict.allowed
        ? decision.recording
        : { ...decision.recording, largest: largestRefusal(version) };
      const audit = [...drafts(events, by, recording), ...(beside.notes ?? [])];
      return store.save(run, version, audit, companyOf({ before, after: run }, by, beside.leases ?? []));
    }
    if (verdict.allowed) return true;
    const time = timeFor(run);
    const data = {
      command: decision.command.kind,
      blockers: verdict.blockers.map(({ code, message }) => ({ code, message })),
      ...recordedRefusal(decision.recording, verdict.blockers),
    };
    await store.note(run.id, [{ time, principal: nameOf(by), event: 'command_refused', data }]);
    return true;
  }

  async function demandSignature(
    run: Run,
    command: Extract<Command, { kind: 'decide' }>,
    principal: Principal,
  ) {
    if (principal.kind !== 'human' || (await parts.signed(run, principal, command))) return;
    const data = { run: run.id, verb: 'decide', human: principal.name };
    await store.note(null, [
      { time: timeFor(run), principal: nameOf(principal), event: 'credential_failed', data },
    ]);
    throw new PhasegateError('credential_invalid', `the decision is not signed by \`${principal.name}\``);
  }

  /** A gate whose time is up is closed by whoever looks next. */
  async function current(runId: string, principal: Principal): Promise<Run> {
    const { run } = await load(runId);
    if (principal.kind === 'agent' && run.holder !== null && !isHeldBy(run, principal.name)) {
      throw new PhasegateError('not_permitted', `run \`${runId}\` is held by another agent`);
    }
    heard(run, principal);
    if (run.status !== 'waiting') return run;
    const { events } = decide(run, { kind: 'expire' }, { principal: ENGINE, now: timeFor(run), facts: {} });
    if (events.length === 0) return run;
    await submit(runId, { kind: 'expire' }, { principal: ENGINE });
    return (await load(runId)).run;
  }

  /** Reading ahead changes nothing, and is on record all the same. */
  async function noteSkipped(run: Run, { error, message }: JsonObject, by: Principal): Promise<void> {
    const data = { command: 'get_phase', blockers: [{ code: error ?? null, message: message ?? null }] };
    const event = 'command_refused' as const;
    await store.note(run.id, [{ time: timeFor(run), principal: nameOf(by), event, data }]);
  }

  function heard(run: Run, principal: Principal): void {
    if (parts.heard !== undefined && principal.kind === 'agent') parts.heard(run, principal.name);
  }

  /** The verdict on one call, in the run or in none. On the path of every tool call: nothing is made in vain here. */
  async function judgeUse(
    run: Run | null,
    use: ToolUse,
    { principal, jti }: { readonly principal: Principal; readonly jti?: string | undefined },
  ): Promise<Verdict> {
    const mine = run === null || principal.kind !== 'agent' || isHeldBy(run, principal.name);
    const verdict = judgeTool(mine ? run : null, use);
    const permissive = run?.workflow.enforcement.mode === 'permissive';
    const data = judgedData(run, use, verdict);
    // Which token it was asked with is the start of any inquiry (S2.83).
    const known = jti === undefined ? data : { ...data, token: jti };
    const note = {
      time: timeFor(run),
      principal: nameOf(principal),
      event: 'tool_judged' as const,
      data: known,
    };
    // INVARIANT: the verdict is on disk, for the epoch it was judged in, before anyone acts on it.
    const kept = await store.note(run === null ? null : run.id, [note], run?.epoch);
    if (!kept) throw new PhasegateError('run_changed', 'the phase changed while the call was judged');
    if (verdict.allowed || !permissive) return verdict;
    return { allowed: true, wouldRefuse: verdict.blockers };
  }

  return {
    card: (run) => shownCard(parts, run),
    submit,
    async judge({ runId, epoch, principal, jti }, use) {
      const { run } = await load(runId);
      if (run.epoch !== epoch) throw tokenRefused('dead_epoch');
      return judgeUse(run, use, { principal, jti });
    },
    as: (principal, around = {}) => ({
      start: (request) => startRun(parts, { timeFor, lookAll, renderSaved }, { request, principal }),
      async view(runId) {
        const run = await current(runId, principal);
        return viewFor(run, principal, await render(run, principal));
      },
      async phase(runId, requested) {
        const run = await current(runId, principal);
        const answer = phaseAnswer(run, requested, await render(run, principal));
        if (!answer.ok) await noteSkipped(run, answer.refusal, principal);
        return answer;
      },
      overview: async (runId) => overviewOf((await current(runId, principal)).workflow),
      submit: async (runId, command) => (await submit(runId, command, { principal, ...around })).submitted,
      async runs(query = {}) {
        const all = await store.list(query);
        if (principal.kind !== 'agent') return all;
        return all.filter((run) => run.holder === null || run.holder === principal.name);
      },
      async judgeTool(runId, use) {
        const stored = runId === null ? null : await load(runId);
        const run = stored === null ? null : stored.run;
        if (run !== null) heard(run, principal);
        return judgeUse(run, use, { principal });
      },
      async history(runId, page = {}) {
        if (runId !== null) await current(runId, principal);
        else if (principal.kind === 'agent')
          throw new PhasegateError('not_permitted', "the project's own audit is a human's to read");
        const records = await store.history(runId, { after: page.after ?? 0, limit: page.limit ?? 1000 });
        // INVARIANT: what lies ahead, and what others were refused, is no agent's to read.
        return principal.kind === 'agent' ? records.map(withoutRecording) : records;
      },
    }),
  };
}

/** How often what is about one item is decided again while others write the same run. */
const ITEM_ROUNDS = 50;

/** An agent may see a run, and have tools judged in it, that it holds or holds an item of. */
function isHeldBy(run: Run, agent: string): boolean {
  return run.holder === agent || holdsAnItem(run, agent);
}

/** A decision with what is to be written beside it. */
interface Keeping {
  readonly decision: Judged;
  readonly beside: Companions | undefined;
}

/** The command with its phase as the workflow's author wrote it; a request may give id, number or name. */
function inItsWords(run: Run, command: Command): Command {
  if (command.kind !== 'complete' && command.kind !== 'fetch_task') return command;
  const phase = findPhase(run.workflow, command.phase);
  return phase === null || phase.id === command.phase ? command : { ...command, phase: phase.id };
}

/** A decision with the command it answers, for whom, and what it was made from. */
type Judged = Decision & {
  readonly command: Command;
  readonly by: Principal;
  readonly recording: Recording;
};
