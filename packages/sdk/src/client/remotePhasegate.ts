import {
  type AuditRecord,
  type Command,
  isJsonObject,
  type JsonObject,
  type Phasegate,
  PhasegateError,
  type RunQuery,
  type RunSummary,
  type RunView,
  type Submitted,
  type Verdict,
} from '@phasegate/core';
import type { WorkedAt } from '@phasegate/core/engine';
import {
  type AuditPage,
  decodeLine,
  decodeOutcome,
  decodePhase,
  decodeRun,
  decodeTask,
  decodeToolVerdict,
  decodeVerdict,
  PAGE_LIMIT,
  type PhaseAnswer,
  type Run,
  skippedIn,
  type Task,
} from '#wire';
import type { AgentCalls } from './agentCalls.ts';
import type { Hold } from './hold.ts';
import type { HumanCalls } from './humanCalls.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';

type Calls = AgentCalls & HumanCalls;

/** The engine's own interface over HTTP. Refusals come back as verdicts, faults as `PhasegateError`, as in process. */
export function createRemotePhasegate(calls: Calls, hold: Hold): Phasegate {
  const view = async (runId: string) => decodeRun(await calls.getRun(runId));

  const demandInHand = (runId: string) => {
    if (hold.current()?.id === runId) return;
    throw new PhasegateError('not_permitted', `run \`${runId}\` is not the task in hand`);
  };

  const answerOf = async (runId: string, command: Command): Promise<object> => {
    switch (command.kind) {
      case 'complete':
        return complete(runId, command);
      case 'fetch_task':
        demandInHand(runId);
        return calls.getTask(command.phase, command.task);
      case 'ask':
        demandInHand(runId);
        return calls.askHuman(command.questions, begunAt(command));
      case 'report_blocked':
        demandInHand(runId);
        return calls.reportBlocked(command.reason, begunAt(command));
      case 'decide': {
        // The server signs with the key of the one who signed in; a signature made elsewhere is not sent.
        const { gate, option, input, shown } = command;
        return calls.decide(runId, { gate, option, shown, ...(input === undefined ? {} : { input }) });
      }
      case 'answer':
        return calls.answer(runId, { question: command.question, text: command.text });
      case 'resume':
        return calls.resume(runId, command.note);
      case 'stop':
        return calls.stop(runId, command.reason);
      case 'override':
        // The server signs this, too.
        return calls.override(runId, { reason: command.reason, to: command.to });
      default:
        throw new PhasegateError('not_permitted', `\`${command.kind}\` is the server's own to do`);
    }
  };

  /** A token for an item completes that item, whatever is asked: so what is asked must be that. */
  const complete = async (runId: string, command: Extract<Command, { kind: 'complete' }>) => {
    demandInHand(runId);
    const { phase, item, outcome, target, reason } = command;
    const held = hold.current()?.item ?? null;
    if (held !== null && item !== undefined && item !== held) {
      throw new PhasegateError('not_permitted', `the token in hand is for item \`${held}\``);
    }
    if (outcome === 'skip') throw new PhasegateError('not_permitted', '`skip` comes from handlers only');
    return calls.requestTransition(target, command.evidence, {
      phase,
      ...(outcome === undefined ? {} : { outcome }),
      ...(reason === undefined ? {} : { reason }),
      ...(item === undefined || held !== null ? {} : { item }),
      ...begunAt(command),
    });
  };

  const submit = async (runId: string, command: Command): Promise<Submitted> => {
    const { verdict, answer } = await judged(() => answerOf(runId, command));
    const after = (verdict.allowed ? viewIn(answer) : null) ?? (await view(runId));
    return { verdict, view: after, outcome: decodeOutcome({ command, verdict, answer, view: after }) };
  };

  const runs = async ({
    limit = 100,
    offset: first = 0,
    held = false,
    ...query
  }: RunQuery = {}): Promise<readonly RunSummary[]> => {
    const found: RunSummary[] = [];
    for (let offset: number | null = first; offset !== null && found.length < limit; ) {
      const page = await calls.listRuns({
        ...query,
        limit: Math.min(limit - found.length, PAGE_LIMIT),
        offset,
      });
      found.push(...page.runs.map(decodeLine));
      offset = page.next_offset;
    }
    // Over HTTP only humans list runs, and none of them holds one.
    return held ? [] : found;
  };

  return {
    start: translating(async (request) => {
      const { verdict, answer } = await judged(() => calls.startRun(request));
      if (!verdict.allowed) return { verdict, view: null };
      return { verdict, view: await view(String(answer.run)) };
    }),
    view: translating(view),
    phase: translating(async (runId, requested) => {
      const named =
        typeof requested === 'number' ? requested : requested === undefined ? undefined : String(requested);
      if (hold.current()?.id === runId) {
        const { answer } = await judged(() => calls.getPhase(named), 'phase_sequence_violation');
        const skipped = skippedIn(answer);
        const phase = skipped === null ? decodePhase(answer as unknown as PhaseAnswer) : null;
        if (phase !== null) return { ok: true, phase };
        return { ok: false, skipped: skipped ?? { message: String(answer.message ?? ''), artifacts: {} } };
      }
      const { current: phase } = await view(runId);
      if (phase !== null && (named === undefined || String(named) === String(phase.id))) {
        return { ok: true, phase };
      }
      throw new PhasegateError('not_permitted', 'a server shows other phases only to the agent of the run');
    }),
    overview: translating(async () => {
      throw new PhasegateError('not_permitted', 'a server does not show the titles of all phases');
    }),
    runs: translating(runs),
    submit: translating(submit),
    judgeTool: translating(async (runId, { tool, input }) => {
      if (runId === null) throw new PhasegateError('not_permitted', 'a server judges tools only for a run');
      demandInHand(runId);
      return decodeToolVerdict(await calls.checkTool(tool, input));
    }),
    history: translating(async (runId, { after: first = 0, limit = PAGE_LIMIT } = {}) => {
      const chain = runId === null ? ({ chain: 'project' } as const) : { run: runId };
      const found: AuditRecord[] = [];
      // A page of large records ends before its limit; here a short one is the last.
      for (let after: number | null = first; after !== null && found.length < limit; ) {
        const page: AuditPage = await calls.audit({ ...chain, after, limit: limit - found.length });
        found.push(...page.records);
        after = page.next_after;
      }
      return found;
    }),
  };
}

