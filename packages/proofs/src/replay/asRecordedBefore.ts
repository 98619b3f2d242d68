import type { RunEvent } from '@phasegate/core/engine';

/**
 * An event as runs from before every value had an owner recorded it: without what was not kept then, and without the
 * number of a gate, which was counted otherwise. What was decided is the same with and without these.
 */
export function asRecordedBefore(event: RunEvent): RunEvent {
  switch (event.type) {
    case 'run_started': {
      const { rules: _, by: __, wouldRefuse: ___, ...kept } = event;
      return kept;
    }
    case 'gate_opened': {
      const { instance: _, ...kept } = event;
      return { ...kept, wait: { ...kept.wait, gate: kept.wait.gate.replace(/#\d+$/, '') } };
    }
    case 'gate_decided': {
      const { settles: _, ...kept } = event;
      return kept;
    }
    case 'question_answered': {
      const { asked: _, ...answer } = event.answer;
      return { ...event, answer };
    }
    case 'phase_completed': {
      const { approved: _, ...kept } = event;
      return kept;
    }
    default:
      return event;
  }
}
