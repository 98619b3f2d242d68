import type { PhaseId } from '@phasegate/core/model';

/** Every kind of thing that `phasegate check` finds, with the gravest it can be. */
export const FINDINGS = {
  unreachable_phase: 'error',
  dead_end: 'error',
  required_gate_bypassed: 'error',
  unsatisfiable_gate: 'error',
  contradictory_blockers: 'error',
  exhausted_loop: 'error',
  self_approval: 'error',
  writes_own_law: 'error',
  writes_standards: 'error',
  approval_replaced: 'error',
  evidence_out_of_reach: 'error',
  tests_frozen: 'error',
  git_through_bash: 'error',
  property_broken: 'error',
  bound_reached: 'error',
  infinite_domain: 'note',
  huge_product: 'note',
  source_not_read: 'note',
  claims_alone: 'note',
} as const satisfies Readonly<Record<string, 'error' | 'note'>>;

/** The name of a kind. */
export type FindingCode = keyof typeof FINDINGS;

/** One thing that is wrong, or worth knowing where it is a note. */
export interface Finding {
  readonly code: FindingCode;
  /** A note does not fail the check. */
  readonly severity: 'error' | 'note';
  readonly message: string;
  readonly phases: readonly PhaseId[];
  /** The param or the property it is about, where it is about one. */
  readonly about?: { readonly kind: 'param' | 'property'; readonly name: string };
  /** The shortest way there, one step a line; empty where the definition alone shows it. */
  readonly trace: readonly string[];
}

/** How far is looked. What lies beyond is reported, never passed over. */
export interface Bounds {
  /** States after which looking ends. */
  readonly states: number;
  /** Combinations of params after which the largest domains are taken both ways instead. */
  readonly params: number;
}

/** What lies around a workflow in its project and bears on its runs. */
export interface Surroundings {
  /** Files its functions are in or import, relative to the project. */
  readonly code?: readonly string[];
  /** Globs of the documents that agents are served as the project's standards. */
  readonly standards?: readonly string[];
}

/** What came of a check. */
export interface CheckReport {
  readonly workflow: string;
  /** True where nothing but notes was found. */
  readonly clean: boolean;
  readonly findings: readonly Finding[];
  readonly states: number;
  readonly transitions: number;
  /** The bound that ended the search, or null where every reachable state was seen. */
  readonly bound: { readonly kind: 'states'; readonly limit: number } | null;
  /** Params that were tried with each of their values. */
  readonly params: readonly string[];
}
