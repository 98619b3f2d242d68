import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { passOn } from './passOn.ts';

test('all that a program prints is passed on, and its last lines are kept without what a terminal obeys', async () => {
  const { child, file, printed } = begin('seq 1 20000; printf "a\\033[2Jb\\n\\nend" >&2');
  const numbers = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('');

  await new Promise((ended) => child.once('exit', ended));
  await printed.settled();

  // The two streams meet in one file, where the one may come between two pieces of a line of the other.
  const ofStdout = () => readFileSync(file, 'utf8').replace('a\u001b[2Jb\n\nend', '');
  await expect.poll(() => ofStdout() === numbers).toBe(true);
  const lines = printed.lastLines();
  expect(lines.length).toBeLessThanOrEqual(5);
  expect(lines.join('\n')).toContain('end');
  expect(lines.join('\n')).not.toContain('\u001b');
});

test('what outlives the program and keeps its output open is not waited for', async () => {
  const { child, printed } = begin('echo begun; exec sleep 30');
  await expect.poll(() => printed.lastLines()).toEqual(['begun']);

  await printed.settled();

  expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
});

function begin(script: string) {
  const file = join(mkdtempSync(join(tmpdir(), 'pass-on-')), 'log');
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  return { child, file, printed: passOn([child.stdout, child.stderr], openSync(file, 'a', 0o600)) };
}
