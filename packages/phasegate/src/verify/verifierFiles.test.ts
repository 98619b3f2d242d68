import type { JsonObject } from '@phasegate/core';
import type { Check, Phase } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { writableVerifier } from './verifierFiles.ts';

const PHASE = { id: 'IMPL', writes: ['src/**', 'packages/**', '*.py'] } as unknown as Phase;
const SOURCES = [
  'package.json',
  'src/sum.mjs',
  'src/sum.test.mjs',
  'scripts/check.mjs',
  'packages/one/a.mjs',
];

describe('what the phase may write, and decides how it is judged', () => {
  test.each<readonly [string, JsonObject]>([
    ['src/check.mjs', { argv: ['node', 'src/check.mjs'] }],
    ['src/check.mjs', { argv: ['npx', 'node', '--import', 'tsx', './src/check.mjs'] }],
    ['src/check.sh', { shell: 'cd src && ./check.sh' }],
    ['src/check.sh', { argv: ['bash', '-ec', 'X=1 sh "src/check.sh"; true'] }],
    ['src/hook.mjs', { argv: ['node', '--import', './src/hook.mjs', '--test', 'src/sum.test.mjs'] }],
    ['src/reporter.mjs', { argv: ['node', '--test', '--test-reporter=./src/reporter.mjs'] }],
    ['src/my.config.ts', { argv: ['npx', 'vitest', 'run', '--config', 'src/my.config.ts'] }],
    ['pytest.py', { argv: ['python3', '-m', 'pytest', 'tests'] }],
    ['src/canary.test.mjs', { argv: ['x'], canary: ['node', '--test', 'src/canary.test.mjs'] }],
    ['src/canary/one.test.mjs', { argv: ['x'], canary: ['node', '--test', 'src/canary'] }],
    ['packages/one/package.json', { argv: ['npm', 'test', '--workspaces'] }],
    ['src/.eslintrc.json', { argv: ['npx', 'eslint', 'src'] }],
    ['src/deep/ruff.toml', { argv: ['ruff', 'check'] }],
    ['src/node_modules/vitest/index.js', { argv: ['npx', 'vitest', 'run'] }],
    ['packages/one/vitest.config.ts', { argv: ['npx', 'vitest'], cwd: './packages/one/' }],
  ])('is found: `%s` of %j [adv.I5]', (path, words) => {
    expect(writableVerifier(checkOf(words), PHASE, [...SOURCES, path])).toBe(path);
    expect(
      writableVerifier(checkOf(words), { ...PHASE, writes: ['docs/**'] }, [...SOURCES, path]),
    ).toBeNull();
  });

  test.each<readonly [JsonObject]>([
    [{ argv: ['node', '--test', '--test-reporter=tap', 'src/sum.test.mjs'] }],
    [{ argv: ['npx', 'vitest', 'run', '--reporter=json', 'src/sum.test.mjs'] }],
    [{ argv: ['node', 'scripts/check.mjs', 'src/sum.mjs'] }],
    [{ argv: ['test', '-f', 'src/sum.mjs'] }],
    [{ shell: 'grep -q sum src/sum.mjs && node scripts/check.mjs src/sum.mjs' }],
    [{ argv: ['npm', 'test'] }],
  ])('is not what is judged: %j', (words) => {
    expect(writableVerifier(checkOf(words), PHASE, SOURCES)).toBeNull();
  });
});

function checkOf(words: JsonObject): Check {
  return { use: 'command', label: 'it', with: words } as unknown as Check;
}
