import type { Json, JsonObject } from '../json.ts';
import type { Ending, EvidenceClass, Outcome, PhaseId, Ring, Target, Workflow } from '../model/workflow.ts';
import type { FoldedPaths } from './foldPaths.ts';
import type { Blocker, Warning } from './verdict.ts';
import { warned } from './warnings.ts';

/** Who acts. Bound where they authenticated, never named by a request body. */
export type Principal =
  | {
      readonly kind: 'agent';
      readonly name: string;
      /** The human whose key it showed: what it does counts as theirs. Absent where the key is nobody's. */
      readonly owner?: string;
    }
  | { readonly kind: 'human'; readonly name: string }
  | { readonly kind: 'engine'; readonly name: 'phasegate' };

/** One walk through a workflow. Holds its own copy of the workflow: editing a file cannot move a running agent's goal. */
export type Run = RunCore &
  (
    | { readonly status: 'queued'; readonly phase: PhaseId }
    | { readonly status: 'active'; readonly phase: PhaseId }
    | { readonly status: 'waiting'; readonly phase: PhaseId; readonly wait: Wait }
    | { readonly status: 'escalated'; readonly phase: PhaseId; readonly escalation: Escalation }
    | { readonly status: 'completed'; readonly phase: null }
    | {
        readonly status: 'stopped';
        readonly phase: null;
        readonly reason: string;
        readonly stoppedIn: PhaseId;
      }
  );

/** The states a run can be in. */
export type RunStatus = Run['status'];

/** What every run has, whatever its status. */
export interface RunCore {
  readonly id: string;
  readonly workflow: Workflow;
  /** SHA-256 of the canonical JSON of the workflow. */
  readonly workflowHash: string;
  readonly target: string | null;
  /** What the run is to achieve, in the words of `by`: said once, never changed, read by no condition. */
  readonly goal?: string;
  readonly params: JsonObject;
  /** The agent that holds the run; null while nobody has claimed it. */
  readonly holder: string | null;
  readonly ring: Ring;
  /** The git worktree the run works in, and nowhere else; absent: the project's own folder. */
  readonly folder?: string;
  /** Whether a human accepted the workflow's files. */
  readonly trusted: boolean;
  /** Raised by every transition and claim; a token of an older epoch is dead. */
  readonly epoch: number;
  /** What decides who may claim the run and how soon; absent where nothing was said. */
  readonly queue?: QueuePlace;
  /** Who started the run, and so set its params; absent in runs from before this was kept. */
  readonly by?: Starter;
  /** The human whose key the holder used; absent where it is nobody's. */
  readonly owner?: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  /** Every completion, oldest first; a phase visited twice is here twice. */
  readonly completions: readonly Completion[];
  /** What handlers returned, merged. */
  readonly state: JsonObject;
  /** How often each phase was entered, by id as text. */
  readonly visits: Readonly<Record<string, number>>;
  /** How often the way back out of each phase was taken, by id as text (`iterationCounts` of the checkpoint). */
  readonly iterations: Readonly<Record<string, number>>;
  readonly work: PhaseWork;
  /** Every decision a human took in this run. */
  readonly decisions: readonly GateDecision[];
  /** Which rules the run was started under; absent: those from before every value had an owner. */
  readonly rules?: 2;
  /** How many gates have opened; the newest's instance has this number. Absent while none has. */
  readonly gates?: number;
  /** Final decisions, oldest first, of phases that were not entered again since; absent while there is none. */
  readonly settled?: readonly SettledGate[];
  /** What humans did about changes outside a scope, oldest first; absent while there is nothing. */
  readonly fenced?: readonly FenceAct[];
  /** Phases that a human led the run past, oldest first; absent while there is none. */
  readonly overrides?: readonly Override[];
  /** Attempts that failed in visits which ended in `fail`, by phase id as text; absent while there are none. */
  readonly owed?: Readonly<Record<string, number>>;
}

/** A path of the workspace that is not as it was when the phase was entered. */
export interface TreeChange {
  readonly path: string;
  readonly how:
    | 'added'
    | 'changed'
    | 'removed'
    | 'mode'
    | 'type'
    /** The same file has another name that the phase may not write. */
    | 'linked'
    /** One of the guard's own files: its content is as before, and somebody wrote it. */
    | 'rewritten'
    | 'unreadable';
  /** Which tool call did it, where the audit knows. */
  readonly by?: string;
}

/** What changed within a phase's scope; of many some, with a count for every folder. */
export interface FilesChanged extends Omit<FoldedPaths, 'paths'> {
  readonly changes: readonly TreeChange[];
}

/** What a human did about changes outside a scope. */
export interface FenceAct {
  readonly action: 'accept' | 'restore' | 'quarantine';
  readonly phase: PhaseId;
  readonly paths: readonly string[];
  readonly reason: string;
  readonly by: string;
  readonly at: string;
}

