import { type Blocker, canonicalJson, type JsonObject, own, type Run, type Verdict } from '@phasegate/core';
import { argvHash, OBSERVED } from '../observing.ts';
import type { AuditDraft, HookTool, Store } from '../ports.ts';
import type { AskedUse, Runtime } from '../runtime.ts';
import { CALL } from './sessionCalls.ts';
import type { Attended } from './sessions.ts';

/** What was decided on one call of a client; kept, so that a call gets one decision however often it is asked. */
export interface CallDecision {
  readonly run: string | null;
  readonly allowed: boolean;
  readonly blocker: Blocker | null;
  readonly input_hash: string;
  /** Of the input alone: a client may have two names for a tool. Absent in what an older version kept. */
  readonly args_hash?: string;
  readonly tool: string;
  readonly at: string;
  /** Whether the client has said what came of it. */
  readonly reported: boolean;
  /** Of the run, when it was judged; null without a run. */
  readonly epoch: number | null;
}

/** The decisions on clients' calls. */
export interface JudgedCalls {
  /** The decision on a call that was judged before; null where it was not. */
  find(attended: Attended, tool: HookTool): Promise<CallDecision | null>;
  /** Judges a call, once: the decision and its place in the audit are on disk before it is given. */
  judge(attended: Attended, tool: HookTool, uses: () => readonly AskedUse[]): Promise<CallDecision>;
  /** Takes down what a client says came of a call. Null where it was never judged. */
  report(attended: Attended, reported: Reported): Promise<CallDecision | null>;
}

/** What a client says came of a call. */
export interface Reported {
  readonly tool: HookTool;
  readonly told: JsonObject;
  /** The words of the program that `phasegate exec` would have run for it; null where there is none. */
  readonly argv: readonly string[] | null;
}

