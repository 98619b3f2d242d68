import type { GateDraft } from './draft.ts';
import type { PhaseId } from './workflow.ts';

/** What a bare "yes, a human approves this" means: on, or back into the phase with a reason. */
export function approvalGate(id: PhaseId): GateDraft {
  return {
    human: {
      prompt: `Is phase ${id} approved?`,
      options: [{ label: 'Approve' }, { label: 'Reject', next: id, requiresInput: true }],
    },
  };
}

/** Whether a gate asks a human; one that is only named may, and counts as one that does. */
export function asksHuman(gate: string | GateDraft): boolean {
  return typeof gate === 'string' || gate.human !== undefined;
}
