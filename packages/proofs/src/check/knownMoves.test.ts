import type { PhaseDraft, Workflow } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { someOf } from '../../../../test/tier.ts';
import { abstractionOf } from './abstractWorkflow.ts';
import { checkWorkflow } from './checkWorkflow.ts';
import { essenceOf, explore, keyOf } from './explore.ts';
import { FLAWS, workflowOf } from './fixtures/flaws.ts';
import { KnownMoves } from './knownMoves.ts';
import { Monitor } from './monitor.ts';
import { movesOf } from './moves.ts';

const ALL_LOOPS = Array.from({ length: 64 }, (_, bits) => looping(bits));
const LOOPS = someOf(ALL_LOOPS, { quick: 13, full: ALL_LOOPS.length });

test.each([
  ['every flawed and fixed workflow', FLAWS.flatMap(({ flawed, fixed }) => [flawed, fixed])],
  ['workflows with loops and gates in every arrangement', LOOPS],
])('what was decided once is what the engine decides in each state of %s', (_, workflows) => {
  for (const workflow of workflows) {
    const abstraction = abstractionOf(workflow, 1000);
    const monitor = new Monitor(workflow);
    const known = new KnownMoves(abstraction, monitor);
    const { states } = explore(abstraction, monitor, { maxStates: 100_000 });

    for (const { run, marks } of states) {
      const decided = movesOf(run, abstraction).map(({ decision, words }) => ({
        words,
        verdict: decision.verdict,
        key: keyOf(essenceOf(decision.run, abstraction), monitor.after(marks, run, decision.events)),
      }));
      const remembered = known.of(run).map((move) => ({
        words: move.move.words,
        verdict: move.move.decision.verdict,
        key: keyOf(essenceOf(known.runAfter(run, move), abstraction), known.marksAfter(marks, run, move)),
      }));

      expect(remembered).toEqual(decided);
    }
  }
});

test('a loop that is exhausted behind a human gate goes to a human, and is walked', () => {
  const workflow = workflowOf([
    { id: 'A' },
    {
      id: 'B',
      artifacts: [{ type: 'good' }],
      gates: [{ id: 'ok', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } }],
      next: { condition: 'good === true', onTrue: null, onFalse: 'A', maxIterations: 1 },
    },
  ]);
  const { states } = explore(abstractionOf(workflow, 1000), new Monitor(workflow, []), { maxStates: 1000 });

  const exhausted = states.filter(
    ({ run }) => run.status === 'escalated' && run.escalation.reason === 'iterations',
  );

  expect(exhausted.map(({ words }) => words)).toEqual([
    'a human chooses `Yes` at `ok`, its condition is false → a human, as the loop is exhausted',
  ]);
  expect(checkWorkflow(workflow)).toMatchObject({ clean: true, bound: null });
});

/** Four phases, of which three may loop and three have a gate, as six bits say. */
function looping(bits: number): Workflow {
  const phases = ['A', 'B', 'C', 'D'].map((id, index): PhaseDraft => {
    const on = ['B', 'C', 'D', null][index] ?? null;
    const loops = index > 0 && (bits & (1 << (index - 1))) !== 0;
    const gated = index < 3 && (bits & (1 << (index + 3))) !== 0;
    const human = { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'Again', next: 'A' }] };
    return {
      id,
      artifacts: [{ type: 'good' }],
      postconditions: [{ check: 'review_is_complete' }],
      ...(gated ? { gates: [{ id: `G${id}`, human }] } : {}),
      next: loops
        ? { condition: 'good === true', onTrue: on, onFalse: index === 2 ? 'B' : 'A', maxIterations: 2 }
        : { to: on },
    };
  });
  return workflowOf(phases, { properties: [{ name: 'in order', before: ['A', 'B', 'D'] }] });
}
