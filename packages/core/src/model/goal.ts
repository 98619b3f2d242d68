import { withoutUnseen } from './oneLine.ts';

/** Longest goal of a run, in characters as people count them: a letter outside the basic plane is one. */
export const GOAL_LIMIT = 2000;

/** A goal as it is kept: without space around it, with one kind of line end, and with spaces for tabs. */
export function normaliseGoal(goal: string): string {
  return goal.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  ').trim();
}

/** Why a run cannot have this goal, with what to do instead; null where it can. It may have several lines. */
export function goalProblem(goal: string): string | null {
  const [found] = CONTROL.exec(goal) ?? [];
  if (found !== undefined) {
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `the goal has the control character U+${code} in it: leave it out; line breaks may stay`;
  }
  const text = normaliseGoal(goal);
  if (withoutUnseen(text).trim() === '')
    return 'the goal is empty: say in words what the run is to achieve, or leave the goal out';
  const { length } = [...text];
  if (length <= GOAL_LIMIT) return null;
  return `the goal has ${length} characters and may have ${GOAL_LIMIT}: say it shorter, and name a file for the rest`;
}

// What a terminal obeys, and halves of characters, which no file can hold.
const CONTROL = /[[\p{Cs}\p{Cc}]--[\n\r\t]]/v;
