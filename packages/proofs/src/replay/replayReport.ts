import type { Fact, Look, Principal, Run } from '@phasegate/core/engine';
import type { PhaseId, Workflow } from '@phasegate/core/model';
import type { ChainRecord } from './recordedSteps.ts';

/** What became of a decision under the changed workflow, where it is not what it was. */
export type Flip = 'now_refused' | 'now_allowed' | 'other_way' | 'phase_gone' | 'gate_gone';

/**
 * What became of a decision. `other_reason`: refused both times, for other reasons. `unknown`: it hangs on something
 * nobody looked at then. `unrecorded`: what it was decided from was not kept.
 */
export type ReplayKind = Flip | 'other_reason' | 'unknown' | 'unrecorded' | 'same';

/** Every flip, in the order they are documented. */
export const FLIPS: readonly Flip[] = ['now_refused', 'now_allowed', 'other_way', 'phase_gone', 'gate_gone'];

/** Everything that can become of a decision. */
export const REPLAY_KINDS: readonly ReplayKind[] = [
  ...FLIPS,
  'other_reason',
  'unknown',
  'unrecorded',
  'same',
];

/** What a check's answer depends on beside its parameters. */
export type Reads = 'subject' | 'workspace' | 'both';

/** A recorded run, the workflow it is decided again under, and what can be looked at again. */
export interface Replaying {
  readonly run: Run;
  readonly records: readonly ChainRecord[];
  /** The workflow it was started with; left out, the one it has, which is another where it was migrated since. */
  readonly startedWith?: Workflow;
  readonly changed: Workflow;
  /** What a check of the shelf reads. */
  reads(use: string): Reads;
  /** Asks again a check that reads its subject only; never asked about another. */
  look(look: Look): Promise<Fact>;
}

/** A verdict and where it led. */
export interface Outlook {
  /** `let_through`: it would be refused, and is not, as the workflow is permissive. */
  readonly verdict: 'allowed' | 'let_through' | 'refused';
  readonly blockers: readonly { readonly code: string; readonly message: string }[];
  /** Where the run stands afterwards, in words; empty for a tool call, which leads nowhere. */
  readonly leads: string;
}

/** One decision, as it was and as it would be. */
export interface ReplayedStep {
  /** Place of its first record in the run's chain. */
  readonly seq: number;
  readonly at: string;
  readonly by: Principal;
  /** The phase the run was in; null before its start and after its end. */
  readonly phase: PhaseId | null;
  /** What was asked for, in words. */
  readonly asked: string;
  readonly kind: ReplayKind;
  /** Null where it cannot be told. */
  readonly was: Outlook | null;
  /** Null where it cannot be told, or where the phase or gate is gone. */
  readonly would: Outlook | null;
  readonly reason: string;
}

/** A recorded run decided again. */
export interface ReplayReport {
  readonly run: string;
  /** How many decisions there are. */
  readonly decisions: number;
  readonly counts: Readonly<Record<ReplayKind, number>>;
  /** Those that are not the same, in order. */
  readonly steps: readonly ReplayedStep[];
  /** The versions of recordings this one does not know, as they are written. */
  readonly otherVersions: readonly string[];
}
