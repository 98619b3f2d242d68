import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { makeOutput } from './output.ts';
import { paintFor } from './paint.ts';
import { showWork } from './showWork.ts';

const CLEAR = '\r\u001b[K';

test('what takes a second is shown on a terminal with how far it is, and taken away at the end', async () => {
  const { work, written, pass } = shown({ isTTY: true });

  work.report('1 run');
  pass(900);
  expect(written()).toBe('');
  pass(200);
  expect(written()).toBe(`${CLEAR}replaying: 1 run (1 s)`);
  work.report('2 runs');
  pass(2000);
  expect(written().endsWith(`${CLEAR}replaying: 2 runs (3 s)`)).toBe(true);
  await work.end();
  expect(written().endsWith(CLEAR)).toBe(true);
});

test('work that leaves no room for a clock is shown when it reports', async () => {
  const { work, written, let: go } = shown({ isTTY: true });

  go(1500);
  work.report('50000 states');

  expect(written()).toBe(`${CLEAR}replaying: 50000 states (1 s)`);
  await work.end();
});

test.each([
  ['in a pipe', {}],
  ['with --json', { isTTY: true, json: true }],
  ['on a terminal that cannot redraw', { isTTY: true, TERM: 'dumb' }],
])('nothing is shown %s', async (_, how) => {
  const { work, written, pass } = shown(how);

  work.report('1 run');
  pass(5000);
  await work.end();

  expect(written()).toBe('');
});

test('it fits a narrow terminal', async () => {
  const { work, written, pass } = shown({ isTTY: true, columns: 12 });

  pass(1000);

  expect(written()).toBe(`${CLEAR}replaying (`);
  await work.end();
});

function shown(how: {
  readonly isTTY?: boolean;
  readonly json?: boolean;
  readonly TERM?: string;
  readonly columns?: number;
}) {
  const { isTTY = false, json = false, TERM = 'xterm', columns = 80 } = how;
  let text = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString('utf8');
      done();
    },
  });
  const stderr = Object.assign(sink, { isTTY, columns });
  let time = 0;
  const ticking = new Set<() => void>();
  const ticks = {
    now: () => time,
    start(tick: () => void) {
      ticking.add(tick);
      return () => ticking.delete(tick);
    },
  };
  const out = makeOutput({
    stdout: new Writable(),
    stderr: () => stderr,
    json,
    paint: paintFor(false),
    terminal: false,
    env: { TERM },
  });
  return {
    work: showWork(out, 'replaying', ticks),
    written: () => text,
    /** Lets so many milliseconds go by. */
    pass(ms: number) {
      time += ms;
      for (const tick of ticking) tick();
    },
    /** The same while nothing else can run. */
    let(ms: number) {
      time += ms;
    },
  };
}
