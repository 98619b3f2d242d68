import type { JsonObject } from '../json.ts';
import type { RulePlaces } from '../model/rulePlaces.ts';
import type { Check, FunctionRef, Outcome, PhaseId, Target, Workflow } from '../model/workflow.ts';
import type { ReleaseCause } from './events.ts';
import type { MadeBy } from './keyMaker.ts';
import type { KnownNames } from './knownNames.ts';
import type { CheckResult, Escalation, FilesChanged, Principal, Question, TreeChange } from './run.ts';

/** What someone asks of a run. */
export type Command =
  | {
      readonly kind: 'complete';
      readonly phase: PhaseId;
      readonly evidence: JsonObject;
      readonly outcome?: Outcome;
      /** Why, where the outcome is `fail`. */
      readonly reason?: string;
      /** Key of the item, in a parallel phase. */
      readonly item?: string;
      /** Where the agent expects to go; another route is refused. */
      readonly target?: PhaseId | null;
      readonly at?: WorkedAt;
    }
  | { readonly kind: 'fetch_task'; readonly phase: PhaseId; readonly task: number }
  | { readonly kind: 'ask'; readonly questions: readonly Question[]; readonly at?: WorkedAt }
  | { readonly kind: 'report_blocked'; readonly reason: string; readonly at?: WorkedAt }
  /** The work of the current phase, or of one item, did not come off: an attempt, without evidence. */
  | {
      readonly kind: 'report_failure';
      readonly phase: PhaseId;
      readonly reason: string;
      readonly item?: string;
      readonly at?: WorkedAt;
    }
  | {
      readonly kind: 'decide';
      readonly gate: string;
      readonly option: string;
      readonly input?: string;
      /** Hash of what the human was shown. */
      readonly shown: string;
      /** Verified by the runtime before it is passed in. */
      readonly signature: string;
      /**
       * Places of the votes so far that count no more, as nobody who is a human now signed them. Only the runtime says
       * so; left out where all count.
       */
      readonly voided?: readonly number[];
      /**
       * Humans whose key was made since the run began, each with the human who made it and so may know what opens it.
       * Only the runtime says so; left out where there is none.
       */
      readonly madeBy?: MadeBy;
    }
  | { readonly kind: 'answer'; readonly question: number; readonly text: string; readonly elicited?: boolean }
  | { readonly kind: 'resume'; readonly note?: string }
  | { readonly kind: 'stop'; readonly reason: string }
  /** A human leads the run on although the phase's evidence, checks or gate say no. */
  | {
      readonly kind: 'override';
      /** Where the run stood when the human looked; another place by now refuses it. */
      readonly phase: PhaseId;
      readonly epoch: number;
      readonly to: Target;
      readonly reason: string;
      /** Verified by the runtime before it is passed in. */
      readonly signature: string;
    }
  /** Only the runtime makes one: it has loaded the workflow, asked whether a human accepted it, and had it proven. */
  | {
      readonly kind: 'migrate';
      readonly workflow: Workflow;
      readonly workflowHash: string;
      /** Whether a human accepted its files. */
      readonly trusted: boolean;
      readonly proof: Reachability;
      /** Where its rules are written. */
      readonly places?: RulePlaces;
    }
  /**
   * A human settles what was changed outside the scope. Only the runtime makes one: it has moved the files, or measured
   * the workspace again.
   */
  | {
      readonly kind: 'fence';
      readonly action: FenceAction;
      readonly paths: readonly string[];
      readonly reason: string;
      /** The measure from now on, where something was accepted. */
      readonly tree?: string;
    }
  /** An agent takes a queued run, or an open item of a parallel phase. */
  | { readonly kind: 'claim'; readonly item?: string }
  /** The engine's own, and for `given_back` the holder's: who holds the run, or one item of it, no longer does. */
  | {
      readonly kind: 'release';
      readonly cause: ReleaseCause;
      /** Whom it is about: another may hold it by now. */
      readonly holder: string;
      readonly item?: string;
    }
  /** The clock's command: a gate whose time is up. */
  | { readonly kind: 'expire' }
  /** The engine's own: something makes going on impossible to judge. */
  | { readonly kind: 'escalate'; readonly reason: Escalation['reason']; readonly message: string };

/**
 * Where the run stood when the work for a command was begun. The runtime refuses the command with `run_changed` where
 * the run has moved since, and takes this off: the engine never sees it.
 */
