import type { Rule } from '../model/rulePlaces.ts';
import type { PhaseId } from '../model/workflow.ts';

/** Allowed, or refused with at least one blocker. */
export type Verdict =
  | {
      readonly allowed: true;
      readonly wouldRefuse?: readonly Blocker[];
      /** What did not hold and does not block. */
      readonly warnings?: readonly Warning[];
    }
  | {
      readonly allowed: false;
      readonly blockers: readonly [Blocker, ...Blocker[]];
      readonly warnings?: readonly Warning[];
    };

/** Why something was refused, and the one legal thing to do next. */
export interface Blocker {
  readonly code: BlockerCode;
  readonly message: string;
  readonly nextAction: NextAction;
  /** The rule of the definition that refuses; absent where it is the engine's own. */
  readonly rule?: Rule & {
    /** The file and line it is written in, where the run knows. */
    readonly at?: string;
  };
}

/** A check of `severity: warning` that did not hold: told, shown and recorded, and it refuses nothing. */
export type Warning = {
  readonly code: BlockerCode;
  readonly message: string;
};

/** The one legal act that comes next. Surfaces spell it in their own words; `text` serves everywhere. */
export type NextAction = {
  readonly act:
    | 'complete_phase'
    | 'get_task'
    | 'use_allowed_tool'
    | 'wait_for_human'
    | 'claim'
    | 'start'
    | 'none';
  readonly phase?: PhaseId;
  readonly task?: number;
  /** The next open item of a parallel phase. */
  readonly item?: string;
  readonly text: string;
};

/** Every reason the engine refuses for. Pinned by a test, explained in docs/errors.md. */
export type BlockerCode =
  | 'phase_sequence_violation'
  | 'undeclared_evidence'
  | 'context_unclear'
  | 'incomplete_checkpoint'
  | 'tasks_not_fetched'
  | 'scope_violation'
  | 'tree_moved'
  | 'tree_unknown'
  | 'check_failed'
  | 'check_errored'
  | 'check_timed_out'
  | 'evidence_class_too_low'
  | 'runner_tampered'
  | 'handler_failed'
  | 'work_failed'
  | 'precondition_failed'
  | 'condition_unanswerable'
  | 'outcome_not_allowed'
  | 'reason_required'
  | 'not_the_next_phase'
  | 'not_your_run'
  | 'calls_under_way'
  | 'run_not_queued'
  | 'item_held'
  | 'capability_missing'
  | 'run_exists'
  | 'not_a_human'
  | 'not_an_agent'
  | 'not_an_approver'
  | 'run_waiting'
  | 'run_escalated'
  | 'run_not_active'
  | 'run_not_waiting'
  | 'run_not_escalated'
  | 'run_ended'
  | 'gate_unknown'
  | 'gate_timed_out'
  | 'database_moved'
  | 'option_unknown'
  | 'input_required'
  | 'shown_changed'
  | 'already_voted'
  | 'self_approval'
  | 'question_invalid'
  | 'question_unknown'
  | 'task_unknown'
  | 'item_unknown'
  | 'item_required'
  | 'item_done'
  | 'items_open'
  | 'items_invalid'
  | 'param_invalid'
  | 'ring_too_low'
  | 'other_workflow'
  | 'same_workflow'
  | 'migration_unmapped'
  | 'migration_unproven'
  | 'escalated'
  | 'iterations_exhausted'
  | 'tool_unknown'
  | 'tool_forbidden'
  | 'tool_not_allowed'
  | 'tool_constraint'
  | 'command_unparseable'
  | 'outside_write_scope'
  | 'definition_closed'
  | 'no_run';
