import type { PhaseId } from '../model/workflow.ts';

/** Every kind of thing that `phasegate check` finds. */
export type FindingCode =
  | 'unreachable_phase'
  | 'dead_end'
  | 'required_gate_bypassed'
  | 'unsatisfiable_gate'
  | 'contradictory_blockers'
  | 'exhausted_loop'
  | 'self_approval'
  | 'writes_own_law'
  | 'evidence_out_of_reach'
  | 'tests_frozen'
  | 'property_broken'
  | 'bound_reached'
  | 'infinite_domain'
  | 'huge_product';

/** One thing that is wrong, or worth knowing where it is a note. */
export interface Finding {
  readonly code: FindingCode;
  /** A note does not fail the check. */
  readonly severity: 'error' | 'note';
  readonly message: string;
  readonly phases: readonly PhaseId[];
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
