import type { Blocker, Json, JsonObject, Run, RunView, ToolUse } from '@phasegate/core';
import type { Ring } from '@phasegate/core/model';
import type { UnlockedHuman } from '@phasegate/core/ports';

/** The clients whose hooks are understood. */
export const HOOK_CLIENTS = ['claude', 'codex', 'gemini', 'copilot', 'cursor', 'opencode'] as const;

/** One of them. */
export type HookClient = (typeof HOOK_CLIENTS)[number];

/** Whether there is such a client. */
export function isHookClient(name: string): name is HookClient {
  return (HOOK_CLIENTS as readonly string[]).includes(name);
}

/** What happened in a client, in the same words for all of them. */
export interface HookEvent {
  readonly client: HookClient;
  readonly event:
    | 'session_start'
    | 'prompt'
    | 'before_tool'
    | 'after_tool'
    | 'stop'
    | 'subagent_start'
    | 'subagent_stop'
    /** The conversation is about to be summed up, by a client that takes no words with that. */
    | 'compacting'
    | 'compacted'
    | 'config_change'
    /** The model is about to be shown the tools it may call. */
    | 'tool_selection'
    | 'session_end'
    | 'other';
  readonly sessionId: string;
  /** Of the session that started this one, where the client has one for each. */
  readonly parent?: string;
  /** Of a subagent that shares its parent's session. */
  readonly agentId?: string;
  /** Absolute. */
  readonly cwd: string;
  /** The file the client writes the session down in, where it says. */
  readonly transcript?: string;
  /** What the client was started for: PHASEGATE_RUN of its environment. */
  readonly run?: string;
  /** Where the client's shell looks for programs: PATH of its environment. */
  readonly programs?: string;
  /** With what happens before and after a tool. */
  readonly tool?: HookTool;
  /** What the client says came of the tool. */
  readonly report?: { readonly ok: boolean; readonly output: Json };
  /** With a stop after which the client cannot be told anything. */
  readonly isLast?: boolean;
  /** Told before, by a hook in other settings: compared again, and not counted again. */
  readonly isRepeated?: boolean;
  /** Why a session starts or ends, or which settings changed. */
  readonly source?: string;
  /**
   * The calls that the client has written down, of the session or of a subagent that ends: where the event does not say
   * in which file, in the one that was known before. Null where it cannot be read, undefined where there is none to read.
   * Absent where nobody knows how.
   */
  readonly written?: (known: string | null) => Promise<WrittenCalls | null | undefined>;
  /** In which of its client's ways of speaking it came, where there are several. */
  readonly dialect?: string;
}

/** A tool call of a client. */
export interface HookTool {
  /** As the client calls it. */
  readonly name: string;
  /** The client's own id of the call; null where it has none. */
  readonly callId: string | null;
  readonly input: JsonObject;
  /** `talks` changes nothing; `own` is one of Phasegate's own tools; `unknown` is refused. */
  readonly kind: 'judged' | 'talks' | 'own' | 'unknown';
  /** What it comes to in contract terms; paths as the client gave them, absolute or from its folder. */
  readonly uses: readonly ToolUse[];
  /** Whether the client takes a changed input. */
  readonly rewrites: boolean;
  /** Of a tool that is known, why this call of it is `unknown`. */
  readonly unreadable?: string;
}

/** The calls in a client's transcript. */
export interface WrittenCalls {
  /** Of a subagent, not of the session itself. */
  readonly isSubagent: boolean;
  /** Whether they are all calls of the session so far, and not some of them. */
  readonly isWhole: boolean;
  readonly calls: readonly WrittenCall[];
}

/** One call that a client wrote down and that may have been carried out. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** With what it was called, of clients whose hooks are told no ids. */
  readonly input?: JsonObject;
  /** ISO time; null where the transcript has none. */
  readonly at: string | null;
}

/** What the client is to be told; each client's adapter has its own words for it. */
export type HookAnswer =
  /** No opinion: what the client would do without us, it does. */
  | { readonly kind: 'none' }
  /** A changed input, whole. */
  | { readonly kind: 'changed'; readonly input: JsonObject }
  /** With where the run stands, all of it, where the model has not been told since its words were summed up. */
  | { readonly kind: 'deny'; readonly blocker: Blocker; readonly run: string | null; readonly view?: RunView }
  /** Where the run stands; `whole` has the phase's text, else it is a reminder. */
  | { readonly kind: 'card'; readonly view: RunView | null; readonly whole: boolean }
  /** Only some tools are to be offered: those that `mayUse` says of, by their names in contracts. */
  | { readonly kind: 'tools'; mayUse(tool: string): boolean }
  /** The agent is to go on. */
  | { readonly kind: 'go_on'; readonly view: RunView }
  /** What the client is about to do with its settings is not to be done. */
  | { readonly kind: 'block'; readonly reason: string };

/** Where hooks of this machine reach the server by HTTP, and the key that opens them and nothing else. */
export interface HttpHooks {
  readonly port: number;
  readonly key: string;
}

/** A client's session, as it was heard of. */
export interface HookSession {
  readonly client: HookClient;
  readonly session: string;
  /** The run it works on; null where it has none. */
  readonly run: string | null;
  readonly ring: Ring;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly ended: boolean;
  readonly transcript: string | null;
  /** What was wrong with its transcript when its run had ended already; null where nothing was. */
  readonly found: string | null;
}

/** Calls of a client whose end is known. */
export interface HookReports {
  /** The engine ran them itself, by `phasegate exec`, and each has a receipt. */
  readonly observed: number;
  /** Only their client says what came of them. */
  readonly claimed: number;
}

/** Sessions without a run are free until then. */
export interface Pause {
  readonly by: string;
  readonly reason: string;
  readonly from: string;
  readonly until: string;
}

/** What clients' hooks are answered by. */
export interface Hooks {
  handle(event: HookEvent): Promise<HookAnswer>;
  /** By client and session. */
  sessions(): Promise<readonly HookSession[]>;
  /** What came of a session's calls in a run, by who says so. */
  reports(session: Pick<HookSession, 'client' | 'session'>, run: string): Promise<HookReports>;
  /** The pause there is now; null where there is none. */
  pause(): Promise<Pause | null>;
  beginPause(
    wanted: { readonly minutes: number; readonly reason: string },
    by: UnlockedHuman,
  ): Promise<Pause>;
  /** False where there was none. */
  endPause(by: UnlockedHuman): Promise<boolean>;
}

/** Whether the agent of a run is held by hooks that were proven. */
export interface HookedRing {
  /** Whether a session that hooks hold is about to start this workflow. What it announced counts for one start. */
  takeStart(workflow: string): Promise<boolean>;
  /** Why a run that asks for hooks is not held by them now; null where it is. At work somebody must be there. */
  problem(run: Run, isAtWork: boolean): Promise<string | null>;
  /** An agent in a sandbox took a run that asks for hooks: it is held closer than that. */
  enclosed(run: Run, agent: string): Promise<void>;
}

/** What a client was proven to be held by. */
export interface Proofs {
  /** The ring of a client's session as it is now; `served` where nothing was proven, or something changed since. */
  ringOf(client: HookClient, facts: { readonly session: string; readonly cwd: string }): Promise<Ring>;
}
