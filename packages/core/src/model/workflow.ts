import type { Json, JsonObject } from '../json.ts';
import type { Expression } from './expression/expression.ts';
import type { Outcome } from './outcome.ts';
import type { Ring } from './rings.ts';

export { type Ending, isPassed, OUTCOMES, type Outcome, REPORTED_OUTCOMES } from './outcome.ts';
export { type Attachment, RINGS, type Ring } from './rings.ts';

/** What the author wrote: a number if it is all digits, else a string. */
export type PhaseId = string | number;

/** Where a way leads: a phase, or `null` for the end. */
export type Target = PhaseId | null;

/** How far an answer can be trusted: the agent's word, seen at a call we carried, run by the engine itself. */
export type EvidenceClass = 'claimed' | 'observed' | 'verified';

/** Evidence classes from weakest to strongest. */
export const EVIDENCE_CLASSES: readonly EvidenceClass[] = ['claimed', 'observed', 'verified'];

/** `permissive` judges, records and reports everything and blocks nothing. */
export type Mode = 'strict' | 'permissive';

/** Immutable, validated data: phases and how they lead to each other. Only `defineWorkflow` makes one. */
export interface Workflow {
  readonly id: string;
  readonly title: string;
  readonly version: string | null;
  readonly description: string;
  readonly params: Readonly<Record<string, Param>>;
  readonly enforcement: Enforcement;
  readonly entry: PhaseId;
  readonly phases: readonly Phase[];
  /** Hash of the module and all it imports, where the workflow has functions; else null. */
  readonly code: string | null;
  /** The module those functions are in, relative to the project; null without functions. */
  readonly module: string | null;
  /** Templates of the phases and tasks that come from a source; null where none do. */
  readonly templates: Templates | null;
  /** What an agent must be able to do to claim a run; absent where nothing is asked. */
  readonly capabilities?: readonly string[];
  /** What only one unfinished run may be there for; absent where there may be any number. */
  readonly oneRunPer?: OneRunPer;
  /** `human`: only a human may start a run; absent: anyone may. */
  readonly start?: 'human';
  /** The file the phases of this run were made from, and its hash; absent where none were. */
  readonly source?: { readonly path: string; readonly hash: string };
  /** The author's own SQLite database, protected; absent where there is none. */
  readonly database?: WorkflowDatabase;
  /** What the author promises about every run, for `phasegate check` to prove; absent where nothing is. */
  readonly properties?: readonly Property[];
}

/** One run at a time of the whole workflow, or for each target. */
export type OneRunPer = 'target' | 'workflow';

/** Every scope there may be one run in. */
export const ONE_RUN_PER: readonly OneRunPer[] = ['target', 'workflow'];

/** A promise about every run. */
export interface Property {
  readonly name: string;
  /**
   * `always`: a run that reaches the end has passed all of these. `never`: no run reaches all of these.
   * `before`: each is passed before the one after it is entered.
   */
  readonly kind: 'always' | 'never' | 'before';
  readonly of: readonly PropertySubject[];
}

/** What a property is about: a phase, or the human gate of that id. */
export type PropertySubject =
  | { readonly kind: 'phase'; readonly phase: PhaseId }
  | { readonly kind: 'gate'; readonly gate: string };

/** The database a workflow's steps work on. */
export interface WorkflowDatabase {
  /** Relative to the project. */
  readonly file: string;
  /** Folder of numbered migrations, relative to the project; null where there are none. */
  readonly migrations: string | null;
  /**
   * SHA-256 of each migration by its name, as they were when the workflow was loaded: only these are applied for a run
   * of it. Absent in runs from before this was kept, and where there are no migrations.
   */
  readonly accepted?: Readonly<Record<string, string>>;
  /** How many backups to keep. */
  readonly keep: number;
}

/** Texts with `[PLACEHOLDER]`s. */
export interface Templates {
  readonly phase: string;
  readonly task: string;
}

/**
 * Where a text comes from: exactly as written, or a template filled with these values when it is first read.
 * Values are kept instead of texts because the same template stands behind every phase of a source.
 */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'template'; readonly values: Readonly<Record<string, string>> };

/** Whether a run that writes has the workspace to itself. */
export type WorkspaceUse = 'exclusive' | 'shared';

/** Every use of a workspace, in the order they are documented. */
export const WORKSPACE_USES: readonly WorkspaceUse[] = ['exclusive', 'shared'];

/** How strictly a workflow is held, and in which ring. */
export interface Enforcement {
  readonly mode: Mode;
  readonly ring: Ring;
  readonly tokenSeconds: number;
  /** Whether runs that write share the workspace; absent in runs from before it was `exclusive` where nothing is said. */
  readonly workspace?: WorkspaceUse;
  /** How long an agent may be silent before its run goes to another; absent: `LEASE_SECONDS`. */
  readonly leaseSeconds?: number;
  /** How often a run is handed out again after its agent was lost; absent: `MAX_RECLAIMS`. */
  readonly maxReclaims?: number;
}

/** How long a lease lasts where the workflow does not say. */
export const LEASE_SECONDS = 300;

