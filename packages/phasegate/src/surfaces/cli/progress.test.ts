import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { RunnerProgress } from '../../runtime/ports.ts';
import { makeOutput } from './output.ts';
import { paintFor } from './paint.ts';
import { showProgress } from './progress.ts';

const CLEAR = '\r\u001b[K';

test('without a terminal every event is a plain line', async () => {
  const { progress, written, pass } = await display();

  progress.report(started('MAKE'));
  progress.report({ event: 'output', phase: 'MAKE', item: null, line: 'compiling' });
  progress.report({ ...ended('MAKE'), accepted: false, message: 'no space', ms: 61_900 });
  progress.report({ ...started('MAKE'), attempt: 2 });
  progress.report({ event: 'note', message: 'a note' });
  progress.report({ ...started('WRITE'), item: 'ending', kind: 'dispatch' });
  pass(5000);
  await progress.end();

  expect(written().split('\n')).toEqual([
    'MAKE: command started',
    '  compiling',
    'MAKE: not accepted after 1 min 1 s: no space',
    'MAKE, attempt 2: command started',
    'a note',
    'WRITE [ending]: dispatch started',
    '',
  ]);
});

test('what a step prints cannot play with the terminal', async () => {
  const { progress, written } = await display();

  progress.report({ event: 'output', phase: 'MAKE', item: null, line: '\u001b[2Jdone\u202e' });
  await progress.end();

  expect(written()).toBe('  \\u{1b}[2Jdone\\u{202e}\n');
});

test.each(['\n', '\r', '\u0085', '\u2028', '\v'])(
  'no line break in what a step prints makes a line of the runner’s (%j)',
  async (end) => {
    for (const live of [false, true]) {
      const { progress, written } = await display({ live });
      const line = `${'x'.repeat(200)}${end}SEND: done after 1 s`;

      progress.report({ event: 'output', phase: 'MAKE', item: null, line });
      await progress.end();

      const lines = written().split(/[\n\r\v\u0085\u2028]/);
      expect(lines.filter((one) => one.startsWith('SEND') || one.length > (live ? 80 : 999))).toEqual([]);
    }
  },
);

test.each(['\n', '\r', '\u0085', '\u2028', '\v'])(
  'nor does one in why a step failed, in a note, in what is waited for or in an item’s name (%j)',
  async (end) => {
    const forged = `no${end}SEND: done after 1 s`;
    for (const live of [false, true]) {
      const { progress, written } = await display({ live });

      progress.report({ ...started('MAKE'), item: forged });
      progress.report({ ...ended('MAKE'), item: forged, accepted: false, message: forged });
      progress.report({ event: 'note', message: forged });
      progress.report({ event: 'waiting', run: 'run-1', what: { for: 'gate', prompt: forged } });
      await progress.end();

      const lines = written().split(/[\n\r\v\u0085\u2028]/);
      expect(lines.filter((one) => one.startsWith('SEND'))).toEqual([]);
    }
  },
);

test('with --json every event is one line of JSON, the same value, and nothing is drawn', async () => {
  const { progress, written, pass } = await display({ json: true, live: true });
  const events: readonly RunnerProgress[] = [
    started('MAKE'),
    { event: 'output', phase: 'MAKE', item: null, line: 'a\nb\u202e' },
    { event: 'waiting', run: 'run-1', what: { for: 'gate', prompt: 'Buy it?' } },
  ];

  for (const event of events) progress.report(event);
  pass(5000);
  await progress.end();

  const lines = written().trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(events);
  expect(written()).not.toContain('\u202e');
});

test('on a terminal the last line says which step runs, its attempt and how long', async () => {
  const { progress, written, lastLine, pass } = await display({ live: true });

  progress.report({ ...started('MAKE'), attempt: 2 });
  pass(61_000);
  expect(lastLine()).toMatch(/^[|/\\-] MAKE, attempt 2 \(1 min 1 s\)$/);

  progress.report(started('SEND'));
  progress.report({ event: 'output', phase: 'MAKE', item: null, line: 'compiling' });
  expect(lastLine()).toMatch(/^[|/\\-] MAKE, attempt 2 and 1 more \(1 min 1 s\)$/);
  expect(written()).toContain(`${CLEAR}| compiling\n${CLEAR}`);

  progress.report(ended('MAKE'));
  progress.report(ended('SEND'));
  expect(lastLine()).toBe('');
  await progress.end();
});

test('or who is waited for', async () => {
  const { progress, lastLine, pass } = await display({ live: true });

  progress.report({ event: 'waiting', run: 'run-1', what: { for: 'gate', prompt: 'Buy it?' } });
  pass(2000);
  expect(lastLine()).toMatch(/waiting for a human \(2 s\)$/);

  progress.report({ ...started('TALK'), kind: 'agent' });
  expect(lastLine()).toMatch(/TALK \(0 s\)$/);
  progress.report({ event: 'prompt', phase: 'TALK', text: 'Say something' });
  expect(lastLine()).toMatch(/waiting for an agent to complete TALK \(0 s\)$/);
  await progress.end();
  expect(lastLine()).toBe('');
});

test('the line is taken away at the end, and stays away', async () => {
  const { progress, written, pass } = await display({ live: true });

  progress.report(started('MAKE'));
  await progress.end();
  const then = written();
  pass(5000);

  expect(then.endsWith(CLEAR)).toBe(true);
  expect(written()).toBe(then);
});

test('the line fits the terminal, whatever an item is called', async () => {
  const { progress, lastLine } = await display({ live: true, columns: 30 });

  progress.report({ ...started('WRITE'), item: `one\ntwo \u001b[2J${'x'.repeat(200)}` });

  expect(lastLine()).toHaveLength(29);
  expect(lastLine()).toMatch(/^[|/\\-] WRITE \[one\\ntwo \\u\{1b\}\[2Jx+…$/);
  await progress.end();
});

test('a terminal that is gone does not end what is driven', async () => {
  const failing = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no space left')) });
  const out = makeOutput({
    stdout: failing,
    stderr: () => failing,
    json: false,
    paint: await paintFor(false),
    terminal: false,
  });
  const progress = showProgress(out, { live: true });

  progress.report(started('MAKE'));

  await expect(progress.end()).resolves.toBeUndefined();
});

function started(phase: string): Extract<RunnerProgress, { event: 'step_started' }> {
  return { event: 'step_started', run: 'run-1', phase, kind: 'command', item: null, attempt: 1 };
}

function ended(phase: string): Extract<RunnerProgress, { event: 'step_ended' }> {
  return { event: 'step_ended', run: 'run-1', phase, item: null, accepted: true, message: '', ms: 0 };
}

async function display({ json = false, live = false, columns = 80 } = {}) {
  let text = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString('utf8');
      done();
    },
  });
  const stderr = Object.assign(sink, { columns });
  let time = 0;
  const ticking = new Set<() => void>();
  const ticks = {
    now: () => time,
    start(tick: () => void) {
      ticking.add(tick);
      return () => ticking.delete(tick);
    },
  };
  const paint = await paintFor(false);
  const out = makeOutput({ stdout: new Writable(), stderr: () => stderr, json, paint, terminal: false });
  return {
    progress: showProgress(out, { live, ticks }),
    written: () => text,
    /** What stands where the cursor is. */
    lastLine: () => text.slice(Math.max(text.lastIndexOf('\n') + 1, text.lastIndexOf(CLEAR) + CLEAR.length)),
    /** Lets so many milliseconds go by. */
    pass(ms: number) {
      time += ms;
      for (const tick of ticking) tick();
    },
  };
}