/** Who started a run. */
export interface Starter extends Pick<Principal, 'kind' | 'name'> {
  /** The human whose key that agent used. */
  readonly owner?: string;
}

/**
 * A phase that a human led the run past, with the reason. The signature is over canonical JSON of
 * `{override: run, phase, epoch, to, reason, by}`.
 */
export interface Override {
  readonly phase: PhaseId;
  readonly epoch: number;
  readonly to: Target;
  readonly reason: string;
  readonly by: string;
  readonly at: string;
  readonly signature: string;
}

/** What came of a gate. */
export interface SettledGate {
  /** The gate's id, without the number of its instance. */
  readonly gate: string;
  readonly phase: PhaseId;
  readonly option: string;
  readonly input: string | null;
  readonly approves: boolean;
}

/** A run's place among those that wait to be claimed. */
export interface QueuePlace {
  /** Higher comes first; 0 where nothing was said. */
  readonly priority: number;
  /** What an agent must be able to do to claim the run, beside what its workflow asks for. */
  readonly capabilities: readonly string[];
}

/** What has happened in the current visit of the current phase. */
export interface PhaseWork {
  readonly enteredAt: string;
  /** Failed postconditions and blockers; the second escalates. */
  readonly attempts: number;
  /** Why the last attempt failed; the next one is told `Previous attempt failed: …`. */
  readonly failure: string | null;
  /** What a human wrote for anyone who works on this phase. */
  readonly note: string | null;
  /** The newest refusal and how often it came in a row. */
  readonly refusal: Repeated | null;
  /** Numbers of the tasks fetched in this visit, from 1. */
  readonly fetched: readonly number[];
  /** Items of a parallel phase by key, or null. */
  readonly items: Readonly<Record<string, Item>> | null;
  readonly answers: readonly Answer[];
  /** How often an agent was lost in this visit; absent while none was. */
  readonly crashes?: number;
  /** Hash of the workspace when the phase was entered; absent where there is no fence. */
  readonly tree?: string;
  /** Humans whose keys were used in this visit by agents that do not hold the run any more, or only an item of it. */
  readonly owners?: readonly string[];
  /** What the last completion was refused for by the fence; absent while there is nothing. */
  readonly outside?: readonly TreeChange[];
}

/** Refusals that come again and again. Ones that take turns count as one. */
export interface Repeated {
  readonly key: string;
  readonly count: number;
  /** The other refusals of this visit, newest last; absent while there is none. */
  readonly others?: readonly string[];
  /** How many refusals of any kind there were in this visit; absent while there was one. */
  readonly all?: number;
}

/** One completed visit of a phase. */
export interface Completion extends Result {
  readonly phase: PhaseId;
  readonly visit: number;
  readonly at: string;
  readonly by: string;
  readonly outcome: Ending;
  /** What a human approved beside the evidence: the names in the gate's context. Absent: nobody approved this visit. */
  readonly approved?: JsonObject;
  /** Whether something valid was judged in a visit that ended in `fail`. */
  readonly judged?: true;
  /** SHA-256 of the copy of the author's database that is installed with it; absent where there is none. */
  readonly database?: string;
  /** Hash of what the workspace held, where an artifact of the phase is bound to it. */
  readonly made?: string;
}

/** What was handed in, and what is known about it. */
export interface Result {
  readonly evidence: JsonObject;
  /** The agent's own words beside its evidence (`notes`, `commands_executed`), which no condition reads. */
  readonly word?: JsonObject;
  /** Strict mode would have refused it, so it gives no name a value. */
  readonly letThrough?: true;
  /** Of a parallel phase: the outcomes of the items that are not `ok`. */
  readonly outcomes?: Readonly<Record<string, Outcome>>;
  /** What did not hold and does not block; absent where there is nothing. */
  readonly warnings?: readonly Warning[];
  /** What programs that the engine ran established; absent where it ran none. */
  readonly established?: readonly Established[];
}

/** One item of a parallel phase. */
export interface Item {
  readonly status: 'pending' | 'completed' | 'failed';
  readonly value: Json;
  readonly evidence: JsonObject | null;
  readonly attempts: number;
  readonly error: string | null;
  /** How its work ended; absent: `ok`, or not yet. */
  readonly outcome?: Outcome;
  /** What its handler returned, kept until the phase is left. */
  readonly state?: JsonObject;
  /** The agent's own words beside the evidence. */
  readonly word?: JsonObject;
  /** What would have been refused, in permissive mode. */
  readonly wouldRefuse?: readonly Blocker[];
  /** Strict mode would have refused it. */
  readonly letThrough?: true;
  /** What did not hold when it was completed and does not block; absent where there is nothing. */
  readonly warnings?: readonly Warning[];
  /** What programs that the engine ran established when it was completed; absent where it ran none. */
  readonly established?: readonly Established[];
  /** Refusals of the item in this visit; absent while there was none. */
  readonly refusal?: Repeated;
  /** The agent that claimed the item; absent while nobody has. */
  readonly holder?: string;
  /** How often an agent was lost at this item; absent while none was. */
  readonly crashes?: number;
  /** SHA-256 of the copy of the author's database that was installed with it; absent where there is none. */
  readonly database?: string;
}

