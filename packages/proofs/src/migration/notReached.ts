import type { Run } from '@phasegate/core/engine';
import type { Abstraction } from '../check/abstractWorkflow.ts';
import { essenceOf } from '../check/essence.ts';
import type { State } from '../check/explore.ts';
import type { Marks } from '../check/monitor.ts';
import type { History } from './history.ts';

/** A search that ended without what it was for. */
export interface Searched {
  readonly goal: { readonly run: Run; readonly marks: Marks };
  readonly states: readonly State[];
  /** What would have had to be passed to go on, and was not. */
  readonly turnedBack: ReadonlySet<string>;
  readonly history: History;
  readonly abstraction: Abstraction;
}

/** Why a run could not be where it is, as near as can be told. */
export function notReached({ goal, states, turnedBack, history, abstraction }: Searched): string {
  const to = `the new workflow does not lead to phase \`${goal.run.phase}\``;
  const bare = essenceOf(goal.run, abstraction);
  const there = states.filter(({ run }) => run.phase === goal.run.phase);
  if (there.length === 0) {
    const without = listed([...turnedBack], 'or');
    return without === ''
      ? `${to} the way this run came`
      : `${to} without ${without}, which this run has not passed`;
  }
  const apart = there
    .map(({ run, marks }) => [...history.differences(goal.marks, marks), ...differences(bare, run)])
    .sort((one, other) => one.length - other.length);
  return `${to} with ${listed(apart[0] ?? [], 'and') || 'its items'} behind it, as this run has`;
}

function differences(goal: Run, run: Run): readonly string[] {
  const found: string[] = [];
  for (const [id, count] of Object.entries(goal.visits)) {
    if (run.visits[id] !== count) found.push(times(count, `visit`, id));
  }
  for (const [id, count] of Object.entries(goal.iterations)) {
    if (run.iterations[id] !== count) found.push(times(count, `iteration`, id));
  }
  if (run.status !== goal.status) found.push(`the status \`${goal.status}\``);
  else if (run.work.attempts !== goal.work.attempts) found.push(times(goal.work.attempts, 'attempt'));
  return found;
}

function times(count: number, what: string, id?: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}${id === undefined ? '' : ` of \`${id}\``}`;
}

function listed(names: readonly string[], word: 'and' | 'or'): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}