/** How often a lost agent's run is handed out again where the workflow does not say. */
export const MAX_RECLAIMS = 3;

/** How often what a lost agent held is handed out again. */
export function reclaimsOf(workflow: Workflow): number {
  return workflow.enforcement.maxReclaims ?? MAX_RECLAIMS;
}

/** One node of the graph. */
export interface Phase {
  readonly id: PhaseId;
  /** The id where every id of the workflow is an integer, else the position from 1. */
  readonly number: number;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** What is served instead of a text made from the parts of the phase, or null. */
  readonly content: Content | null;
  /** The id the phase has in the source it comes from, where that is not its own; else null. */
  readonly sourceId: string | null;
  /** A function that makes title and instructions anew at each visit, or null. */
  readonly render: FunctionRef | null;
  readonly work: Work;
  readonly tasks: readonly Task[];
  readonly tools: ToolPolicy;
  /** The one write scope, as globs relative to the workspace. Empty means nothing may be written. */
  readonly writes: readonly string[];
  /** Hosts that its programs may reach from a sandbox; absent: none. */
  readonly hosts?: readonly string[];
  readonly preconditions: readonly Check[];
  readonly evidence: EvidenceRules;
  readonly postconditions: readonly Check[];
  /** Checks of all the gates behind this phase, in the order written. */
  readonly blockers: readonly Check[];
  readonly humanGate: HumanGate | null;
  readonly parallel: Parallel | null;
  readonly next: Route;
  /** How long its command or agent may take; absent: what the runner is told. */
  readonly timeoutSeconds?: number;
  /** The params its work reads; absent where nothing was said. */
  readonly args?: readonly string[];
  /** The values of params with which it is entered at all; a precondition holds the run to it. */
  readonly onlyWhen?: Readonly<Record<string, readonly Json[]>>;
}

/** The name of a function of a TypeScript workflow, e.g. `steps/writer/postconditions/chapters_modified`. */
export type FunctionRef = string;

/** Who does the work of a phase. */
export type Work =
  | { readonly kind: 'agent' }
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'handler'; readonly ref: FunctionRef }
  | {
      readonly kind: 'dispatch';
      readonly agent: string;
      readonly script: string | null;
      readonly prompt: string | null;
      readonly supportsQuestions: boolean;
    };

/** A piece of instruction inside a phase, fetched one at a time. */
export interface Task {
  readonly name: string;
  readonly instructions: string;
  readonly acceptanceCriteria: readonly string[];
  /** What is served instead of a text made from the parts of the task, or null. */
  readonly content: Content | null;
}

/** Which tools a phase has. Names are contract tools or `mcp:SERVER/TOOL`; groups are already resolved. */
export interface ToolPolicy {
  readonly allowed: readonly string[];
  readonly forbidden: readonly string[];
  readonly constraints: Readonly<Record<string, ToolConstraint>>;
}