/** What a waiting run waits for. */
export type Wait = GateWait | QuestionWait;

/** Checks have passed; a human must choose. The evidence is kept until then. */
export interface GateWait extends Result {
  readonly for: 'gate';
  /** The gate's instance, e.g. `ship#4`: an approval of one can never serve another. */
  readonly gate: string;
  readonly since: string;
  readonly outcome: Outcome;
  readonly state: JsonObject;
  readonly by: string;
  /** Choices so far, where more than one human must agree. */
  readonly votes: readonly GateDecision[];
  /** What would have been refused before, in permissive mode: the human is shown it. */
  readonly wouldRefuse: readonly Blocker[];
  /** SHA-256 of the copy of the author's database that waits for the decision; absent where none does. */
  readonly database?: string;
  /** Hash of the workspace as it was judged; absent where there is no fence. */
  readonly tree?: string;
  /** Hash of what it held, where an artifact is bound to it. */
  readonly made?: string;
}

/** An agent asked; a human must answer every question. */
export interface QuestionWait {
  readonly for: 'questions';
  readonly since: string;
  readonly questions: readonly Question[];
  readonly answers: readonly Answer[];
}

/** One question with two or three options. */
export interface Question {
  readonly text: string;
  readonly options: readonly string[];
}

/** A human's answer; `elicited` ones came through the agent's own client. */
export interface Answer {
  /** From 1. */
  readonly question: number;
  readonly text: string;
  readonly by: string;
  readonly at: string;
  readonly elicited: boolean;
  /** The question's own words; absent in answers that were given before these were kept. */
  readonly asked?: string;
}

/** A human's choice at a gate. The signature is over canonical JSON of `{run, gate, option, input, shown, by}`. */
export interface GateDecision {
  readonly gate: string;
  readonly option: string;
  readonly input: string | null;
  readonly shown: string;
  readonly by: string;
  readonly at: string;
  readonly signature: string;
}

/** Why a human must act, with everything needed to decide. */
export interface Escalation {
  readonly reason:
    | 'attempts'
    | 'refusals'
    | 'iterations'
    | 'blocked'
    | 'gate_timed_out'
    | 'code_changed'
    | 'crashes'
    /** Its client stopped again and again while it was the agent's turn. */
    | 'stopped_early'
    /** A client did something that was never judged, or its hooks went silent. */
    | 'unjudged_calls'
    /** Its agent is attached with less than the workflow asks for. */
    | 'ring_too_low'
    /** The run's own copy of its workflow has something that cannot be used any more. */
    | 'definition_unusable';
  readonly message: string;
  readonly since: string;
  readonly blockers: readonly Blocker[];
}

/** The answer to one look. Anything but `passed` blocks. */
export interface CheckResult {
  readonly status: 'passed' | 'failed' | 'errored' | 'timed_out';
  readonly reason: string;
  readonly class: EvidenceClass;
  /** Id of the receipt of the program that was run for it. */
  readonly receipt?: string;
  /** Why it is not `verified`, though the engine was to verify it. */
  readonly lack?: { readonly code: string; readonly reason: string; readonly nextStep: string };
  /** Why it failed, where that has a code of its own. */
  readonly code?: 'runner_tampered' | 'evidence_class_too_low';
  /** Files as they were then, which later phases are held to. */
  readonly frozen?: Frozen;
}

/** Files as they were when a check looked at them. */
export interface Frozen {
  readonly globs: readonly string[];
  /** SHA-256 over every path and content. */
  readonly digest: string;
  /** Path to SHA-256; absent where there are too many to keep. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What a check established when a phase was judged. */
export interface Established {
  /** The label of the check. */
  readonly check: string;
  readonly class: EvidenceClass;
  readonly receipt?: string;
  /** Why it is not `verified`, in words. */
  readonly lack?: string;
  readonly frozen?: Frozen;
}

/** Only what is known about a result: what is absent must not be written. */
export function resultOf({ evidence, word, letThrough, outcomes, warnings, established }: Result): Result {
  return {
    evidence,
    ...(word === undefined ? {} : { word }),
    ...(letThrough === undefined ? {} : { letThrough }),
    ...(outcomes === undefined ? {} : { outcomes }),
    ...warned(warnings),
    ...(established === undefined || established.length === 0 ? {} : { established }),
  };
}

/** How often, by id as text: a phase may be called `toString`, and an object has that without being asked. */
export function timesOf(counts: Readonly<Record<string, number>>, id: PhaseId): number {
  return Object.hasOwn(counts, String(id)) ? (counts[String(id)] as number) : 0;
}
