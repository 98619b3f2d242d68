import type { JsonObject } from '../json.ts';
import type { RulePlaces } from '../model/rulePlaces.ts';
import type { Ending, Outcome, PhaseId, Ring, Target, Workflow } from '../model/workflow.ts';
import type {
  Answer,
  Escalation,
  FenceAct,
  FilesChanged,
  GateDecision,
  GateWait,
  Item,
  Override,
  Question,
  QueuePlace,
  Result,
  SettledGate,
  Starter,
  TreeChange,
} from './run.ts';
import type { Blocker, Warning } from './verdict.ts';

/** What happened to a run, past tense, append only. The stored run is the fold of these. */
export type RunEvent = { readonly at: string } & (
  | {
      readonly type: 'run_started';
      readonly id: string;
      readonly workflow: string;
      readonly workflowHash: string;
      readonly target: string | null;
      /** What the run is to achieve, in the words of `by`; absent where nobody said. */
      readonly goal?: string;
      readonly params: JsonObject;
      readonly holder: string | null;
      readonly ring: Ring;
      readonly trusted: boolean;
      readonly phase: PhaseId;
      /** Items, where the first phase is parallel. */
      readonly items: Readonly<Record<string, Item>> | null;
      readonly queued: boolean;
      /** Only where something was said about its place in the queue. */
      readonly queue?: QueuePlace;
      /** The rules the run is held to; absent in runs from before every value had an owner. */
      readonly rules?: 2;
      /** What did not hold on entering and does not block; absent where there is nothing. */
      readonly warnings?: readonly Warning[];
      /** Who started it; absent in runs from before this was kept. */
      readonly by?: Starter;
      /** What would have been refused, in permissive mode; absent where there is nothing. */
      readonly wouldRefuse?: readonly Blocker[];
      /** Hash of the workspace as the first phase was entered; absent where there is no fence. */
      readonly tree?: string;
      /** Where the rules are written; the run is none the wiser, and what is told of a denial is. */
      readonly places?: RulePlaces;
      /** The git worktree it works in; absent: the project's own folder. */
      readonly folder?: string;
    }
  | {
      readonly type: 'run_claimed';
      readonly holder: string;
      /** Hash of the workspace, where the phase is worked on from now on and nobody has measured it before. */
      readonly tree?: string;
      /** The git worktree the run works in from now on, where it is begun in one. */
      readonly folder?: string;
      /** The human whose key the agent used; absent where it is nobody's. */
      readonly owner?: string;
    }
  /** The agent is gone or gave the run back; it stands at its last checkpoint, for another to claim. */
  | {
      readonly type: 'run_released';
      readonly holder: string;
      readonly cause: ReleaseCause;
      /** Others work on items of it, and go on: the epoch stays, and with it what they hold. */
      readonly keepsEpoch?: true;
    }
  | {
      readonly type: 'item_claimed';
      readonly phase: PhaseId;
      readonly item: string;
      readonly holder: string;
      /** The human whose key the agent used; absent where it is nobody's. */
      readonly owner?: string;
    }
  | {
      readonly type: 'item_released';
      readonly phase: PhaseId;
      readonly item: string;
      readonly holder: string;
      readonly cause: ReleaseCause;
    }
  | { readonly type: 'task_fetched'; readonly phase: PhaseId; readonly task: number }
  | {
      readonly type: 'phase_refused';
      readonly phase: PhaseId;
      readonly item: string | null;
      readonly blockers: readonly Blocker[];
      /** Whether it counts as an attempt: only failed postconditions and blockers do. */
      readonly counted: boolean;
      /** The join of a parallel phase was refused, so its items are to be worked on again. */
      readonly reopens?: true;
      /** It is counted with the item and not with the phase; absent in refusals from before items had a count. */
      readonly ofItem?: true;
      /** Why the item is set aside for a human: it was refused too often. */
      readonly setAside?: string;
      /** What was changed outside the scope, where the fence refused it. */
      readonly outside?: readonly TreeChange[];
    }
  | ({
      readonly type: 'item_completed';
      readonly phase: PhaseId;
      readonly item: string;
      /** What its handler returned, merged at once: runs from before items kept it until the phase is left. */
      readonly state?: JsonObject;
      /** What its handler returned, kept until the phase is left. */
      readonly held?: JsonObject;
      /** Absent: `ok`. */
      readonly outcome?: Outcome;
      readonly wouldRefuse?: readonly Blocker[];
      /** SHA-256 of the copy of the author's database that is installed with it. */
      readonly database?: string;
    } & Omit<Result, 'outcomes'>)
  | {
      readonly type: 'gate_opened';
      readonly phase: PhaseId;
      readonly wait: GateWait;
      /** The how-manieth gate of the run it is; absent in runs from before gates were counted. */
      readonly instance?: number;
      /** What changed in the phase; absent where there is no fence. */
      readonly files?: FilesChanged;
    }
  | {
      readonly type: 'gate_decided';
      readonly decision: GateDecision;
      readonly final: boolean;
      /** What came of the gate, where this was the decision that counts. */
      readonly settles?: SettledGate;
    }
  | { readonly type: 'gate_timed_out'; readonly gate: string }
  /** What waited at the gate no longer fits: nobody decided, and the step is done anew. */
  | { readonly type: 'gate_closed'; readonly gate: string; readonly reason: string }
  | ({
      readonly type: 'phase_completed';
      readonly phase: PhaseId;
      readonly outcome: Ending;
      readonly state: JsonObject;
      readonly by: string;
      readonly next: Target;
      /** Whether the way taken leads back and counts as an iteration. */
      readonly iterated: boolean;
      /** Items of the next phase, where it is parallel. */
      readonly items: Readonly<Record<string, Item>> | null;
      /** What would have been refused, in permissive mode. */
      readonly wouldRefuse: readonly Blocker[];
      /** What a human approved beside the evidence; absent: nobody approved this visit. */
      readonly approved?: JsonObject;
      /** Failed attempts that the next visit begins with, where this one ended in `fail`. */
      readonly owed?: number;
      /** Whether something valid was judged in a visit that ended in `fail`. */
      readonly judged?: true;
      /** SHA-256 of the copy of the author's database that is installed with it. */
      readonly database?: string;
      /** Hash of the workspace that the next phase begins with; absent where there is no fence. */
      readonly tree?: string;
      /** What changed in the phase; absent where there is no fence. */
      readonly files?: FilesChanged;
      /** Hash of what the workspace held, where an artifact of the phase is bound to it. */
      readonly made?: string;
      /** What the humans who won wrote; absent where it is the newest note of them all. */
      readonly note?: string | null;
    } & Result)
  /** A human broke the glass: the phase is left with the outcome `overridden`, by the event that comes next. */
  | { readonly type: 'phase_overridden'; readonly override: Override }
  /** A human settled what was changed outside the scope. */
  | ({
      readonly type: 'fence_settled';
      /** The measure from now on, where something was accepted. */
      readonly tree?: string;
    } & Omit<FenceAct, 'at'>)
  | { readonly type: 'question_asked'; readonly questions: readonly Question[] }
  | { readonly type: 'question_answered'; readonly answer: Answer; readonly final: boolean }
  | { readonly type: 'run_escalated'; readonly escalation: Escalation }
  | { readonly type: 'run_resumed'; readonly note: string | null; readonly by: string }
  | { readonly type: 'run_stopped'; readonly reason: string; readonly by: string }
  /** The run goes on under another version of its workflow, which is told whole: the chain needs nothing beside it. */
  | {
      readonly type: 'run_migrated';
      readonly workflow: Workflow;
      readonly workflowHash: string;
      /** Hash of the workflow it had until now. */
      readonly from: string;
      /** Params as the new workflow reads them. */
      readonly params: JsonObject;
      readonly trusted: boolean;
      readonly by: string;
      readonly places?: RulePlaces;
    }
);

/** Names of the events. */
export type RunEventType = RunEvent['type'];

/** Why an agent no longer holds what it held. All but `given_back` count as a crash. */
export type ReleaseCause = 'lease_expired' | 'exited' | 'agent_removed' | 'given_back';

/** Every event there is; the compiler sees to it that none is missing. */
const RUN_EVENTS: Readonly<Record<RunEventType, true>> = {
  run_started: true,
  run_claimed: true,
  run_released: true,
  item_claimed: true,
  item_released: true,
  task_fetched: true,
  phase_refused: true,
  item_completed: true,
  gate_opened: true,
  gate_decided: true,
  gate_timed_out: true,
  gate_closed: true,
  phase_completed: true,
  phase_overridden: true,
  fence_settled: true,
  question_asked: true,
  question_answered: true,
  run_escalated: true,
  run_resumed: true,
  run_stopped: true,
  run_migrated: true,
};

/** Names of all events of a run. */
export const RUN_EVENT_TYPES = Object.keys(RUN_EVENTS) as readonly RunEventType[];

/** Whether a record of that name is an event of a run. */
export function isRunEvent(name: string): name is RunEventType {
  return Object.hasOwn(RUN_EVENTS, name);
}
