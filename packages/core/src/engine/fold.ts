import type { Workflow } from '../model/workflow.ts';
import { apply, begin } from './apply.ts';
import type { RunEvent } from './events.ts';
import { disownItems, ownItems } from './ownedItems.ts';
import type { Run } from './run.ts';

/** The run after many events: what the store keeps is this. */
export function fold(workflow: Workflow, events: readonly RunEvent[]): Run {
  const steps = foldStepwise(workflow, events);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same one event after another, for a caller that does something else in between. */
export function* foldStepwise(
  workflow: Workflow,
  events: readonly RunEvent[],
): Generator<undefined, Run, undefined> {
  const [first] = events;
  if (first?.type !== 'run_started') throw new TypeError('a run begins with `run_started`');
  let run = ownItems(begin(workflow, first));
  for (let index = 1; index < events.length; index += 1) {
    yield;
    run = ownItems(apply(run, events[index] as RunEvent));
  }
  disownItems(run);
  return run;
}
