import { beforeAll, describe, expect, test } from 'vitest';
import { FULL, someOf } from '../tier.ts';
import { atWorkIn } from './atWorkIn.ts';
import { asHuman, copyTrusted, drive, edit, halfDone, makeBook, started } from './bookProject.ts';
import { begin, phasegate, type TestProject } from './cli.ts';
import { onTerminal } from './onTerminal.ts';

// Dozens of processes, on a machine that may be busy.
const LONG = 240_000;
const [ENTER, DOWN, CTRL_C] = ['\r', '\u001b[B', '\u0003'];

let original: TestProject;

beforeAll(async () => {
  original = await makeBook();
}, LONG);

describe('W1 on a terminal', () => {
  test.runIf(FULL)(
    'shows which step runs and for how long; Ctrl-C leaves a run to go on with, and nothing running [S3.1 S3.82]',
    async () => {
      const book = copyTrusted(original);
      const terminal = onTerminal(book, edit(book, 'slow'));

      await terminal.sees('editor-review (1 s)');
      await terminal.sees('still reading, page 1');
      terminal.types(CTRL_C);

      expect(await terminal.ends()).toBe(1);
      const run = /run-[0-9a-f]{20}/.exec(terminal.text())?.[0] ?? '';
      expect(terminal.text()).toContain(`phasegate run ${run}`);
      expect(atWorkIn(book.root)).toEqual([]);
      expect(halfDone(book)).toEqual([]);
      const { json } = await phasegate(book, ['status', run, '--json']);
      expect(json).toMatchObject({ status: 'active', phase: 'editor-review', attempts: 0 });
      edit(book, []);
      book.write('scenarios/slow.json', '[]');
      expect((await drive(book, ['run', run])).json).toMatchObject({
        outcome: 'waiting',
        phase: 'human-gate',
      });
    },
    LONG,
  );

  test.runIf(FULL)(
    'asks how to go on with a step that failed once, and goes on to the end [S3.45 S3.82]',
    async () => {
      const book = copyTrusted(original);
      const rules = [
        { step: 'editor-review', attempt: 1, do: 'fail' },
        { step: 'editor-review', attempt: 2, do: 'crash' },
      ];
      const { run } = await drive(book, edit(book, rules));
      const leaving = onTerminal(book, ['run', run]);
      await leaving.sees('the scenario lets editor-review fail');
      await leaving.sees('How shall it go on?');
      leaving.types(`${DOWN}${ENTER}`);
      expect(await leaving.ends()).toBe(1);
      const retrying = onTerminal(book, ['run', run]);
      await retrying.sees('How shall it go on?');

      retrying.types(ENTER);

      expect(await retrying.ends()).toBe(0);
      expect(retrying.text()).toContain('editor-review, attempt 2');
      expect(retrying.text()).toContain('Approve and finalize');
      await asHuman(book, ['decide', run, '--option', 'Approve and finalize']);
      const last = onTerminal(book, ['run', run]);
      expect(await last.ends()).toBe(0);
      expect(last.text()).toContain('the run is completed');
    },
    LONG,
  );
});

test.each(someOf(['SIGINT', 'SIGTERM'] as const, { quick: 1, full: 2 }))(
  '%s without a terminal leaves a run to go on with [S3.1 S3.82]',
  async (signal) => {
    const book = copyTrusted(original);
    const run = await started(book, [{ step: 'editor-review', do: 'linger' }]);
    const call = begin(book, ['run', run, '--json']);
    call.feed('');
    await call.says('still reading');

    process.kill(call.pid, signal);

    const ended = await call.result;
    expect(ended.json).toMatchObject({ outcome: 'interrupted', phase: 'editor-review', status: 'active' });
    expect(ended.code).toBe(1);
  },
  LONG,
);
