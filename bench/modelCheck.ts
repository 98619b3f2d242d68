/**
 * Every state of generated workflows with loops and human gates, walked with the engine.
 *
 *   node bench/modelCheck.ts            50 phases, and larger ones
 *   node bench/modelCheck.ts tiny       only to see that it runs
 */
import { checkWorkflow, defineWorkflow, type PhaseDraft, type Workflow } from '@phasegate/core';
import { median, print, seconds } from './transitions/measure.ts';

const tiny = process.argv.includes('tiny');
const SIZES = tiny ? [10] : [50, 200];
const ROUNDS = tiny ? 1 : 5;

for (const size of SIZES) {
  const workflow = generated(size);
  const times: number[] = [];
  let report = checkWorkflow(workflow);
  for (let round = 0; round < ROUNDS; round++) {
    times.push(
      await seconds(() => {
        report = checkWorkflow(workflow);
      }),
    );
  }
  const took = median(times);
  const rate = Math.round(report.states / took);
  const seen = report.bound === null ? 'all' : `cut at ${report.bound.limit}`;
  print(
    `${size} phases  ${report.states} states (${seen})  ${report.transitions} transitions  ${(took * 1000).toFixed(1)} ms  ${rate} states/s  ${report.clean ? 'clean' : 'findings'}`,
  );
}

/** Every third phase loops over the last three, every fifth has a human gate that may send the work back. */
function generated(size: number): Workflow {
  const phases = Array.from({ length: size }, (_, index): PhaseDraft => {
    const back = `P${Math.max(0, index - 2)}`;
    const on = index === size - 1 ? null : `P${index + 1}`;
    return {
      id: `P${index}`,
      artifacts: [{ type: 'review' }],
      postconditions: [{ check: 'asked' }],
      ...(index % 5 === 4
        ? {
            gates: [
              {
                id: `G${index}`,
                human: { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'Again', next: back }] },
              },
            ],
          }
        : {}),
      ...(index % 3 === 2
        ? { next: { condition: "review === 'good'", onTrue: on, onFalse: back, maxIterations: 3 } }
        : { next: { to: on } }),
    };
  });
  const checks = { asked: { parameters: { type: 'object' }, class: 'claimed' as const } };
  const properties = [{ name: 'to the last', always: [`P${size - 1}`] }];
  const defined = defineWorkflow({ id: 'generated', phases, properties }, { checks });
  if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
  return defined.workflow;
}
