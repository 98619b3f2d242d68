import { STOPS } from '../../examples/test-generation/evidence.ts';
import type { McpProject } from '../../examples/test-generation/mcpProject.ts';

/** Characters of one answer, by the phase the agent was in once it had it. */
export interface Received {
  readonly phase: number;
  readonly tool: string;
  readonly characters: number;
}

/**
 * A whole run of the example, as an honest agent goes through it. One that is thorough reads each phase once more with
 * `get_current_phase`; one that is not goes from `next_action` to `next_action`.
 */
export async function receivedByMcp(
  project: McpProject,
  { thorough }: { readonly thorough: boolean },
): Promise<readonly Received[]> {
  const received: Received[] = [];
  const call = async (phase: number, tool: string, args: object) => {
    const { answer, text } = await project.call(tool, args);
    if (answer.error !== undefined) throw new Error(`${tool} was refused: ${text.slice(0, 300)}`);
    received.push({ phase, tool, characters: text.length });
    return answer;
  };
  const start = { workflow_type: 'test_generation_v3', target_file: 'test.py' };
  const first = await call(1, 'start_workflow', start);
  const { session_id } = first;
  let next = String(first.next_action);
  for (const { phase, right: evidence } of STOPS) {
    if (thorough && phase > 1) await call(phase, 'get_current_phase', { session_id });
    for (let task_number = 1; next.startsWith('get_task('); task_number++) {
      next = String((await call(phase, 'get_task', { session_id, phase, task_number })).next_action);
    }
    // The answer brings the next phase, so that is where it counts.
    const entering = Math.min(phase + 1, STOPS.length);
    next = String((await call(entering, 'complete_phase', { session_id, phase, evidence })).next_action);
  }
  return received;
}
