import { isAbsolute, join } from 'node:path';
import {
  answerFor,
  type Circumstance,
  type Command,
  canonicalJson,
  checksForStart,
  type Decision,
  decide,
  decideOrLook,
  decideStart,
  type Fact,
  findPhase,
  gateCard,
  type JsonObject,
  judgeTool,
  type Look,
  overviewOf,
  own,
  type Phase,
  type Phasegate,
  PhasegateError,
  type Principal,
  phaseAnswer,
  phaseById,
  type RenderedText,
  type Ring,
  type Run,
  type Started,
  type Starting,
  type StartRequest,
  type Submitted,
  scopeFor,
  viewFor,
} from '@phasegate/core';
import { drafts, endOf } from './auditDrafts.ts';
import { CodeChanged, type Looking, lookAt } from './look.ts';
import type { Catalog, CheckImplementation, Functions, Store, StoredRun, TrustRecord } from './ports.ts';

/** What the runtime is built from; `main.ts` chooses. */
export interface RuntimeParts {
  readonly store: Store;
  readonly catalog: Catalog;
  /** The shelf of checks, asked for when there is something to look at. */
  readonly checks: () => Promise<readonly CheckImplementation[]>;
  readonly functions: Functions;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** SHA-256, hex. */
  readonly hash: (text: string) => string;
  /** Whether a human's acceptance of a workflow carries that human's own signature. */
  readonly accepted: (trust: TrustRecord) => Promise<boolean>;
  /** Whether a human's decision carries that human's own signature. */
  readonly signed: (
    run: Run,
    principal: Principal,
    command: Extract<Command, { kind: 'decide' }>,
  ) => Promise<boolean>;
}

/** The runtime: loads the run, has the checks looked at, asks the engine, saves. */
export interface Runtime {
  as(principal: Principal): Phasegate;
  /** The hash a human's decision must carry: of what stands at the gate now. */
  shown(run: Run): string | undefined;
}

const ENGINE: Principal = { kind: 'engine', name: 'phasegate' };
const RING: Ring = 'served';

