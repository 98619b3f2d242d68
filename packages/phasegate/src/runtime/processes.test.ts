import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CALL_VARIABLE, machineOf, PROCESSES } from './processes.ts';

const WAITING = 'process.stdin.resume(); console.log(process.pid)';

async function waiting(env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['-e', WAITING], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** A process as it would name itself. */
function markOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return [pid, start, ...PROCESSES.self.split(' ').slice(2)].join(' ');
}

test('a process is gone when it has ended, and not while it goes on', async () => {
  const child = await waiting();
  const mark = markOf(child.pid as number);
  expect(PROCESSES.isGone(mark)).toBe(false);
  expect(PROCESSES.isGone(PROCESSES.self)).toBe(false);

  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(PROCESSES.isGone(mark)).toBe(true);
});

test('another process of the same number is not the one that was meant', () => {
  const [pid, start, ...where] = PROCESSES.self.split(' ');
  expect(PROCESSES.isGone([pid, `${Number(start) - 1}`, ...where].join(' '))).toBe(true);
});

test('a process in another container cannot be looked at, and is not taken for gone', () => {
  const [pid, start, boot] = PROCESSES.self.split(' ');
  expect(PROCESSES.isGone([pid, start, boot, 'pid:[1]'].join(' '))).toBe(false);
  expect(PROCESSES.isGone([pid, start, 'before', 'pid:[1]'].join(' '))).toBe(true);
});

test('a process of another machine cannot be looked at, and is not taken for gone; one of an earlier start of this is', () => {
  const [pid, start, boot, space, machine] = PROCESSES.self.split(' ');
  expect(machine).toMatch(/^[0-9a-f]{16}$/);
  expect(PROCESSES.isGone([pid, start, 'another', space, '0123456789abcdef'].join(' '))).toBe(false);
  expect(PROCESSES.isGone([pid, start, boot, space, '0123456789abcdef'].join(' '))).toBe(false);
  expect(PROCESSES.isGone([pid, start, 'before', space, machine].join(' '))).toBe(true);
});

test('a container without a number of its own is another one where its name is served by another kernel', () => {
  const [here, there] = [
    { boot: 'a', name: 'node-0' },
    { boot: 'b', name: 'node-0' },
  ];
  for (const installed of ['', 'uninitialized'])
    expect(machineOf({ ...here, installed })).not.toBe(machineOf({ ...there, installed }));
  const installed = '0123456789abcdef0123456789abcdef';
  expect(machineOf({ ...here, installed })).toBe(machineOf({ ...there, installed }));
  expect(machineOf({ ...here, installed })).not.toBe(machineOf({ ...here, installed, name: 'node-1' }));
});

test('programs of a call are found by their environment and killed, and no others', async () => {
  const [mine, other] = [await waiting({ [CALL_VARIABLE]: 'call-1' }), await waiting()];
  const ended = once(mine, 'exit');
  expect(PROCESSES.endPrograms('call-1')).toBe(true);
  await ended;

  expect(PROCESSES.endPrograms('call-1')).toBe(false);
  expect(PROCESSES.isGone(markOf(other.pid as number))).toBe(false);
  other.kill('SIGKILL');
});