/** A token is fetched when it is needed: only this says for which visit the work was done. */
function begunAt({ at }: { readonly at?: WorkedAt }): { readonly at?: WorkedAt } {
  return at === undefined ? {} : { at };
}

/** The run an answer holds, where it does. */
function viewIn(answer: JsonObject): RunView | null {
  if (typeof answer.run === 'string' && answer.title !== undefined)
    return decodeRun(answer as unknown as Run);
  const { task, run } = answer as { readonly task?: unknown; readonly run?: unknown };
  if (isJsonObject(task)) return decodeTask(task as unknown as Task);
  return isJsonObject(run) ? decodeRun(run as unknown as Run) : null;
}

interface Judged {
  readonly verdict: Verdict;
  readonly answer: JsonObject;
}

/** A refusal of the workflow is a verdict; anything else that goes wrong is thrown. */
async function judged(act: () => Promise<object>, also?: string): Promise<Judged> {
  try {
    const body: unknown = await act();
    const answer = isJsonObject(body) ? body : {};
    return { verdict: decodeVerdict(answer, null), answer };
  } catch (error) {
    if (!(error instanceof PhasegateClientError) || error.status !== 409) throw error;
    const { blockers, answer, code, message, nextAction } = error;
    if (blockers.length === 0 && code !== also) throw error;
    const all = blockers.length > 0 ? blockers : [{ code, message, next_action: nextAction ?? '' }];
    return { verdict: decodeVerdict(answer, all), answer };
  }
}

/** Faults in the engine's words, as its surfaces expect them. */
function translating<A extends readonly unknown[], R>(
  act: (...given: A) => Promise<R>,
): (...given: A) => Promise<R> {
  return async (...given) => {
    try {
      return await act(...given);
    } catch (error) {
      throw error instanceof PhasegateClientError ? error.asFault() : error;
    }
  };
}
