import { linesOf, oneLine } from '../model/oneLine.ts';
import type { Principal, Run } from './run.ts';

/** What a run is to achieve, in the words of the human or agent that started it. */
export interface Goal {
  readonly text: string;
  readonly by: Pick<Principal, 'kind' | 'name'>;
}

/** The goal of a run with whose words it is; absent where none was given. */
export function goalOf({ goal, by }: Pick<Run, 'goal' | 'by'>): { readonly goal?: Goal } {
  return goal === undefined || by === undefined ? {} : { goal: { text: goal, by } };
}

/** Whose words a goal is: `by ada` of a human, `as agent bob put it` of an agent. */
export function goalAuthor({ by }: Goal): string {
  return by.kind === 'human' ? `by ${oneLine(by.name)}` : `as agent ${oneLine(by.name)} put it`;
}

/** The goal under a line that says whose words it is, each of its own lines quoted: none can pass for one of ours. */
export function goalText(goal: Goal): string {
  const lines = linesOf(goal.text).map((line) => `> ${oneLine(line)}`);
  return [`Goal, ${goalAuthor(goal)}:`, ...lines].join('\n');
}
