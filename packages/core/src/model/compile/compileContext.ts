import type { ArtifactDraft, KnownCheck, PhaseDraft, WorkflowDraft } from '../draft.ts';
import type { DraftPath, Problems } from '../problems.ts';
import type { Param } from '../workflow.ts';

/** What a draft is checked against. */
export interface Known {
  readonly checks: Readonly<Record<string, KnownCheck>>;
}

/** What is known while a draft's phases are compiled. */
export interface CompileContext {
  readonly draft: WorkflowDraft;
  readonly known: Known;
  readonly problems: Problems;
  readonly params: Readonly<Record<string, Param>>;
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly schemas: ReadonlySet<string>;
  /** Names of all evidence of the workflow. */
  readonly evidenceNames: ReadonlySet<string>;
  /** Names that some human gate covers. */
  readonly coveredNames: ReadonlySet<string>;
  /** What phases ask for by name, as far as it was looked up. Of this draft alone: its author may change it, and ask again. */
  readonly declared: Map<PhaseDraft, Declared>;
  /** Whether a write glob reaches the database, as far as they were compared. */
  readonly comparedGlobs: Map<string, boolean>;
}

/** What a phase asks for by name; of several artifacts of one name the first. */
export interface Declared {
  readonly artifacts: ReadonlyMap<string, ArtifactDraft>;
  readonly names: ReadonlySet<string>;
}

/** Where in a draft, and in which phase, something stands. */
export interface PhasePlace {
  readonly context: CompileContext;
  readonly phase: PhaseDraft;
  readonly path: DraftPath;
  /** True for what is asked before the phase is entered, when nothing has been submitted for it. */
  readonly entering?: boolean;
}
