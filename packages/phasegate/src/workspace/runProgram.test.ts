import { tmpdir } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
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

describe.runIf(process.platform === 'linux')(
  'of a program in a sandbox, whose maker had its output too',
  () => {
    // The maker goes on until it is its turn, which a short program does not take as long as.
    const LATER = 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done';
    const told = (program: string) => `(${program}; exec 3>&-; echo ended >&4; read -r answer <&4)`;
    const runIn = (command: string) => run(command, { descriptors: [null, null], output: 3, ending: 4 });

    test('the output is waited for until the maker let go of it', async () => {
      const { heldOpen, heldBy, stdout } = await runIn(
        `${told('echo said >&3')} & ${LATER}; exec 3>&-; wait $!`,
      );

      expect([heldOpen, heldBy, String(stdout)]).toEqual([false, [], 'said\n']);
    });

    test('a process that the program left is seen at once beside it', async () => {
      const leaving = 'sleep 30 & until grep -q sleep /proc/$!/comm; do :; done';
      const { heldOpen, heldBy } = await runIn(`${told(leaving)} & ${LATER}; exec 3>&-; wait $!`);

      expect(heldOpen).toBe(true);
      expect(heldBy.join()).toContain('sleep');
    });

    test('what is printed meanwhile is nobody’s word', async () => {
      // On a busy machine the maker may be done before anybody could look.
      let seen = false;
      for (let tries = 0; tries < 100 && !seen; tries += 1) {
        seen = (await runIn(`${told('true')} & ${LATER}; echo late >&3; exec 3>&-; wait $!`)).heldOpen;
      }

      expect(seen).toBe(true);
    });
  },
);

function run(command: string, more: Partial<Program> = {}) {
  const program: Program = {
    argv: ['sh', '-c', command],
    cwd: tmpdir(),
    environment: { PATH: process.env.PATH ?? '' },
    timeoutMs: 30_000,
    maxOutputBytes: 1_000_000,
    signal: new AbortController().signal,
    ...more,
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
