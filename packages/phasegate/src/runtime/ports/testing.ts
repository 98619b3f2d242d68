import type { AuditRecord, Json, JsonObject, Outcome, PhaseId, ToolUse, Workflow } from '@phasegate/core';
import type { ParamDraft } from '@phasegate/core/model';
import type { Project } from './project.ts';

/** What is tested: that a workflow loads, its shape, each step in every case, and the domains of its params. */
export type TestCategory = 'import' | 'structure' | 'steps' | 'domains' | 'contract';

/** A workflow to test. */
export interface TestRequest {
  readonly project: Project;
  readonly workflow: string;
  /** Only tests whose name has this in it. */
  readonly filter: string | null;
  /** Only tests of this kind; contract tests belong to none of the four. */
  readonly category: TestCategory | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Told of each test as it ends. */
  report(result: TestResult): void;
  /** Told of each run a test made, before it is forgotten; left out, nothing is read back. */
  observe?(seen: SeenRun): void;
  /** Told of the blockers of each start that was refused in a test, as it made no run. */
  observeRefusedStart?(blockers: Json, category: SeenRun['category']): void;
}

/** A run that a test made: the workflow it really had, and all that was recorded of it. */
export interface SeenRun {
  /** A case of a single step goes around gates, checks and evidence; a contract test does not. */
  readonly category: 'steps' | 'contract';
  readonly workflow: Workflow;
  readonly records: readonly AuditRecord[];
}

/** How one test ended. */
export interface TestResult {
  readonly name: string;
  readonly category: TestCategory;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was left out; empty where it passed. */
  readonly message: string;
  readonly ms: number;
}

/** Tests a workflow. Throws for what is wrong with the definition or with a file of contract tests. */
export type TestWorkflow = (request: TestRequest) => Promise<readonly TestResult[]>;

/** How checks are answered, by label or id, instead of being looked at. */
export type CheckAnswers = Readonly<Record<string, 'pass' | 'fail'>>;

/** Contract tests as they were written, their shape and names checked. */
export interface ContractTests {
  readonly file: string;
  /** What is handed in at each phase by the scripted agents, by its id as text. */
  readonly evidence: Readonly<Record<string, JsonObject>>;
  readonly params: JsonObject;
  readonly target: string | null;
  readonly checks: CheckAnswers;
  /** Whether checks that look at the world really do, where they are not answered. */
  readonly real: boolean;
  /** Values to try of params that the workflow leaves open. */
  readonly domains: Readonly<
    Record<string, Pick<ParamDraft, 'type' | 'choices' | 'min' | 'max' | 'constant'>>
  >;
  /** Steps whose generated cases are left out, and why. */
  readonly skip: Readonly<Record<string, string>>;
  readonly demands: Demands;
  readonly tests: readonly ContractTest[];
}

/**
 * What must hold whatever the workflow says, so that a hole in it is found: by the id of a phase as text. The scripted
 * agents try to get around it.
 */
export interface Demands {
  /** Phases that are left by a human's decision only. */
  readonly gates: readonly string[];
  /** What a phase is not completed without. */
  readonly evidence: Readonly<Record<string, readonly string[]>>;
  /** Tools that are refused in a phase. */
  readonly forbidden: Readonly<Record<string, readonly string[]>>;
}

/** One test: steps of its own, or a scripted agent. */
export interface ContractTest {
  readonly name: string;
  readonly params: JsonObject;
  readonly target: string | null;
  readonly checks: CheckAnswers;
  readonly real: boolean;
  /** Where the run must be after all of it; null where nothing was said. */
  readonly expect: Expectation | null;
  readonly agent: ScriptedAgent | null;
  /** The phase that an honest agent works up to before the steps; null where they begin with the run. */
  readonly at: PhaseId | null;
  /** What the human chooses at the gate of each phase; the first option where nothing is said. */
  readonly choose: Readonly<Record<string, HumanChoice>>;
  readonly steps: readonly ContractStep[];
}

/** Agents that know their part. */
export type ScriptedAgent = 'honest' | 'forgetful' | 'cheating';

/** What a human does at a gate. */
export interface HumanChoice {
  readonly choose: string;
  readonly input: string | null;
  /** Their name; null: anyone who may. */
  readonly as: string | null;
}

/** One step: who does what, and what must come of it. */
export interface ContractStep {
  /** In the file, counted from 1. */
  readonly line: number;
  readonly act:
    | {
        readonly who: 'agent';
        readonly complete: PhaseId;
        readonly evidence: JsonObject;
        readonly outcome: Outcome | null;
        readonly reason: string | null;
        readonly item: string | null;
        /** Reads the tasks of the phase first. */
        readonly readsTasks: boolean;
      }
    | ({ readonly who: 'human' } & HumanChoice)
    | { readonly who: 'human'; readonly resume: string }
    | { readonly who: 'tool'; readonly use: ToolUse };
  readonly checks: CheckAnswers;
  readonly expect: Expectation;
}

/** What must be so; what is null is not asked. */
export interface Expectation {
  readonly allowed: boolean | null;
  readonly code: string | null;
  readonly phase: PhaseId | null | undefined;
  readonly status: string | null;
}
