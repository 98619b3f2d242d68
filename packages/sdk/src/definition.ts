import type { Json, JsonObject, PhaseId } from '@phasegate/core';
import type {
  CheckSeverity,
  EvidenceClass,
  EvidenceRule,
  Mode,
  OneRunPer,
  Ring,
  WorkspaceUse,
} from '@phasegate/core/model';
import type { Arg } from './arg.ts';
import type { Dispatch } from './dispatch.ts';
import type { Outcome } from './outcome.ts';
import type { Dynamic, StepContext } from './stepContext.ts';
import type { StepDatabase } from './stepDatabase.ts';

/** A workflow as an author writes it in code. */
export interface WorkflowDefinition {
  /** The workflow's id, e.g. `w1_editing`. */
  readonly type: string;
  /** What humans call it. */
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Left out: the first step. */
  readonly initialStep?: PhaseId;
  readonly params?: Readonly<Record<string, ParamDefinition>>;
  /** Groups of tools by name. */
  readonly tools?: Readonly<Record<string, readonly string[]>>;
  readonly schemas?: Readonly<Record<string, JsonObject | boolean>>;
  readonly enforcement?: {
    readonly mode?: Mode | 'advisory';
    readonly ring?: Ring;
    /** Whether runs that write share the workspace, or wait for each other. */
    readonly workspace?: WorkspaceUse;
    readonly phaseTokens?: { readonly expirySeconds?: number };
    /** How long an agent may be silent before its run goes to another, from 1 to 86400. */
    readonly leaseSeconds?: number;
    /** How often a run is handed out again after its agent was lost, from 0 to 100. */
    readonly maxReclaims?: number;
  };
  /** `human`: only a human may start a run. */
  readonly start?: 'human' | 'anyone';
  /** What an agent must be able to do to claim a run. */
  readonly capabilities?: readonly string[];
  /** Refuses to start a run while another one of this workflow, or of it for the same target, is not ended. */
  readonly oneRunPer?: OneRunPer;
  /** The project's own SQLite database: commands get a copy as `PHASEGATE_DB`, functions get it as `ctx.db`. */
  readonly database?: DatabaseDefinition;
  readonly gates?: Readonly<Record<string, GateDefinition>>;
  readonly steps: readonly WorkflowStep[];
  /** What must be true of every run, proven by `phasegate check`. */
  readonly properties?: readonly PropertyDefinition[];
}

/** A promise about every run: one of `always`, `never` and `before`, with names of steps and human gates. */
export interface PropertyDefinition {
  readonly name: string;
  /** Every run that reaches the end has passed these. */
  readonly always?: PhaseId | readonly PhaseId[];
  /** No run reaches this; of several, no run reaches them all. */
  readonly never?: PhaseId | readonly PhaseId[];
  /** Each is passed before the one after it is entered. */
  readonly before?: readonly PhaseId[];
}

/** A protected SQLite database; paths are relative to the project. */
export interface DatabaseDefinition {
  readonly file: string;
  /** Folder of numbered migrations, the only way to change the schema. */
  readonly migrations?: string;
  /** How many backups to keep; left out: 10. */
  readonly keep?: number;
  /** Questions and changes by name: `ctx.db.planExists(ctx.runId)` calls `planExists` with the database first. */
  readonly helpers?: Readonly<Record<string, DatabaseHelper>>;
}

/** A function of the author's on the database. */
export type DatabaseHelper = (db: StepDatabase, ...args: readonly Dynamic[]) => unknown;

/** One step. It needs a `name` or an `id`; everything else may be left out. */
export interface WorkflowStep<Context = StepContext> {
  /** Unique; with an `id` beside it, what humans call the step. */
  readonly name?: PhaseId;
  readonly id?: PhaseId;
  readonly title?: string;
  readonly description?: string;
  readonly instructions?: string;
  /** Lines of instruction. */
  readonly actions?: readonly string[];
  /** Instructions, title and instructions, or a function that makes both anew at each visit. */
  readonly body?: string | readonly [title: string, body: string] | BodyFunction<Context>;
  /** Split into words without a shell and run in the project's root. */
  readonly command?: string;
  readonly handler?: Handler<Context> | Dispatch;
  /** The params its handler reads; they become params of the workflow. */
  readonly args?: Readonly<Record<string, Arg>>;
  /** The values of params with which the step is entered at all, e.g. `{ mode: ['full'] }`. */
  readonly onlyWhen?: Readonly<Record<string, readonly Json[]>>;
  readonly preconditions?: readonly Condition<Context>[];
  readonly postconditions?: readonly Condition<Context>[];
  readonly parallel?: boolean;
  /** Path into the checkpoint that holds the list of items. */
  readonly parallelKey?: string;
  /** Where a parallel step leads when the list is empty; left out: where it leads anyway. */
  readonly onEmpty?: PhaseId | null;
  /** How long its command or agent may take: seconds, or a duration such as `5m`. */
  readonly timeout?: number | string;
  readonly humanGate?: HumanGate;
  readonly gate?: string | GateDefinition<Context>;
  readonly gates?: readonly (string | GateDefinition<Context>)[];
  readonly allowedTools?: readonly string[];
  readonly forbiddenTools?: readonly string[];
  readonly toolConstraints?: Readonly<
    Record<string, { readonly allowed?: readonly string[]; readonly denied?: readonly string[] }>
  >;
  readonly writes?: readonly string[];
  /** Hosts that its programs may reach from a sandbox: `host`, `*.domain` or `host:port`. Left out: none. */
  readonly network?: { readonly hosts?: readonly string[] };
  readonly tasks?: readonly {
    readonly name: string;
    readonly instructions?: string;
    readonly acceptanceCriteria?: readonly string[];
  }[];
  readonly requiredArtifacts?: readonly (string | ArtifactDefinition)[];
  readonly requiredEvidence?: Readonly<Record<string, EvidenceDefinition>>;
  /** Left out: the following step. `null`: the end. */
  readonly next?: PhaseId | null | ConditionalNext<Context> | OutcomeNext;
}

