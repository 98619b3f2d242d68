/**
 * `npm run test:clients`: installs Claude Code from the npm registry into a folder for this run, and lets it work with
 * Phasegate against a scripted model on this machine. Ends with 3 where the client cannot be installed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLIENT = '@anthropic-ai/claude-code@2.1.325';
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'phasegate-clients-'));

try {
  process.exitCode = install() ? test() : 3;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function install(): boolean {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const words = ['install', '--save-exact', '--no-audit', '--no-fund', '--prefer-offline', CLIENT];
  const { status, stderr } = spawnSync('npm', words, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) console.error(`${CLIENT} cannot be installed:\n${stderr}`);
  return status === 0;
}

function test(): number {
  const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')));
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/clients'], {
    cwd: root,
    env: { ...process.env, PHASEGATE_CLAUDE: join(folder, 'node_modules/.bin/claude') },
    stdio: 'inherit',
  });
  return status ?? 1;
}
