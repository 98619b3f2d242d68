import { expect, test } from 'vitest';
import { GOAL_LIMIT, goalProblem, normaliseGoal } from './goal.ts';

test('a goal is kept without space around it, with one kind of line end and without tabs', () => {
  expect(normaliseGoal('  one\r\ntwo\rthree\n\tfour  \n')).toBe('one\ntwo\nthree\n  four');
});

test.each(['add a subtract function', 'one\r\ntwo\n\tthree', '減算を追加', '\u202eturned', 'a\u2028b'])(
  'a run can have the goal %j',
  (goal) => {
    expect(goalProblem(goal)).toBeNull();
  },
);

test.each([
  ['nothing', '', 'the goal is empty'],
  ['blanks', ' \n\t ', 'the goal is empty'],
  ['what nobody can see', '\u200b\u2060', 'the goal is empty'],
  ['a bell', 'ring\u0007', 'U+0007'],
  ['an escape for a terminal', '\u001b[2Jgone', 'U+001B'],
  ['a line end of few programs', 'a\u0085b', 'U+0085'],
  ['half a character', 'a\ud800b', 'U+D800'],
  ['too much', 'x'.repeat(GOAL_LIMIT + 1), 'has 2001 characters and may have 2000: say it shorter'],
])('a goal of %s is refused, with what to do', (_, goal, why) => {
  expect(goalProblem(goal)).toContain(why);
  expect(goalProblem(goal)).toMatch(/: .*(?:leave|say)/);
});

test('what people see as one character counts as one, and space around it does not count', () => {
  expect(goalProblem('😀'.repeat(GOAL_LIMIT))).toBeNull();
  expect(goalProblem(` ${'x'.repeat(GOAL_LIMIT)}\n`)).toBeNull();
});
