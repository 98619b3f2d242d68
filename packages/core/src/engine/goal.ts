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

/** The caller without any credential: a person at the terminal as well as a program; no agent with a key has the name. */
const WITHOUT_KEY = 'local';

/** Whether nobody is known to have written the goal: the run was started without a credential. */
export function isUnsigned({ by }: Goal): boolean {
  return by.kind === 'agent' && by.name === WITHOUT_KEY;
}

/** Whose words a goal is: `by ada`, `as agent bob put it`, or `as given at the start` where no credential says. */
export function goalAuthor(goal: Goal): string {
  return isUnsigned(goal) ? 'as given at the start' : goalPrincipal(goal);
}

/** The same with the principal's name in every case, as the card has it that a human signs. */
export function goalPrincipal({ by }: Goal): string {
  return by.kind === 'human' ? `by ${oneLine(by.name)}` : `as agent ${oneLine(by.name)} put it`;
}

/** The goal under a line that says whose words it is, each of its own lines quoted: none can pass for one of ours. */
export function goalText(goal: Goal): string {
  const lines = linesOf(goal.text).map((line) => `> ${oneLine(line)}`);
  const whose = isUnsigned(goal)
    ? 'given when the run was started (not signed by a human)'
    : goalAuthor(goal);
  return [`Goal, ${whose}:`, ...lines].join('\n');
}
