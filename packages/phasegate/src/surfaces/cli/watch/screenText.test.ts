import { expect, test } from 'vitest';
import { paintFor } from '../paint.ts';
import { columnsIn } from '../text/foreignLines.ts';
import { visible } from '../text/visible.ts';
import { type Drawing, screenText } from './screenText.ts';
import type { WatchedRun } from './watchedRuns.ts';

const NOW = Date.parse('2026-11-17T12:00:00.000Z');

test('what waits for a human comes first, with the command to decide with', () => {
  const lines = drawn([waiting, working], { columns: 80, rows: 24 });

  expect(lines).toEqual([
    '2 runs: 1 waiting for a human, 1 active',
    '',
    '! run-1 waiting tdd',
    '  goal, by maria: add a subtract function',
    '  phase PLAN, agent ada, waiting for 2 min',
    '  gate plan: Is this the plan?',
    '  phasegate decide run-1',
    '',
    '  run-2 active tdd',
    '  phase RED, agent bob, lease ends in 14 min, changed 30 s ago',
    '',
    'Ctrl-C ends',
  ]);
});

test('a run past one of whose phases a human led says so, next to its name', () => {
  const lines = drawn([{ ...working, overridden: 1 }], { columns: 80, rows: 24 });

  expect(lines.slice(2, 4)).toEqual(['  run-2 active tdd', '  1 phase overridden']);
});

test.each([20, 40, 80, 200])('no line but a command is wider than a terminal of %d columns', (columns) => {
  const long = { text: `fine ${'漢'.repeat(300)}`, by: { kind: 'agent' as const, name: 'x'.repeat(100) } };
  const lines = drawn([{ ...waiting, goal: long, target: 'y'.repeat(500), workflow: 'z'.repeat(90) }], {
    columns,
    rows: 40,
  });

  const wide = lines.filter((line) => columnsIn(line) >= columns && !line.includes('phasegate decide'));
  expect(wide.filter((line) => !line.includes('run-1'))).toEqual([]);
  expect(lines).toContain('  phasegate decide run-1');
});

test('in a terminal of 40 columns a goal and a place get further lines, and nothing is lost', () => {
  const lines = drawn([waiting, working], { columns: 40, rows: 24 });

  expect(lines.slice(2, 8)).toEqual([
    '! run-1 waiting tdd',
    '  goal, by maria:',
    '  | add a subtract function',
    '  phase PLAN, agent ada',
    '  waiting for 2 min',
    '  gate plan: Is this the plan?',
  ]);
});

test('what finds no room is counted', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({ ...working, run: `run-${index}` }));
  const lines = drawn(many, { columns: 80, rows: 12 });

  expect(lines.length).toBeLessThanOrEqual(12);
  expect(lines.at(-3)).toBe('and 28 more: phasegate runs');
});

test('words of an agent cannot paint the screen, and are ASCII where the terminal shows nothing else [adv.N14]', () => {
  const goal = {
    text: 'na\u00efve\u001b[2J\r\nrun-9 waiting',
    by: { kind: 'agent' as const, name: 'a\u001b]9;x\u0007' },
  };
  const lines = drawn([{ ...working, goal }], { columns: 200, rows: 24 }, false);

  expect(lines.join('\n')).toMatch(/^[\n -~]*$/);
  expect(lines.filter((line) => line.includes('run-9'))).toEqual([
    '  goal, as agent a\\u{1b}]9;x\\u{7} put it: na\\u{ef}ve\\u{1b}[2J\\nrun-9 waiting',
  ]);
});

test('runs that ended are shown last, the newest three of them', () => {
  const ended = ['1', '2', '3', '4'].map((name) => ({
    ...working,
    run: `done-${name}`,
    status: 'completed' as const,
    updatedAt: `2026-11-17T11:00:0${name}.000Z`,
  }));

  expect(
    drawn([...ended, working], { columns: 80, rows: 50 }).filter((line) => /(?:run|done)-\d/.test(line)),
  ).toEqual([
    '  run-2 active tdd',
    '  done-4 completed tdd',
    '  done-3 completed tdd',
    '  done-2 completed tdd',
  ]);
  expect(drawn(ended, { columns: 80, rows: 50 })[0]).toBe('no run is under way');
});

const waiting: WatchedRun = {
  run: 'run-1',
  workflow: 'tdd',
  target: null,
  goal: { text: 'add a subtract function', by: { kind: 'human', name: 'maria' } },
  status: 'waiting',
  phase: 'PLAN',
  holder: 'ada',
  updatedAt: '2026-11-17T11:58:00.000Z',
  agents: ['ada'],
  leaseUntil: '2026-11-17T12:10:00.000Z',
  waits: {
    for: 'gate',
    since: '2026-11-17T11:58:00.000Z',
    gate: 'plan',
    says: 'Is this the plan?',
    command: 'phasegate decide run-1',
  },
};

const working: WatchedRun = {
  run: 'run-2',
  workflow: 'tdd',
  target: null,
  status: 'active',
  phase: 'RED',
  holder: 'bob',
  updatedAt: '2026-11-17T11:59:30.000Z',
  agents: ['bob'],
  leaseUntil: '2026-11-17T12:14:30.000Z',
  waits: null,
};

function drawn(runs: readonly WatchedRun[], screen: Drawing['screen'], unicode = true): readonly string[] {
  const paint = paintFor(false);
  const drawing = { screen, paint, now: NOW, note: 'Ctrl-C ends', unicode };
  return screenText(runs, drawing).map((line) => visible(line, paint.mark));
}