/** Builds the runtime. All effects go through the parts; the engine decides. */
export function createRuntime(parts: RuntimeParts): Runtime {
  const { store } = parts;
  let shelf: Promise<ReadonlyMap<string, CheckImplementation>> | undefined;
  const checks = () => {
    shelf ??= parts.checks().then((list) => new Map(list.map((check) => [check.name, check])));
    return shelf;
  };

  const shown = (run: Run) => {
    const card = gateCard(run);
    return card === null ? undefined : parts.hash(canonicalJson(card));
  };

  const looking = (module: string | null): Looking => ({
    checks,
    functions: parts.functions,
    workspace: parts.workspace,
    module: module === null || isAbsolute(module) ? module : join(parts.workspace, module),
  });

  /** INVARIANT: time never goes back past what the run has seen, whatever the clock does. */
  const timeFor = (run: Run | null) => {
    const clock = new Date(parts.now()).toISOString();
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
    module: string | null,
    facts: Record<string, Fact>,
  ): Promise<void> {
    const answers = await Promise.all(looks.map((look) => lookAt(look, looking(module))));
    looks.forEach((look, index) => {
      facts[look.id] = answers[index] as Fact;
    });
  }

  async function judge(run: Run, command: Command, principal: Principal): Promise<Judged> {
    const bare: Circumstance = { principal, now: timeFor(run), facts: {}, ...shownFor(run, command) };
    try {
      const facts: Record<string, Fact> = {};
      for (;;) {
        const step = decideOrLook(run, command, { ...bare, facts });
        if (!('looks' in step)) return { ...step, command, by: principal };
        await lookAll(step.looks, run.workflow.module, facts);
      }
    } catch (error) {
      if (!(error instanceof CodeChanged)) throw error;
      const escalate: Command = { kind: 'escalate', reason: 'code_changed', message: error.message };
      return {
        ...decide(run, escalate, { principal: ENGINE, now: bare.now, facts: {} }),
        command,
        by: ENGINE,
      };
    }
  }

  function shownFor(run: Run, command: Command): { readonly shown?: string } {
    const hash = command.kind === 'decide' ? shown(run) : undefined;
    return hash === undefined ? {} : { shown: hash };
  }

  /** One call is one transaction with the expected version; on a conflict it is decided once more on fresh state. */
  async function submit(runId: string, asked: Command, principal: Principal): Promise<Submitted> {
    for (let round = 0; round < 2; round++) {
      const { run, version } = await load(runId);
      const command = inItsWords(run, asked);
      if (command.kind === 'decide') await demandSignature(run, command, principal);
      const decision = await judge(run, command, principal);
      if (await keep(decision, version)) return submitted(run, decision, principal);
    }
    throw new PhasegateError('run_changed', `run \`${runId}\` was changed by someone else at the same time`, {
      hint: `phasegate status ${runId}`,
    });
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

  async function keep(decision: Judged, version: number): Promise<boolean> {
    const { events, verdict, run } = decision;
    if (events.length > 0)
      return store.save(run, version, drafts(events, decision.by), endOf(run, decision.by));
    if (verdict.allowed) return true;
    const time = timeFor(run);
    const data = {
      command: decision.command.kind,
      blockers: verdict.blockers.map(({ code, message }) => ({ code, message })),
    };
    await store.note(run.id, [{ time, principal: nameOf(decision.by), event: 'command_refused', data }]);
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
    if (principal.kind === 'agent' && run.holder !== null && run.holder !== principal.name) {
      throw new PhasegateError('not_permitted', `run \`${runId}\` is held by another agent`);
    }
    if (run.status !== 'waiting') return run;
    const { events } = decide(run, { kind: 'expire' }, { principal: ENGINE, now: timeFor(run), facts: {} });
    if (events.length === 0) return run;
    await submit(runId, { kind: 'expire' }, ENGINE);
    return (await load(runId)).run;
  }

  /** Reading ahead changes nothing, and is on record all the same. */
  async function noteSkipped(run: Run, { error, message }: JsonObject, by: Principal): Promise<void> {
    const data = { command: 'get_phase', blockers: [{ code: error ?? null, message: message ?? null }] };
    const event = 'command_refused' as const;
    await store.note(run.id, [{ time: timeFor(run), principal: nameOf(by), event, data }]);
  }

  async function render(run: Run, principal: Principal): Promise<RenderedText | undefined> {
    const phase = phaseById(run.workflow, run.phase);
    if (phase?.render == null || principal.kind === 'engine') return undefined;
    return renderPhase(run, phase, phase.render);
  }

  async function renderPhase(run: Run, phase: Phase, ref: string): Promise<RenderedText> {
    const context = {
      ...scopeFor(run, { phase }),
      runId: run.id,
      phase: phase.id,
      target: run.target,
      attempt: run.work.attempts + 1,
    };
    const file = looking(run.workflow.module).module;
    const answer =
      file === null || run.workflow.code === null
        ? undefined
        : await parts.functions.call({ file, code: run.workflow.code, ref, context, timeoutMs: 30_000 });
    const made = answer?.ok === true ? answer.value : null;
    const [title, body] = [own(made, 'title'), own(made, 'body')];
    if (typeof title === 'string' && typeof body === 'string') return { title, body };
    const reason = answer?.ok === false ? answer.reason : 'it returned no title and text';
    const message = `the instructions of phase \`${phase.id}\` could not be made: ${reason}`;
    throw new PhasegateError('function_failed', message);
  }

  /** After something was saved: a text that cannot be made must not look as if nothing had happened. */
  async function renderSaved(run: Run, principal: Principal): Promise<RenderedText | undefined> {
    try {
      return await render(run, principal);
    } catch (error) {
      if (!(error instanceof PhasegateError) || error.code !== 'function_failed') throw error;
      return {
        title: phaseById(run.workflow, run.phase)?.name ?? '',
        body: `${error.message}; tell a human`,
      };
    }
  }

  async function start(request: StartRequest, principal: Principal): Promise<Started> {
    const found = await parts.catalog.load(request.workflow, {
      params: request.params ?? {},
      target: request.target ?? null,
    });
    const trust = await store.trusted(found.closure);
    const trusted = trust !== undefined && (await parts.accepted(trust));
    if (!trusted && (await store.humans()).length > 0) {
      const data = { workflow: found.workflow.id, closure: found.closure };
      await store.note(null, [
        { time: timeFor(null), principal: nameOf(principal), event: 'start_refused', data },
      ]);
      throw new PhasegateError('untrusted_workflow', `no human has accepted \`${found.path}\` as it is now`, {
        hint: `phasegate trust ${found.workflow.id}`,
      });
    }
    const starting: Starting = {
      id: parts.newId(),
      workflow: found.workflow,
      workflowHash: found.hash,
      target: request.target ?? null,
      params: request.params ?? {},
      ring: RING,
      trusted,
      queued: request.queue ?? false,
    };
    const bare: Circumstance = { principal, now: timeFor(null), facts: {} };
    const facts: Record<string, Fact> = {};
    for (;;) {
      const looks = checksForStart(starting, { ...bare, facts });
      if (looks.length === 0) break;
      await lookAll(looks, found.workflow.module, facts);
    }
    const decision = decideStart(starting, { ...bare, facts });
    if (decision.run === null) {
      const blockers = decision.verdict.blockers.map(({ code, message }) => ({ code, message }));
      const data = { workflow: found.workflow.id, closure: found.closure, blockers };
      await store.note(null, [
        { time: bare.now, principal: nameOf(principal), event: 'start_refused', data },
      ]);
      return { verdict: decision.verdict, view: null };
    }
    const note = { time: bare.now, principal: nameOf(principal), event: 'run_started' as const };
    const data = { run: starting.id, workflow: found.workflow.id, workflow_hash: found.hash };
    const made = await store.create(decision.run, drafts(decision.events, principal), [{ ...note, data }]);
    if (!made) throw new PhasegateError('internal', 'the new run has the id of another');
    return {
      verdict: decision.verdict,
      view: viewFor(decision.run, principal, await renderSaved(decision.run, principal)),
    };
  }

  return {
    shown,
    as: (principal) => ({
      start: (request) => start(request, principal),
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
      submit: (runId, command) => submit(runId, command, principal),
      async runs(query = {}) {
        const all = await store.list(query);
        if (principal.kind !== 'agent') return all;
        return all.filter((run) => run.holder === null || run.holder === principal.name);
      },
      async judgeTool(runId, use) {
        const stored = runId === null ? null : await load(runId);
        const run = stored?.run ?? null;
        const mine = run === null || principal.kind !== 'agent' || run.holder === principal.name;
        const verdict = judgeTool(mine ? run : null, use);
        const data = {
          tool: use.tool,
          phase: run?.phase ?? null,
          allowed: verdict.allowed,
          ...(verdict.allowed
            ? {}
            : { code: verdict.blockers[0].code, message: verdict.blockers[0].message }),
        };
        const note = {
          time: timeFor(run),
          principal: nameOf(principal),
          event: 'tool_judged' as const,
          data,
        };
        // INVARIANT: the verdict is on disk, for the epoch it was judged in, before anyone acts on it.
        const kept = await store.note(run === null ? null : run.id, [note], run?.epoch);
        if (!kept) throw new PhasegateError('run_changed', 'the phase changed while the call was judged');
        const permissive = !verdict.allowed && run?.workflow.enforcement.mode === 'permissive';
        return permissive ? { allowed: true, wouldRefuse: verdict.blockers } : verdict;
      },
      async history(runId, page = {}) {
        if (runId !== null) await current(runId, principal);
        else if (principal.kind === 'agent')
          throw new PhasegateError('not_permitted', "the project's own audit is a human's to read");
        return store.history(runId, { after: page.after ?? 0, limit: page.limit ?? 1000 });
      },
    }),
  };
}

/** The command with its phase as the workflow's author wrote it; a request may give id, number or name. */
function inItsWords(run: Run, command: Command): Command {
  if (command.kind !== 'complete' && command.kind !== 'fetch_task') return command;
  const phase = findPhase(run.workflow, command.phase);
  return phase === null || phase.id === command.phase ? command : { ...command, phase: phase.id };
}

/** A decision with the command it answers, and for whom. */
type Judged = Decision & { readonly command: Command; readonly by: Principal };

/** A principal in one word, as the audit names it. */
export function nameOf(principal: Principal): string {
  return `${principal.kind}:${principal.name}`;
}