/** Path globs for file tools, word patterns for `bash`. */
export interface ToolConstraint {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

/** A named question about the world with a yes/no answer and a reason. */
export interface Check {
  /** Unique in the workflow, e.g. `TDD/blockers/0`. */
  readonly id: string;
  /** The check on the shelf that answers it. */
  readonly use: string;
  readonly label: string;
  readonly with: JsonObject;
  readonly message: string;
  /** The least class of evidence an answer must have. */
  readonly needs: EvidenceClass;
  /** To be run on a copy of the measured tree, also where less than `verified` will do. */
  readonly verify?: true;
  /** Looked at again when a human approves: it is about the world, which moves while a gate is open. */
  readonly recheck?: true;
  /** `warning`: told, shown and recorded where it does not hold, and nothing is refused; absent: it blocks. */
  readonly severity?: 'warning';
  /** Of a precondition: evidence alone decides it, so it is answered before a gate opens that leads to it. */
  readonly frozen?: true;
}

/** What a check that does not hold does: `error` refuses, `warning` is told. */
export type CheckSeverity = 'error' | 'warning';

/** Every severity of a check, in the order they are documented. */
export const CHECK_SEVERITIES: readonly CheckSeverity[] = ['error', 'warning'];

/** What must be submitted to complete a phase. */
export interface EvidenceRules {
  readonly fields: readonly EvidenceField[];
  readonly artifacts: readonly Artifact[];
  /** Examples from the documents the evidence is asked for in, by name. */
  readonly examples?: JsonObject;
}

/** A named value with a type and a simple rule (design 0's checkpoint evidence). */
export interface EvidenceField {
  readonly name: string;
  readonly type: 'int' | 'str' | 'list' | 'bool' | 'number' | 'object';
  readonly rule: EvidenceRule;
  readonly description: string;
  /** What a list must hold, each once and nothing else; absent where anything will do. */
  readonly exactly?: readonly string[];
}

/**
 * `positive` is a number above zero or something with a length above zero. `is_true` is what a boolean must be
 * unless its definition lets `false` pass; then it is `present`.
 */
export type EvidenceRule = 'present' | 'positive' | 'non_empty' | 'optional' | 'is_true';

/** Every rule of evidence, in the order they are documented. */
export const EVIDENCE_RULES: readonly EvidenceRule[] = [
  'present',
  'positive',
  'non_empty',
  'optional',
  'is_true',
];

/** Evidence with a JSON Schema. */
export interface Artifact {
  readonly type: string;
  readonly description: string;
  /** JSON Schema 2020-12, or null where any value will do. */
  readonly schema: JsonObject | boolean | null;
  /** It is kept what the workspace held when it was handed in. */
  readonly bound?: true;
}

/** A human's decision between this phase and the next. */
export interface HumanGate {
  readonly id: string;
  readonly prompt: string;
  /** Paths into `checkpoint`, shown to the human. */
  readonly context: readonly string[];
  readonly options: readonly GateOption[];
  /** Names of the humans who may decide; empty means any. */
  readonly approvers: readonly string[];
  /** How many different humans must choose the same option. */
  readonly quorum: number;
  readonly timeout: GateTimeout | null;
  /** The yes of the human who started the run, or whose agent did, does not count either. */
  readonly separate?: true;
  /** `false` where runs may reach the end without it; `phasegate check` proves the contrary of every other gate. */
  readonly required?: boolean;
}

/** One answer a human may give. */
export interface GateOption {
  readonly label: string;
  /** Absent: the phase's own route. `null`: the human ends the run here, and it is `stopped`. */
  readonly next?: Target;
  readonly requiresInput: boolean;
  /** What the author said about it; absent: it approves if its way is the phase's own after `ok`. */
  readonly approves?: boolean;
}

/**
 * When nobody decides in time: park hands the run to a human, stop ends it, route leads to a phase from which nothing
 * that a yes leads to is reached without another human. Nothing approves by itself.
 */
export type GateTimeout =
  | { readonly afterSeconds: number; readonly afterwards: 'park' | 'stop' }
  | { readonly afterSeconds: number; readonly afterwards: 'route'; readonly to: PhaseId };

/** Items of the checkpoint that are worked on side by side. */
export interface Parallel {
  /** A path into `checkpoint` that holds a list. */
  readonly key: string;
  /** Where it leads when the list is empty; absent: where the phase leads anyway. */
  readonly onEmpty?: Target;
}

/** Where a phase leads. */
export type Route =
  | { readonly kind: 'to'; readonly target: Target }
  | {
      readonly kind: 'when';
      readonly condition: Condition;
      readonly onTrue: Target;
      readonly onFalse: Target;
      readonly maxIterations: number | null;
      /** Absent: an exhausted loop is escalated to a human. */
      readonly onExhausted?: Target;
    }
  | {
      readonly kind: 'outcomes';
      readonly map: Readonly<Partial<Record<Outcome, Target>>>;
      /** Absent: an outcome that is not in the map is refused. */
      readonly otherwise?: Target;
      readonly maxIterations: number | null;
      readonly onExhausted?: Target;
    };

/** A question about the run: parsed text, or a function of a TypeScript workflow. */
export type Condition =
  | { readonly kind: 'expression'; readonly source: string; readonly expression: Expression }
  | { readonly kind: 'function'; readonly ref: FunctionRef; readonly source: string };

/** A named value a run is started with. */
export interface Param {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'object';
  readonly description: string;
  readonly domain: ParamDomain | null;
  readonly required: boolean;
  readonly default?: Json;
  /** `human`: an agent that starts a run leaves it at its default; absent: anyone may set it. */
  readonly setBy?: 'human';
}

/** The values a param may take, as data. `domains.ts` makes iterables of them. */
export type ParamDomain =
  | { readonly kind: 'bounded_int'; readonly lo: number; readonly hi: number }
  | { readonly kind: 'range'; readonly min: number | null; readonly max: number | null }
  | { readonly kind: 'choice_set'; readonly choices: readonly Json[] }
  | { readonly kind: 'constant'; readonly value: Json };

/** The phase with this id, or undefined. Ids are compared as they were written. */
export function phaseById({ phases }: Pick<Workflow, 'phases'>, id: PhaseId | null): Phase | undefined {
  return id === null ? undefined : byId(phases).get(id)?.phase;
}

/** Where the phase with this id stands among the phases of its workflow, or -1. */
export function positionOf({ phases }: Pick<Workflow, 'phases'>, id: PhaseId): number {
  return byId(phases).get(id)?.position ?? -1;
}

type PhasesById = ReadonlyMap<PhaseId, { readonly phase: Phase; readonly position: number }>;

/** Made once for each workflow: what goes over all completions or routes would else search all phases for each. */
const maps = new WeakMap<Workflow['phases'], PhasesById>();

function byId(phases: Workflow['phases']): PhasesById {
  const known = maps.get(phases);
  if (known !== undefined) return known;
  const made = new Map<PhaseId, { readonly phase: Phase; readonly position: number }>();
  // The first of an id counts, as it would in a search.
  for (const [position, phase] of phases.entries())
    if (!made.has(phase.id)) made.set(phase.id, { phase, position });
  maps.set(phases, made);
  return made;
}
