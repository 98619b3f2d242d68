import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { type Program, runProgram } from './runProgram.ts';

test('what a program printed before it ended is all there, also where nobody read it before', async () => {
  for (const bytes of [0, 1, 70_000, 300_000]) {
    const { stdout, heldOpen, heldBy } = await run(`head -c ${bytes} /dev/zero`);

    expect([stdout.length, heldOpen, heldBy]).toEqual([bytes, false, []]);
  }
});

test('a process at the output is seen the moment the program ends, not a turn of the event loop later [adv.Q7]', async () => {
  keepBusy();

  // It prints once the program's end was noticed, and is gone before anybody could look a second time. On a busy
  // machine it may even be gone before the first look; a later look would miss it every time.
  let seen = false;
  for (let tries = 0; tries < 100 && !seen; tries += 1) {
    seen = (await run('(while kill -0 $$ 2>/dev/null; do :; done; echo yes) & exit 0')).heldOpen;
  }

  expect(seen).toBe(true);
});

test.runIf(process.platform === 'linux')('a process that stays at the output is named', async () => {
  const { heldBy } = await run('sleep 30 & until grep -q sleep /proc/$!/comm; do :; done');

  expect(heldBy).toEqual([expect.stringMatching(/^sleep \(process \d+\)$/)]);
});

test('one that was given an output of its own is nobody’s concern', async () => {
  const { heldOpen } = await run(
    `ready=$(mktemp); (exec >/dev/null 2>&1; rm $ready; while kill -0 $$; do :; done) &
    while [ -e $ready ]; do :; done; echo no`,
  );

  expect(heldOpen).toBe(false);
});

function run(command: string) {
  const program: Program = {
    argv: ['sh', '-c', command],
    cwd: tmpdir(),
    environment: { PATH: process.env.PATH ?? '' },
    timeoutMs: 30_000,
    maxOutputBytes: 1_000_000,
    signal: new AbortController().signal,
  };
  return runProgram(program);
}

/** Every turn of the event loop takes its time until the test is over. */
function keepBusy(): void {
  let busy = true;
  const turn = () => {
    if (!busy) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    setImmediate(turn);
  };
  onTestFinished(() => {
    busy = false;
  });
  turn();
}
