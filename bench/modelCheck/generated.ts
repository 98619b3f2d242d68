import { defineWorkflow, type PhaseDraft, type Workflow } from '@phasegate/core';

/** Where a phase of the generated graph leads, told once for both tools. */
export interface Node {
  readonly id: string;
  /** The phase after it; null at the end. */
  readonly on: string | null;
  /** The phase that work sent back goes to. */
  readonly back: string;
  /** How often its condition may send the work back; null where it has none. */
  readonly loops: number | null;
  readonly gate: boolean;
}

/** Every third phase loops over the last three, every fifth has a human gate that may send the work back. */
export function generatedGraph(size: number): readonly Node[] {
  return Array.from({ length: size }, (_, index) => ({
    id: `P${index}`,
    on: index === size - 1 ? null : `P${index + 1}`,
    back: `P${Math.max(0, index - 2)}`,
    loops: index % 3 === 2 ? 3 : null,
    gate: index % 5 === 4,
  }));
}

/** The graph as a workflow, with a property about its last phase. */
export function workflowOf(graph: readonly Node[]): Workflow {
  const phases = graph.map(
    ({ id, on, back, loops, gate }): PhaseDraft => ({
      id,
      artifacts: [{ type: 'review' }],
      postconditions: [{ check: 'asked' }],
      ...(gate
        ? {
            gates: [
              {
                id: `G${id}`,
                human: {
                  prompt: 'Good?',
                  options: [{ label: 'Yes' }, { label: 'Again', next: back }],
                  // The machine it is compared with follows one property, and no gates.
                  required: false,
                },
              },
            ],
          }
        : {}),
      next:
        loops === null
          ? { to: on }
          : { condition: "review === 'good'", onTrue: on, onFalse: back, maxIterations: loops },
    }),
  );
  const checks = { asked: { parameters: { type: 'object' }, class: 'claimed' as const } };
  const properties = [{ name: 'to the last', always: [graph.at(-1)?.id ?? ''] }];
  const defined = defineWorkflow({ id: 'generated', phases, properties }, { checks });
  if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
  return defined.workflow;
}
