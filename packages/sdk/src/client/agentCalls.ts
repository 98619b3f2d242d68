import type { Json, JsonObject, PhaseId } from '@phasegate/core';
import type {
  Claim,
  PhaseAnswer,
  PhaseTask,
  Run,
  ToolAnswer,
  ToolOutcome,
  ToolVerdict,
  Transition,
} from '#wire';
import { errorFrom } from './errorFrom.ts';
import type { Hold } from './hold.ts';
import type { Call, Http } from './http.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { pause } from './retrying.ts';

/** A JSON object as callers write it. */
export type Fields = Readonly<Record<string, unknown>>;

/** What an agent does: claim, work with the phase's tools, hand in, and ask for help. */
export interface AgentCalls {
  /** The agent the key belongs to. */
  whoAmI(): Promise<AgentSelf>;
  /**
   * Claims the next queued run, or an open item of a parallel phase; null when there is nothing to do. What was in
   * hand before stays this agent's until its lease runs out: `rejoinTask` takes it up again.
   *
   * Never tried again once the request may have been sent, as that could take a second run: an error with
   * `uncertain` means that a run may have been claimed, which then returns to the queue when its lease runs out.
   */
  claimTask(agentId: string, options?: ClaimOptions): Promise<Claim | null>;
  /** Takes up a task this agent holds already: after a restart, an answer that was lost, or one claimed before. */
  rejoinTask(taskId?: string, options?: { readonly item?: string }): Promise<Claim>;
  /** Gives the task in hand back to the queue; `lost` says that its agent ended before the work was done. */
  release(options?: { readonly lost?: boolean }): Promise<void>;
  /** Hands in what the phase asks for. `target` is where the agent expects to go; `null` for the end. */
  requestTransition(
    target: PhaseId | null | undefined,
    artifacts: Fields,
    options?: TransitionOptions,
  ): Promise<Transition>;
  /** Has a tool carried out. A refused call is thrown; a tool that failed is an answer whose result is not `ok`. */
  useTool(name: string, input: Fields): Promise<ToolAnswer>;
  /** Has several tools carried out, one after the other. Nothing is thrown for those refused: each has its verdict. */
  useTools(
    calls: readonly { readonly tool: string; readonly input: Fields }[],
  ): Promise<readonly ToolOutcome[]>;
  /** The verdict on a tool call, without carrying it out. */
  checkTool(name: string, input: Fields): Promise<ToolVerdict>;
  /** The current phase, or a completed one by its id, number or name. */
  getPhase(phase?: PhaseId): Promise<PhaseAnswer>;
  /** One task of the current or a completed phase; `n` counts from 1. */
  getTask(phase: PhaseId, n: number): Promise<PhaseTask>;
  /** Asks a human one to three questions with two or three options each; the run waits. */
  askHuman(
    questions: readonly { readonly text: string; readonly options: readonly string[] }[],
    options?: BegunOptions,
  ): Promise<Run>;
  /** Hands the phase to a human: the honest way out. */
  reportBlocked(reason: string, options?: BegunOptions): Promise<Run>;
  /**
   * Waits until a human has acted: then the run goes on with a fresh token, or nothing is in hand any more. Asks every
   * two seconds unless told otherwise; an aborted signal throws its reason.
   */
  waitForHuman(options?: { readonly signal?: AbortSignal; readonly pollMs?: number }): Promise<Run>;
}

/** An agent as its key names it. */
export interface AgentSelf {
  readonly name: string;
  /** Null where nobody said; then what the agent says when it claims counts. */
  readonly capabilities: readonly string[] | null;
}

/** Which work to claim. */
export interface ClaimOptions {
  /** What the agent can do, where nobody said so when it was added. */
  readonly capabilities?: readonly string[];
  /** This run and no other; it is refused where it is not available. */
  readonly task?: string;
  /** The agent works in files of its own, which the server cannot see; left out: with the server's tools. */
  readonly workspace?: 'own';
}

/** What goes with everything that is handed in for a phase. */
export interface BegunOptions {
  /**
   * Where the run stood when the work was begun; where it has moved on since, the answer is `run_changed`. Without it
   * the token in hand counts.
   */
  readonly at?: { readonly epoch: number; readonly visit?: number };
}

/** What goes with a transition. */
export interface TransitionOptions extends BegunOptions {
  readonly outcome?: 'ok' | 'fail' | 'iterate';
  /** Why, with the outcome `fail`. */
  readonly reason?: string;
  /** The phase that is to be left; another than the current one is refused as a skipped one. */
  readonly phase?: PhaseId;
  /** An item of a parallel phase, where the whole run is in hand. */
  readonly item?: string;
}

