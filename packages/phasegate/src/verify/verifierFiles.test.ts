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
    ['packages/one/vitest.config.ts', { argv: ['npx', 'vitest', 'run'] }],
    ['src/conftest.py', { argv: ['python3', '-m', 'pytest'], expect: 'green' }],
    ['src/deep/conftest.py', { argv: ['bash', '-c', 'cd x && pytest tests'] }],
    ['packages/one/pytest.ini', { argv: ['pytest', 'packages/one'] }],
    ['src/left/go.mod', { argv: ['/usr/bin/go', 'test', './...'] }],
    ['packages/one/Cargo.toml', { argv: ['cargo', 'test'] }],
  ])('is found: `%s` of %j [adv.I5]', (path, words) => {
    const tree = treeOf([...SOURCES, path]);
    expect(writableVerifier(checkOf(words), PHASE, tree)).toEqual({ writable: path });
    expect(writableVerifier(checkOf(words), { ...PHASE, writes: ['docs/**'] }, tree)).toBeNull();
  });

  test.each<readonly [JsonObject]>([
    [{ argv: ['node', '--test', '--test-reporter=tap', 'src/sum.test.mjs'] }],
    [{ argv: ['npx', 'vitest', 'run', '--reporter=json', 'src/sum.test.mjs'] }],
    [{ argv: ['node', 'scripts/check.mjs', 'src/sum.mjs'] }],
    [{ argv: ['test', '-f', 'src/sum.mjs'] }],
    [{ shell: 'grep -q sum src/sum.mjs && node scripts/check.mjs src/sum.mjs' }],
    [{ argv: ['npm', 'test'] }],
    [{ argv: ['pytest', 'tests'], expect: 'red' }],
  ])('is not what is judged: %j', (words) => {
    const others = ['src/conftest.py', 'src/go.mod', 'packages/one/package.json'].filter(
      (path) => words.expect === 'red' || !path.endsWith('.py'),
    );
    expect(writableVerifier(checkOf(words), PHASE, treeOf([...SOURCES, ...others]))).toBeNull();
  });

  const NPM = { argv: ['npm', 'test'] };
  test.each<readonly [string, JsonObject, Readonly<Record<string, string>>]>([
    ['src/check.mjs', NPM, { 'package.json': scripts({ test: 'node src/check.mjs --all' }) }],
    [
      'src/before.mjs',
      NPM,
      { 'package.json': scripts({ test: 'node --test', pretest: 'node src/before.mjs' }) },
    ],
    ['src/hook.mjs', NPM, { 'package.json': scripts({ test: 'node --import ./src/hook.mjs --test' }) }],
    [
      'src/hook.cjs',
      { argv: ['pnpm', 'run', 'all'] },
      { 'package.json': scripts({ all: 'npm run unit', unit: 'node -r ./src/hook.cjs --test' }) },
    ],
    [
      'src/check.mjs',
      { argv: ['node', '--run', 'test'] },
      { 'package.json': scripts({ test: 'true && node src/check.mjs' }) },
    ],
    [
      'src/check.mjs',
      { shell: 'npm run -s unit' },
      { 'package.json': scripts({ unit: 'node src/check.mjs' }) },
    ],
    [
      'src/setup.ts',
      NPM,
      { 'vitest.config.ts': "export default { test: { setupFiles: ['./src/setup.ts'] } };" },
    ],
    [
      'src/global.ts',
      NPM,
      { 'vitest.config.ts': "export default { test: { globalSetup: './src/global' } };" },
    ],
    [
      'src/preset.mjs',
      NPM,
      {
        'vitest.config.mts': "import { base } from './build/base.mjs';",
        'build/base.mjs': "export { base } from '../src/preset.mjs';",
      },
    ],
    [
      'src/reporter.cjs',
      NPM,
      { 'jest.config.json': '{ "reporters": ["default", "<rootDir>/src/reporter.cjs"] }' },
    ],
    ['src/env.js', NPM, { 'package.json': JSON.stringify({ jest: { testEnvironment: './src/env.js' } }) }],
    ['src/setupTests.js', NPM, { 'package.json': scripts({ test: 'react-scripts test' }) }],
    ['src/hook.cjs', NPM, { '.npmrc': 'node-options=--require ./src/hook.cjs\n' }],
    ['src/plugin.py', { argv: ['pytest'] }, { 'pytest.ini': '[pytest]\naddopts = -q -p src.plugin\n' }],
    ['src/hook.cjs', NPM, { '.mocharc.yml': 'require:\n  - ./src/hook.cjs\nspec: tests\n' }],
  ])('is found where it is loaded in turn: `%s` by %j and %j [adv.I5]', (path, words, files) => {
    const tree = treeOf([...SOURCES, path], files);
    expect(writableVerifier(checkOf(words), PHASE, tree)).toEqual({ writable: path });
    expect(writableVerifier(checkOf(words), { ...PHASE, writes: ['docs/**'] }, tree)).toBeNull();
  });

  test.each<readonly [Readonly<Record<string, string>>]>([
    [
      {
        'package.json': JSON.stringify({
          main: './src/sum.mjs',
          scripts: { test: 'node --test src/sum.test.mjs', other: 'node src/sum.mjs' },
        }),
      },
    ],
    [
      {
        'vitest.config.ts':
          "export default { resolve: { alias: { '@': './src' } }, test: { coverage: { include: ['src/sum.mjs'] } } };",
      },
    ],
    [{ 'vite.config.ts': "export default { build: { lib: { entry: 'src/sum.mjs' } } };" }],
  ])('is not what a manifest or config only mentions: %j', (files) => {
    expect(writableVerifier(checkOf(NPM), PHASE, treeOf(SOURCES, files))).toBeNull();
  });

  test.each([
    'node $SCRIPT',
    'eval "$TESTS"',
    'sh `cat which`',
    '$RUNNER --test',
    'node --import $HOOK --test',
  ])('is told where only the run itself says what it is: `%s` [adv.I5]', (test) => {
    const tree = treeOf(SOURCES, { 'package.json': scripts({ test }) });
    expect(writableVerifier(checkOf(NPM), PHASE, tree)).toEqual({ unknown: test });
    expect(writableVerifier(checkOf({ ...NPM, verifier: ['scripts/**'] }), PHASE, tree)).toBeNull();
    expect(writableVerifier(checkOf(NPM), { ...PHASE, writes: [] }, tree)).toBeNull();
  });

  test.each([
    ['make test', { argv: ['make', 'test'] }],
    ['/usr/bin/make -s test', { argv: ['/usr/bin/make', '-s', 'test'] }],
    ['just test', { shell: 'cd packages && just test' }],
    ['make check', { argv: ['sh', '-c', 'CI=1 make check'] }],
    ['make unit', { argv: ['npm', 'test'] }],
  ])('is told where a recipe says what it is: `%s` of %j [adv.I5]', (command, words) => {
    const tree = treeOf([...SOURCES, 'Makefile'], { 'package.json': scripts({ test: 'make unit' }) });
    expect(writableVerifier(checkOf(words), PHASE, tree)).toEqual({ unknown: command });
    expect(writableVerifier(checkOf({ ...words, verifier: ['scripts/**'] }), PHASE, tree)).toBeNull();
    expect(writableVerifier(checkOf(words), { ...PHASE, writes: [] }, tree)).toBeNull();
  });

  test.each<readonly [string, JsonObject, Readonly<Record<string, string>>]>([
    ['src/config.ts', { argv: ['npx', 'vitest', 'run'] }, { 'vitest.config.ts': 'src/config.ts' }],
    ['src/tools/check.mjs', { argv: ['node', 'bin/check.mjs'] }, { bin: './src/tools' }],
    [
      'src/tools/check.mjs',
      { argv: ['node', 'a/check.mjs'] },
      { a: 'scripts/b', 'scripts/b': '../src/tools' },
    ],
    ['src/node_modules', { argv: ['npx', 'vitest', 'run'] }, { 'src/node_modules': './tools' }],
  ])('is found behind a link: `%s` of %j and %j [adv.I5 adv.C2]', (path, words, links) => {
    const tree = treeOf([...SOURCES, path, 'src/tools/check.mjs'], {}, links);
    expect(writableVerifier(checkOf(words), PHASE, tree)).toEqual({ writable: path });
    expect(writableVerifier(checkOf(words), { ...PHASE, writes: ['docs/**'] }, tree)).toBeNull();
  });

  test('is found where a plugin of the tests names it [adv.I5]', () => {
    const tree = treeOf(['src/plugin.py'], { 'conftest.py': 'pytest_plugins = ["src.plugin"]\n' });
    const check = checkOf({ argv: ['pytest'] });
    expect(writableVerifier(check, { ...PHASE, writes: ['src/**'] }, tree)).toEqual({
      writable: 'src/plugin.py',
    });
  });

  test('links that lead around, or out of the tree, hold nobody up', () => {
    const links = { around: './around', out: '/etc' };
    const tree = treeOf(SOURCES, {}, links);
    for (const path of ['around/x.mjs', 'out/passwd'])
      expect(writableVerifier(checkOf({ argv: ['node', path] }), PHASE, tree)).toBeNull();
  });

  test('a config that an agent filled with keys costs no more than one of a person', () => {
    const long = `${'setupFiles: ['.repeat(20_000)}`;
    const tree = treeOf(SOURCES, { 'vitest.config.ts': long });
    const before = process.cpuUsage();
    expect(writableVerifier(checkOf(NPM), PHASE, tree)).toBeNull();
    // A second and a half of the processor's own time: without a bound it is minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(1_500_000);
  });
});

function scripts(all: Readonly<Record<string, string>>): string {
  return JSON.stringify({ scripts: all });
}

function treeOf(
  paths: readonly string[],
  files: Readonly<Record<string, string>> = {},
  links: Readonly<Record<string, string>> = {},
) {
  return {
    paths: new Set([...paths, ...Object.keys(files), ...Object.keys(links)]),
    read: (path: string) => files[path] ?? null,
    link: (path: string) => links[path] ?? null,
  };
}

function checkOf(words: JsonObject): Check {
  return { use: 'command', label: 'it', with: words } as unknown as Check;
}
