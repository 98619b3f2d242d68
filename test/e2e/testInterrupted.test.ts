import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { someOf } from '../tier.ts';
import { makeProject, PROGRAM } from './cli.ts';

const WAYS = [
  ['twice, and is not waited for', ['SIGINT', 'SIGTERM']],
  ['once', ['SIGINT']],
  ['once by the system', ['SIGTERM']],
] as const;

test.each(someOf(WAYS, { quick: 1, full: WAYS.length }))(
  'anyone who interrupts `phasegate test` %s leaves nothing behind',
  async (_, signals) => {
    const project = makeProject({
      'w.workflow.yaml': 'workflow: w\nphases: { A: { command: node stubborn.cjs } }\n',
      // It does not want to end, and says where it can be found.
      'stubborn.cjs': `
process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
require('node:fs').renameSync((require('node:fs').writeFileSync('pid', String(process.pid)), 'pid'), process.env.HOME + '/pid');
`,
    });
    const before = readdirSync(project.root);
    const scratch = join(project.base, 'scratch');
    mkdirSync(scratch);
    const env = { ...project.env, TMPDIR: scratch, NODE_DISABLE_COMPILE_CACHE: '1' };
    const testing = spawn(process.execPath, [PROGRAM, 'test', 'w'], {
      cwd: project.root,
      env,
      stdio: 'ignore',
    });
    const ended = once(testing, 'exit');
    const found = join(project.base, 'pid');
    await expect.poll(() => existsSync(found), { timeout: 20_000 }).toBe(true);

    for (const signal of signals) testing.kill(signal);

    expect(await ended).toEqual([1, null]);
    expect(readdirSync(scratch)).toEqual([]);
    expect(readdirSync(project.root)).toEqual(before);
    expect(existsSync(project.stateDir)).toBe(false);
    await expect.poll(() => isAlive(Number(readFileSync(found, 'utf8'))), { timeout: 20_000 }).toBe(false);
  },
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
