/**
 * Runs the tests in the full tier: all of them, or with `--differing` those that a quick run tries on fewer cases or
 * leaves out. `--list` names them instead.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testFiles } from './testFiles.ts';
import type { Tier } from './tier.ts';
import { readsTier } from './tierCounts.ts';

const TIER: Tier = 'full';
const OPTIONS = ['--differing', '--list'];
const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const files = words.includes('--differing')
  ? testFiles(root).filter((file) => readsTier(file, readFileSync(join(root, file), 'utf8')))
  : testFiles(root);

if (words.some((word) => !OPTIONS.includes(word))) {
  console.error(`only ${OPTIONS.map((option) => `\`${option}\``).join(' and ')} are known`);
  process.exitCode = 2;
} else if (words.includes('--list')) console.log(files.join('\n'));
else process.exitCode = runAll();

function runAll(): number {
  const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')));
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], {
    cwd: root,
    env: { ...process.env, PHASEGATE_TIER: TIER },
    stdio: 'inherit',
  });
  return status ?? 1;
}
