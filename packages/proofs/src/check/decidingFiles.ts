import type { Check } from '@phasegate/core/model';
import { isTestPath } from './isTestPath.ts';

/**
 * Files of the project that decide how a check is judged: the script that is run, the config of its runner, and what the
 * check names as its `verifier`. Tests that must fail are work, not a verdict; so are all tests that a runner is given.
 */
export function decidingFiles(check: Check): readonly string[] {
  const { use, with: asked } = check;
  if (use !== 'command' && use !== 'tests') return [];
  const { argv, canary, cwd, verifier, expect_exit = 0 } = asked;
  const isWork = (file: string) => isTestPath(file) && (use === 'tests' || expect_exit !== 0);
  const folder = typeof cwd === 'string' && cwd !== '.' ? `${cwd.replace(/\/$/u, '')}/` : '';
  const run = [argv, canary].flatMap((words) => (use === 'tests' ? ofRunner(words) : ofCommand(words)));
  const inFolder = run.filter((file) => !isWork(file)).map((file) => `${folder}${file}`);
  const named = textsOf(verifier).map((glob) => glob.replaceAll('**', 'x').replaceAll('*', 'x'));
  return [...new Set([...inFolder, ...named])];
}

const SCRIPTS: Readonly<Record<string, string>> = {
  npm: 'package.json',
  pnpm: 'package.json',
  yarn: 'package.json',
  make: 'Makefile',
};

/** What runners read beside tests, by a word of the line that starts them. */
const CONFIGS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(SCRIPTS).map(([program, file]) => [program, [file]])),
  node: ['package.json'],
  npx: ['package.json'],
  vitest: ['package.json', 'vitest.config.ts', 'vitest.config.js', 'vite.config.ts', 'vite.config.js'],
  jest: ['package.json', 'jest.config.ts', 'jest.config.js'],
  pytest: ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini', 'conftest.py'],
  go: ['go.mod'],
  cargo: ['Cargo.toml'],
};

function ofCommand(words: unknown): readonly string[] {
  const line = textsOf(words);
  const script = SCRIPTS[line[0] ?? ''];
  return [...(script === undefined ? [] : [script]), ...scriptsIn(line)];
}

/** A runner may be the program itself, or be named by what starts it: `npx vitest`, `python3 -m pytest`. */
function ofRunner(words: unknown): readonly string[] {
  const line = textsOf(words);
  const programs = line.map((word) => word.slice(word.lastIndexOf('/') + 1).replace(/\.[cm]?js$/u, ''));
  const configs = programs.flatMap((name) => (Object.hasOwn(CONFIGS, name) ? (CONFIGS[name] ?? []) : []));
  // What `--test` is followed by are tests, whatever they are called.
  return line.includes('--test') ? configs : [...configs, ...scriptsIn(line)];
}

function scriptsIn(line: readonly string[]): readonly string[] {
  return line
    .filter((word) => /^[\w@.][\w@./-]*\.(?:sh|[cm]?[jt]s|py|rb|pl|json)$/u.test(word))
    .map((word) => word.replace(/^\.\//u, ''));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