export interface WorkedAt {
  readonly epoch: number;
  /** The how-manieth visit of the phase. */
  readonly visit?: number;
}

/** What a human can do about a change outside the scope. */
export type FenceAction = 'accept' | 'restore' | 'quarantine';

/** Whether a run could be where it is under another workflow: by which way, or why not. */
export type Reachability =
  | { readonly reachable: true; readonly trace: readonly string[] }
  | { readonly reachable: false; readonly reason: string };

/** Everything `decide` may know beside the run: who, when, and what was looked at. */
export interface Circumstance {
  readonly principal: Principal;
  /** ISO time; never before the run's `updatedAt`. */
  readonly now: string;
  readonly facts: Facts;
  /** Names of the humans there are now, where somebody decides; absent: not known. */
  readonly humans?: readonly string[];
  /** Hash of the gate card as it stands now; the runtime computes it, as the engine has no hash function. */
  readonly shown?: string;
  /**
   * SHA-256 of the sealed copy of the author's database that comes with the work. At a gate: of the copy that waits
   * there, and only where it can still be installed.
   */
  readonly database?: string;
  /** Hash of the workspace as it was measured for this command; absent where there is no fence, or a look says it. */
  readonly tree?: string;
  /** The git worktree in which this is; absent: the project's own folder. */
  readonly folder?: string;
}

/** What was established, by the id of the look that asked for it. */
export type Facts = Readonly<Record<string, Fact>>;

/** The answer to a look. */
export type Fact =
  | { readonly kind: 'check'; readonly result: CheckResult }
  | {
      readonly kind: 'handler';
      readonly result:
        | { readonly ok: true; readonly outcome: Outcome; readonly state: JsonObject }
        | { readonly ok: false; readonly reason: string; readonly timedOut: boolean };
    }
  | {
      readonly kind: 'condition';
      readonly result:
        | { readonly ok: true; readonly value: boolean }
        | { readonly ok: false; readonly reason: string };
    }
  | {
      readonly kind: 'tree';
      readonly result:
        | {
            readonly ok: true;
            /** Hash of the workspace as it is now. */
            readonly tree: string;
            /** What changed outside the phase's scope since it was entered. */
            readonly outside: readonly TreeChange[];
            /** How many more there are. */
            readonly more?: number;
            /** What is on record and refuses nothing. */
            readonly noticed?: readonly TreeChange[];
            /** What changed within the scope; absent in facts from before it was told. */
            readonly inside?: FilesChanged;
            /** Hash of what the workspace holds, as receipts have it; absent where it is too large. */
            readonly state?: string;
          }
        | { readonly ok: false; readonly code: 'tree_moved' | 'tree_unknown'; readonly reason: string };
    };

/** Something that must be established before deciding: the engine asks, it does not look. */
export type Look =
  | { readonly kind: 'check'; readonly id: string; readonly check: Check; readonly subject: Subject }
  | { readonly kind: 'handler'; readonly id: string; readonly ref: FunctionRef; readonly subject: Subject }
  | { readonly kind: 'condition'; readonly id: string; readonly ref: FunctionRef; readonly subject: Subject }
  /** The workspace compared with what it was when the phase was entered. */
  | {
      readonly kind: 'tree';
      readonly id: string;
      readonly run: string;
      readonly phase: PhaseId;
      /** Hash of the measure it is compared with. */
      readonly tree: string;
    };

/** What a look is about: the run as it is, or as it would be, in data. */
export interface Subject {
  readonly runId: string;
  readonly phase: PhaseId;
  readonly target: string | null;
  readonly attempt: number;
  /** Roots of the condition language: result, artifacts, approved, params, state, checkpoint, iteration, item, and each artifact type. */
  readonly scope: JsonObject;
  /** Evidence the phase itself declares. */
  readonly declares: readonly string[];
  /** Names that a human gate covers: what they are measured against is `approved`, and nothing else. */
  readonly covered: readonly string[];
  /** Bare names of the checkpoint that are nobody's, with the steps whose results hold them. */
  readonly contested?: Readonly<Record<string, readonly PhaseId[]>>;
  /** The how-manieth visit it is in which something valid is judged, from 1. */
  readonly reviews: number;
  /** Hash of the code a function look must be answered by. */
  readonly code: string | null;
  /** The names a function may read though nothing is there yet; absent where the workflow has no functions. */
  readonly known?: KnownNames;
}
