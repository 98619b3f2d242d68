import {
  type Blocker,
  type Command,
  type JsonObject,
  type Phasegate,
  PhasegateError,
  type RunQuery,
  type RunSummary,
  type RunView,
  type Submitted,
  type Verdict,
  type Warning,
  type WorkedAt,
} from '@phasegate/core';
import { decodeBlockers, type WireBlocker } from '#wire';
import type { AgentCalls } from './agentCalls.ts';
import type { Run, Task } from './answers.ts';
import { contractAnswer, fieldsOf } from './contractAnswer.ts';
import type { Hold } from './hold.ts';
import type { HumanCalls } from './humanCalls.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { phaseViewOf, runSummaryOf, runViewOf, taskViewOf } from './runView.ts';

type Calls = AgentCalls & HumanCalls;

/** Most entries a server gives at once. */
const PAGE = 1000;

/** The engine's own interface over HTTP. Refusals come back as verdicts, faults as `PhasegateError`, as in process. */
export function createRemotePhasegate(calls: Calls, hold: Hold): Phasegate {
  const view = async (runId: string) => runViewOf(await calls.getRun(runId));

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
        // The server signs with the key of whoever signed in; a signature made elsewhere is not sent.
        const { gate, option, input, shown } = command;
        return calls.decide(runId, { gate, option, shown, ...(input === undefined ? {} : { input }) });
      }
      case 'answer':
        return calls.answer(runId, { question: command.question, text: command.text });
      case 'resume':
        return calls.resume(runId, command.note);
      case 'stop':
        return calls.stop(runId, command.reason);
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
    const { verdict, said } = await judged(() => answerOf(runId, command));
    const after = (verdict.allowed ? viewIn(said) : null) ?? (await view(runId));
    return { verdict, view: after, answer: contractAnswer({ command, verdict, said, view: after }) };
  };

  const runs = async ({ limit = 100, ...query }: RunQuery = {}): Promise<readonly RunSummary[]> => {
    const found: RunSummary[] = [];
    for (let offset: number | null = 0; offset !== null && found.length < limit; ) {
      const page = await calls.listRuns({ ...query, limit: Math.min(limit - found.length, PAGE), offset });
      found.push(...page.runs.map(runSummaryOf));
      offset = page.next_offset;
    }
    return found;
  };

  return {
    start: translating(async (request) => {
      const { verdict, said } = await judged(() => calls.startRun(request));
      if (!verdict.allowed) return { verdict, view: null };
      return { verdict, view: await view(String(said.run)) };
    }),
    view: translating(view),
    phase: translating(async (runId, requested) => {
      const named =
        typeof requested === 'number' ? requested : requested === undefined ? undefined : String(requested);
      if (hold.current()?.id === runId) {
        const { verdict, said } = await judged(() => calls.getPhase(named), 'phase_sequence_violation');
        const phase = phaseViewOf(said as never);
        if (verdict.allowed && phase !== null) return { ok: true, phase };
        return { ok: false, refusal: { error: 'run_ended', ...said } };
      }
      const { current_phase } = await view(runId);
      if (current_phase !== null && (named === undefined || String(named) === String(current_phase.phase))) {
        return { ok: true, phase: current_phase };
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
      const {
        allowed,
        code = 'tool_not_allowed',
        reason = '',
        next_action = '',
        would_refuse,
      } = await calls.checkTool(tool, input);
      return allowed ? passed(would_refuse) : refused([{ code, message: reason, next_action }]);
    }),
    history: translating(async (runId, page) => {
      const chain = runId === null ? ({ chain: 'project' } as const) : { run: runId };
      return (await calls.audit({ ...chain, limit: PAGE, ...page })).records;
    }),
  };
}

/** A token is fetched when it is needed: only this says for which visit the work was done. */
function begunAt({ at }: { readonly at?: WorkedAt }): { readonly at?: WorkedAt } {
  return at === undefined ? {} : { at };
}

/** The run an answer holds, where it does. */
function viewIn(said: JsonObject): RunView | null {
  if (typeof said.run === 'string' && said.title !== undefined) return runViewOf(said as unknown as Run);
  const { task, run } = said as { readonly task?: Task | null; readonly run?: Run };
  if (task !== undefined && task !== null) return taskViewOf(task);
  return typeof run === 'object' ? runViewOf(run) : null;
}

interface Judged {
  readonly verdict: Verdict;
  readonly said: JsonObject;
}

/** A refusal of the workflow is a verdict; anything else that goes wrong is thrown. */
async function judged(act: () => Promise<object>, also?: string): Promise<Judged> {
  try {
    const said = fieldsOf(await act());
    const { would_refuse, warnings } = said as {
      readonly would_refuse?: readonly WireBlocker[];
      readonly warnings?: readonly Warning[];
    };
    const verdict = passed(would_refuse);
    return { verdict: warnings === undefined ? verdict : { ...verdict, warnings }, said };
  } catch (error) {
    if (!(error instanceof PhasegateClientError) || error.status !== 409) throw error;
    const { blockers, answer, code, message, nextAction } = error;
    if (blockers.length === 0 && code !== also) throw error;
    const all = blockers.length > 0 ? blockers : [{ code, message, next_action: nextAction ?? '' }];
    return { verdict: refused(all), said: answer };
  }
}

function passed(wouldRefuse: readonly WireBlocker[] | undefined): Verdict & { readonly allowed: true } {
  return wouldRefuse === undefined
    ? { allowed: true }
    : { allowed: true, wouldRefuse: decodeBlockers(wouldRefuse) };
}

function refused(blockers: readonly WireBlocker[]): Verdict & { readonly allowed: false } {
  return { allowed: false, blockers: decodeBlockers(blockers) as readonly [Blocker, ...Blocker[]] };
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
