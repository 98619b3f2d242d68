import type { Json, JsonObject } from '../json.ts';
import type {
  CheckSeverity,
  Content,
  EvidenceClass,
  EvidenceRule,
  FunctionRef,
  Mode,
  OneRunPer,
  Outcome,
  PhaseId,
  Ring,
  Target,
  Templates,
  WorkspaceUse,
} from './workflow.ts';

/**
 * What a loader hands to `defineWorkflow`: the author's words in one shape, not yet checked against each other.
 * Loaders check shape (keys, types); `defineWorkflow` checks meaning.
 */
export interface WorkflowDraft {
  readonly id: string;
  readonly title?: string;
  readonly version?: string;
  readonly description?: string;
  readonly params?: Readonly<Record<string, ParamDraft>>;
  /** Groups of tools by name. */
  readonly tools?: Readonly<Record<string, readonly string[]>>;
  /** JSON Schemas by name; paths are already read. */
  readonly schemas?: Readonly<Record<string, JsonObject | boolean>>;
  readonly enforcement?: {
    readonly mode?: Mode;
    readonly ring?: Ring;
    readonly tokenSeconds?: number;
    readonly workspace?: WorkspaceUse;
    readonly leaseSeconds?: number;
    readonly maxReclaims?: number;
  };
  /** What an agent must be able to do to claim a run. */
  readonly capabilities?: readonly string[];
  /** What only one unfinished run may be there for. */
  readonly oneRunPer?: OneRunPer;
  /** Who may start a run: `human` or `anyone`. */
  readonly start?: string;
  /** The file the phases of this run were made from, and its hash. */
  readonly source?: { readonly path: string; readonly hash: string };
  /** The author's own SQLite database; paths are relative to the project. */
  readonly database?: { readonly file: string; readonly migrations?: string; readonly keep?: number };
  readonly gates?: Readonly<Record<string, GateDraft>>;
  /** Absent: the first phase. */
  readonly entry?: PhaseId;
  readonly phases: readonly PhaseDraft[];
  /** What the author promises about every run. */
  readonly properties?: readonly PropertyDraft[];
  /** Hash of the module and all it imports, where the workflow has functions. */
  readonly code?: string | null;
  /** The module those functions are in, relative to the project. */
  readonly module?: string | null;
  /** Templates of the phases and tasks that come from a source. */
  readonly templates?: Templates;
}

/** A promise about every run, as written: one of `always`, `never` and `before`, with names of phases and gates. */
export interface PropertyDraft {
  readonly name: string;
  readonly always?: readonly PhaseId[];
  readonly never?: readonly PhaseId[];
  readonly before?: readonly PhaseId[];
}

/** A phase as written. */
export interface PhaseDraft {
  readonly id: PhaseId;
  readonly name?: string;
  readonly description?: string;
  readonly instructions?: string;
  readonly content?: Content;
  readonly sourceId?: string;
  readonly render?: FunctionRef;
  readonly work?:
    | { readonly kind: 'command'; readonly command: string }
    | { readonly kind: 'handler'; readonly ref: FunctionRef }
    | {
        readonly kind: 'dispatch';
        readonly agent: string;
        readonly script?: string;
        readonly prompt?: string;
        readonly supportsQuestions?: boolean;
      };
  readonly allowedTools?: readonly string[];
  readonly forbiddenTools?: readonly string[];
  readonly toolConstraints?: Readonly<
    Record<string, { readonly allowed?: readonly string[]; readonly denied?: readonly string[] }>
  >;
  readonly writes?: readonly string[];
  /** What its programs may reach from a sandbox. */
  readonly network?: { readonly hosts?: readonly string[] };
  readonly tasks?: readonly {
    readonly name: string;
    readonly instructions?: string;
    readonly acceptanceCriteria?: readonly string[];
    readonly content?: Content;
  }[];
  readonly preconditions?: readonly CheckDraft[];
  readonly postconditions?: readonly CheckDraft[];
  readonly fields?: readonly {
    readonly name: string;
    readonly type: string;
    /** Absent: `present`, and `is_true` for a boolean. */
    readonly rule?: EvidenceRule;
    readonly description?: string;
    /** Whether `false` will do for a boolean. */
    readonly falseOk?: boolean;
    /** What a list must hold, each once and nothing else. */
    readonly exactly?: readonly string[];
  }[];
  readonly artifacts?: readonly ArtifactDraft[];
  /** Examples of evidence, by name. */
  readonly examples?: JsonObject;
  /** Names of gates, or gates in place. */
  readonly gates?: readonly (string | GateDraft)[];
  readonly parallel?: { readonly key: string; readonly onEmpty?: Target };
  /** How long its command or agent may take: seconds, or a duration such as `5m`. */
  readonly timeout?: number | string;
  /** Names of the params its work reads. */
  readonly args?: readonly string[];
  /** The values of params with which it is entered at all. */
  readonly onlyWhen?: Readonly<Record<string, readonly Json[]>>;
  /** Absent: the following phase as written; after the last, the end. */
  readonly next?: RouteDraft;
}