/**
 * A named question. `check` is a function, an expression such as `result.delta > 0`, or, if it is a single
 * word, a check on the shelf that reads `with`.
 */
export interface Condition<Context = StepContext> {
  readonly name?: string;
  readonly check: string | CheckFunction<Context>;
  /** What the agent is told when it does not hold. */
  readonly error?: string;
  readonly message?: string;
  readonly with?: JsonObject;
  readonly needs?: EvidenceClass;
  /** Run by the engine on a copy of the measured tree; with nothing in `needs`, nothing less than `verified` will do. */
  readonly verify?: boolean;
  /** `false`: a check the engine looks at itself is not looked at again when a human approves. */
  readonly recheck?: boolean;
  /** `warning`: told to the agent, shown to the human, recorded, and nothing is refused. */
  readonly severity?: CheckSeverity;
}

/** Answers a condition. Anything but `true` or `false` is an error. */
export type CheckFunction<Context = StepContext> = (ctx: Context) => boolean | Promise<boolean>;

/** What a handler returns: an outcome, and what is merged into the run's state. */
export type HandlerResult = readonly [
  outcome: Exclude<Outcome, typeof Outcome.DEFAULT>,
  updates: Readonly<Record<string, unknown>>,
];

/** Does a step's work in code. */
export type Handler<Context = StepContext> = (ctx: Context) => HandlerResult | Promise<HandlerResult>;

/** Makes a step's title and instructions. */
export type BodyFunction<Context = StepContext> = (
  ctx: Context,
) => readonly [title: string, body: string] | Promise<readonly [title: string, body: string]>;

/** Two ways out, by a question about the run. */
export interface ConditionalNext<Context = StepContext> {
  readonly condition: string | CheckFunction<Context>;
  readonly onTrue: PhaseId | null;
  readonly onFalse: PhaseId | null;
  readonly maxIterations?: number;
  /** Left out: an exhausted loop is handed to a human. */
  readonly onExhausted?: PhaseId | null;
}

/** A way out per outcome. */
export type OutcomeNext = Readonly<Partial<Record<Outcome, PhaseId | null>>> & {
  readonly maxIterations?: number;
  readonly onExhausted?: PhaseId | null;
};

/** A human's decision after a step. */
export interface HumanGate {
  readonly prompt: string;
  /** Paths into the checkpoint, shown to the human. */
  readonly context?: readonly string[];
  readonly options: readonly GateOption[];
  /** Names of the humans who may decide; left out: any. */
  readonly approvers?: readonly string[];
  readonly quorum?: number;
  /** `false` where runs may reach the end without this decision. */
  readonly required?: boolean;
  readonly timeout?: { readonly after: string; readonly then?: 'park' | 'stop' };
}

/** One answer a human may give. */
export interface GateOption {
  readonly label: string;
  /** Left out: the step's own `next`. `null` ends the workflow. */
  readonly nextStep?: PhaseId | null;
  readonly requiresInput?: boolean;
  /** Whether choosing it approves what is shown; only asked for where it leads on by a way that is not the step's own. */
  readonly approves?: boolean;
}

/** Checks that stand between two steps, and perhaps a human's decision. */
export interface GateDefinition<Context = StepContext> {
  readonly blockers?: readonly Condition<Context>[];
  readonly human?: HumanGate;
}

/** Evidence with a JSON Schema: the name of one, or one in place. */
export interface ArtifactDefinition {
  readonly type: string;
  readonly description?: string;
  readonly schema?: string | JsonObject | boolean;
}

/** A named value that must be submitted. */
export interface EvidenceDefinition {
  readonly type: string;
  /** Left out: `present`, and `is_true` for a boolean. */
  readonly rule?: EvidenceRule;
  /** Whether `false` will do for a boolean. */
  readonly falseOk?: boolean;
  readonly description?: string;
}

/** A param: plain data, an `Arg`, or a domain such as `BoundedInt(1, 5)`. */
export type ParamDefinition =
  | Arg
  | {
      readonly type?: string;
      readonly description?: string;
      readonly choices?: readonly Json[];
      readonly min?: number;
      readonly max?: number;
      readonly constant?: Json;
      readonly default?: Json;
      readonly required?: boolean;
      /** `human`: an agent that starts a run cannot give it another value than its default. */
      readonly setBy?: 'human' | 'anyone';
    }
  | { readonly lo: number; readonly hi: number }
  | { readonly value: Json };