/** What an agent does, over HTTP. */
export function createAgentCalls(http: Http, hold: Hold, key: string | null): AgentCalls {
  const inRun = () => {
    const held = hold.current();
    if (held === null) throw new PhasegateClientError('usage', 'no task is in hand; call `claimTask` first');
    return `/runs/${encodeURIComponent(held.id)}`;
  };
  const execute = async (body: JsonObject) =>
    (await hold.call({ method: 'POST', path: '/tools/execute', body, safe: false, long: true })).body;

  return {
    whoAmI: async () =>
      (await http.send({ method: 'GET', path: '/agent', safe: true }, key)).body as AgentSelf,
    async claimTask(agentId, options = {}) {
      const { capabilities, task, workspace } = options;
      const body = given({ agent_id: agentId, capabilities, task_id: task, workspace });
      const answer = await http.send({ method: 'POST', path: '/tasks/claim', body, safe: false }, key);
      if (answer.status === 204) return null;
      const claim = answer.body as Claim;
      hold.take(claim.phase_token);
      return claim;
    },
    rejoinTask: (taskId, options = {}) =>
      hold.renew(taskId === undefined ? undefined : { id: taskId, item: options.item ?? null }),
    async release({ lost = false } = {}) {
      const held = hold.current();
      if (held === null) return;
      const body = { task_id: held.id, ...(lost ? { lost } : {}) };
      await http.send({ method: 'POST', path: '/tasks/release', body, safe: false }, key);
      hold.drop();
    },
    async requestTransition(target, artifacts, options = {}) {
      const body = { ...given({ target, ...options }), artifacts: artifacts as JsonObject };
      const answer = await hold.call({
        method: 'POST',
        path: '/tasks/transition',
        body,
        safe: false,
        long: true,
      });
      const moved = refuseUnlessAllowed(answer.body as Transition | RefusedBody, answer.status);
      const token = 'phase_token' in moved ? moved.phase_token : undefined;
      if (token !== undefined) hold.take(token);
      else if (moved.status !== 'waiting') hold.drop();
      return moved;
    },
    async useTool(name, input) {
      const outcome = (await execute({ tool: name, input: input as JsonObject })) as ToolOutcome;
      return refuseUnlessAllowed(outcome, 200);
    },
    async useTools(calls) {
      const body = { calls: calls as readonly Json[] };
      const { results } = (await execute(body)) as { readonly results: readonly ToolOutcome[] };
      return results;
    },
    async checkTool(name, input) {
      const body = { tool: name, input: input as JsonObject };
      return (await hold.call({ method: 'POST', path: '/tools/check', body, safe: true }))
        .body as ToolVerdict;
    },
    async getPhase(phase) {
      const call = { method: 'GET', path: `${inRun()}/phase`, query: { phase }, safe: true } as const;
      return (await hold.call(call)).body as PhaseAnswer;
    },
    async getTask(phase, n) {
      const path = `${inRun()}/tasks/${encodeURIComponent(phase)}/${encodeURIComponent(n)}`;
      return (await hold.call({ method: 'GET', path, safe: true })).body as PhaseTask;
    },
    async askHuman(questions, { at } = {}) {
      const body = { ...given({ at }), questions: questions as readonly Json[] };
      const answer = await hold.call({ method: 'POST', path: `${inRun()}/questions`, body, safe: false });
      return answer.body as Run;
    },
    async reportBlocked(reason, { at } = {}) {
      const body = { ...given({ at }), reason };
      const answer = await hold.call({ method: 'POST', path: `${inRun()}/blocked`, body, safe: false });
      return answer.body as Run;
    },
    async waitForHuman({ signal, pollMs = 2_000 } = {}) {
      const call: Call = { method: 'GET', path: inRun(), safe: true, signal };
      for (;;) {
        // With the key where there is one: the token dies with the human's act.
        const answer = await (key === null ? hold.call(call) : http.send(call, key));
        const run = answer.body as Run;
        if (run.status === 'waiting' || run.status === 'escalated') {
          await pause(pollMs, signal);
          continue;
        }
        if (run.status !== 'active') hold.drop();
        else if (key !== null) await hold.renew();
        return run;
      }
    },
  };
}

interface RefusedBody {
  readonly allowed: false;
}

/** A refusal is thrown, whichever status it came with. */
function refuseUnlessAllowed<T extends { readonly allowed: boolean }>(
  body: T,
  status: number,
): Extract<T, { readonly allowed: true }> {
  if (body?.allowed === true) return body as Extract<T, { readonly allowed: true }>;
  throw errorFrom(status, body, null);
}

/** Only what was given: an absent member and one that is `null` are two things. */
function given(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}