/** A check as written. A function has `ref` and no `check`. */
export interface CheckDraft {
  readonly check?: string;
  readonly ref?: FunctionRef;
  readonly label?: string;
  readonly with?: JsonObject;
  readonly message?: string;
  readonly needs?: EvidenceClass;
  /** The engine runs it on a copy of the measured tree. With nothing in `needs`, nothing less will do. */
  readonly verify?: boolean;
  /** `false`: not looked at again when a human approves what it was about. */
  readonly recheck?: boolean;
  /** Absent: `error`. */
  readonly severity?: CheckSeverity;
}

/** An artifact as written; `schema` is the name of one, or one in place. */
export interface ArtifactDraft {
  readonly type: string;
  readonly description?: string;
  readonly schema?: string | JsonObject | boolean;
  /** Whether it is kept what the workspace held when it was handed in, for checks that ask for the same. */
  readonly bound?: boolean;
  /** What the engine runs to see that it holds: `command`, with `expect` for tests, and parameters of the check. */
  readonly verify?: Json;
}

/** A gate as written. */
export interface GateDraft {
  readonly id?: string;
  readonly blockers?: readonly CheckDraft[];
  readonly human?: {
    readonly prompt: string;
    readonly context?: readonly string[];
    readonly options: readonly {
      readonly label: string;
      readonly next?: Target;
      readonly requiresInput?: boolean;
      /** Whether choosing it approves; only needed where it leads on by a way that is not the phase's own. */
      readonly approves?: boolean;
    }[];
    readonly approvers?: readonly string[];
    readonly quorum?: number;
    /** `false`: runs may reach the end without this decision. */
    readonly required?: boolean;
    /** Whether the yes of the human who started the run does not count. */
    readonly separate?: boolean;
    /** `after` is a duration such as `90s`, `30m`, `24h`, `7d`; `to` a phase, with `then: route`. */
    readonly timeout?: { readonly after: string; readonly then?: string; readonly to?: PhaseId };
  };
}

/** A route as written. */
export type RouteDraft =
  | { readonly to: Target }
  | {
      readonly condition: string | { readonly ref: FunctionRef; readonly source: string };
      readonly onTrue: Target;
      readonly onFalse: Target;
      readonly maxIterations?: number;
      readonly onExhausted?: Target;
    }
  | {
      readonly outcomes: Readonly<Partial<Record<Outcome | '_default', Target>>>;
      readonly maxIterations?: number;
      readonly onExhausted?: Target;
    };

/** A param as written. */
export interface ParamDraft {
  readonly type?: string;
  readonly description?: string;
  readonly choices?: readonly Json[];
  readonly min?: number;
  readonly max?: number;
  readonly constant?: Json;
  readonly default?: Json;
  readonly required?: boolean;
  /** Who may give it another value than its default: `human` or `anyone`. */
  readonly setBy?: string;
}

/** Something wrong with a draft, by its place in the draft, e.g. `['phases', 2, 'next', 'onTrue']`. */
export interface DraftProblem {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
  readonly severity: 'error' | 'note';
  /** Offset inside the text at `path`, for a condition that does not parse. */
  readonly offset?: number;
}

/** What the shelf of checks can answer, so that an unknown check or a wrong parameter is found before a run. */
export interface KnownCheck {
  /** JSON Schema of `with`. */
  readonly parameters: JsonObject;
  /** The class of evidence its answers have. */
  readonly class: EvidenceClass;
  /** Whether it runs a program, so that `verified` is to be had on a copy of the tree and nowhere else. */
  readonly verifiable?: true;
  /** Keys of `with` that hold a condition to be parsed. */
  readonly conditions?: readonly string[];
  /** `subject` where the run and what was handed in decide its answer, and nothing in the workspace does. */
  readonly reads?: 'subject' | 'workspace';
}