/** Builds it. */
export function createJudgedCalls(parts: {
  readonly store: Store;
  readonly runtime: Pick<Runtime, 'judgeTogether'>;
  readonly now: () => number;
  readonly hash: (text: string) => string;
}): JudgedCalls {
  const { store, runtime, hash } = parts;
  const time = () => new Date(parts.now()).toISOString();
  // An input of megabytes is gone through once.
  const once = (make: (tool: HookTool) => string) => {
    const made = new WeakMap<HookTool, string>();
    return (tool: HookTool) => {
      const known = made.get(tool) ?? make(tool);
      made.set(tool, known);
      return known;
    };
  };
  const hashOf = once((tool) => hash(canonicalJson({ name: tool.name, input: tool.input })));

  const argsOf = once((tool) => hash(canonicalJson(tool.input)));

  /** A client without ids of calls has each told by what it is; an equal one later is judged anew. */
  function keyOf({ key }: Attended, { callId }: HookTool): string | null {
    return callId === null ? null : `${key}/${callId}`;
  }

  /** Where calls without an id lie that have this input, so that a report is found without looking at all the others. */
  function placeOf(session: string, tool: HookTool): string {
    return `${session}/~${argsOf(tool)}/`;
  }

  async function kept(key: string): Promise<CallDecision | null> {
    const data = await store.kept(CALL, key);
    return data === undefined ? null : (data as unknown as CallDecision);
  }

  /** The newest call of that tool and input that nothing was said about; for clients without ids. */
  async function unreported(
    { key }: Attended,
    tool: HookTool,
  ): Promise<readonly [string, CallDecision] | null> {
    const wanted = hashOf(tool);
    const last = (await store.keptAll(CALL, placeOf(key, tool), { limit: EQUAL_AT_ONCE })).findLast(
      ({ data }) => own(data, 'input_hash') === wanted && own(data, 'reported') === false,
    );
    return last === undefined ? null : [last.key, last.data as unknown as CallDecision];
  }

  function toldOf({ event }: Attended, tool: HookTool): JsonObject {
    const { client, sessionId: session, agentId } = event;
    const call = tool.callId === null ? {} : { call: tool.callId };
    const agent = agentId === undefined ? {} : { subagent: agentId };
    return { hook: { client, session, name: tool.name, ...call, ...agent } };
  }

  function decisionOf(run: Run | null, tool: HookTool, verdict: Verdict): CallDecision {
    return {
      run: run?.id ?? null,
      allowed: verdict.allowed,
      blocker: verdict.allowed ? null : verdict.blockers[0],
      input_hash: hashOf(tool),
      args_hash: argsOf(tool),
      tool: tool.name,
      at: time(),
      reported: false,
      epoch: run?.epoch ?? null,
    };
  }

  /**
   * What the engine itself ran is `observed`, and its exit code counts, whatever the client says. INVARIANT: a receipt is
   * for one report, of a call that was judged in the same epoch before the program began.
   */
  async function seen(
    { run, epoch, at }: CallDecision,
    call: string,
    argv: readonly string[] | null,
  ): Promise<JsonObject> {
    const place = run === null || argv === null ? null : `${run}/${argvHash(argv, hash)}/`;
    const all = place === null ? [] : await store.keptAll(OBSERVED, place);
    const found = all.find(
      ({ data }) =>
        own(data, 'epoch') === epoch && String(own(data, 'at')) >= at && own(data, 'call') === undefined,
    );
    if (found === undefined) return { class: 'claimed' };
    const { key, data } = found;
    await store.keep({ kind: OBSERVED, key, data: { ...data, call } }, { run: null, audit: [] });
    const exit_code = own(data, 'exit_code') ?? null;
    return { class: 'observed', receipt: own(data, 'receipt') ?? null, exit_code, ok: exit_code === 0 };
  }

  return {
    async find(attended, tool) {
      const key = keyOf(attended, tool);
      const found = key === null ? null : await kept(key);
      if (found === null || !found.allowed) return found;
      // What ran is over, and what was allowed in another phase is not allowed in this one.
      const { epoch = null } = attended.run ?? {};
      const isSame = !found.reported && (found.epoch ?? epoch) === epoch;
      if (isSame && found.input_hash === hashOf(tool)) return found;
      // The same id with something else in it: neither is what was judged.
      return { ...found, allowed: false, blocker: REUSED };
    },
    async judge(attended, tool, uses) {
      const { run } = attended;
      const key =
        keyOf(attended, tool) ??
        `${placeOf(attended.key, tool)}${time()}-${parts.hash(`${hashOf(tool)}${counter++}`).slice(0, 16)}`;
      let decision: CallDecision | undefined;
      const keep = async (verdict: Verdict, audit: readonly AuditDraft[]) => {
        decision = decisionOf(run, tool, verdict);
        const data = { ...decision } as unknown as JsonObject;
        const beside = { run: run?.id ?? null, epoch: run?.epoch, audit, was: null };
        return store.keep({ kind: CALL, key, data }, beside);
      };
      const principal = { kind: 'agent', name: run?.holder ?? LOCAL } as const;
      const verdict = await runtime.judgeTogether(run, uses(), {
        principal,
        told: toldOf(attended, tool),
        keep,
      });
      if (verdict !== null && decision !== undefined) return decision;
      const other = await kept(key);
      if (other !== null) return other;
      throw new RunMoved();
    },
    async report(attended, { tool, told, argv }) {
      const key = keyOf(attended, tool);
      const found = key === null ? await unreported(attended, tool) : await withKey(key, kept(key));
      if (found === null || !found[1].allowed) return found === null ? null : found[1];
      const [at, decision] = found;
      if (decision.reported) return decision;
      const data = { ...decision, reported: true } as unknown as JsonObject;
      const run = attended.run === null ? null : decision.run;
      const note: AuditDraft = {
        time: time(),
        principal: `agent:${attended.run?.holder ?? LOCAL}`,
        event: 'hook_reported',
        data: { ...toldOf(attended, tool), ...told, ...(await seen(decision, at, argv)) },
      };
      await store.keep({ kind: CALL, key: at, data }, { run, audit: run === null ? [] : [note] });
      return decision;
    },
  };
}

/** The run moved on while a call was judged: it is to be judged where the run is now. */
export class RunMoved extends Error {}

/** Of calls without an id that are equal, so many can be under way at a time. */
const EQUAL_AT_ONCE = 256;
const LOCAL = 'local';
let counter = 0;

async function withKey(
  key: string,
  found: Promise<CallDecision | null>,
): Promise<readonly [string, CallDecision] | null> {
  const decision = await found;
  return decision === null ? null : [key, decision];
}

const REUSED: Blocker = {
  code: 'tool_forbidden',
  message: 'a call of this id came before, with another input, in another phase, or it ran already',
  nextAction: { act: 'none', text: 'make the call again' },
};
