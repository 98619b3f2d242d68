import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { launchOf, temporaryFolder } from './fixtures/launchOf.ts';
import { subprocessAdapter } from './subprocessAdapter.ts';

test('a program finds its credentials on file descriptor 3 and in the environment, and no file keeps them [S2.25]', async () => {
  const folder = temporaryFolder();
  const log = join(folder, 'log');
  const script = "console.log(require('fs').readFileSync(3,'utf8'), process.env.PHASEGATE_KEY)";

  const started = await subprocessAdapter({
    logFile: log,
    terminal: false,
    enclose: () => expect.fail('nothing is held here'),
  }).start(launchOf(folder, script));

  expect(await started.exited).toEqual({ kind: 'exited', code: 0 });
  expect(readFileSync(log, 'utf8')).toBe('{"token":"secret-of-the-descriptor"} pgk_of-the-environment\n');
  expect(readdirSync(folder)).toEqual(['log']);
});

test('no secret is on the command line of a program [adv.H8]', async () => {
  const folder = temporaryFolder();
  const started = await quiet().start(launchOf(folder, 'setInterval(() => {}, 1000)'));
  const pid = /\d+/.exec(started.where)?.[0] ?? '';

  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  await started.stop();

  expect(line).toContain('setInterval');
  expect(line).not.toContain('secret');
  expect(line).not.toContain('pgk_');
});

test('how a program ended is told: its code, its signal, or that there is no such program', async () => {
  const folder = temporaryFolder();
  const [ended, killed] = [
    launchOf(folder, 'process.exit(7)'),
    launchOf(folder, 'process.kill(process.pid, 9)'),
  ];
  const missing = { ...ended, argv: ['no-such-program-at-all'] as const };
  const exitOf = async (launch: typeof ended) => (await quiet().start(launch)).exited;

  expect(await exitOf(ended)).toEqual({ kind: 'exited', code: 7 });
  expect(await exitOf(killed)).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  expect(await exitOf(missing)).toEqual({ kind: 'not_started', code: 'ENOENT' });
});

test('stopping ends the program and what it started', async () => {
  const folder = temporaryFolder();
  const script = `
    const { spawn } = require('child_process');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    process.on('SIGTERM', () => {});
    require('fs').writeFileSync('draft', String(child.pid));
    require('fs').renameSync('draft', 'child');
    setInterval(() => {}, 1000);`;
  const started = await quiet().start(launchOf(folder, script));
  await until(() => existsSync(join(folder, 'child')));
  const child = readFileSync(join(folder, 'child'), 'utf8');

  await started.stop();

  expect(await started.exited).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  await until(() => !isRunning(child));
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A process that has ended has no command line, also where nobody has collected it yet. */
function isRunning(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

function quiet() {
  return subprocessAdapter({
    logFile: '/dev/null',
    terminal: false,
    enclose: () => expect.fail('nothing is held here'),
  });
}
