import { mayWrite } from '@phasegate/core/engine';
import type { Check, Phase } from '@phasegate/core/model';
import { compileGlob } from '@phasegate/core/model';

/**
 * The first file of a tree that decides how a check is judged and that the phase may write; null where there is none. A
 * test is not such a file: it is what the phase works on. The script that is run is, and the config of its runner.
 */
export function writableVerifier(check: Check, phase: Phase, paths: Iterable<string>): string | null {
  const { cwd, verifier } = check.with;
  const folder = typeof cwd === 'string' ? cwd.replace(/^(?:\.\/)+|\/+$/g, '').replace(/^\.$/, '') : '';
  const scripts = [check.with.argv, check.with.canary].flatMap((words) => scriptsIn(words));
  const named = scripts.map((script) => (folder === '' ? script : `${folder}/${script}`));
  const globs = Array.isArray(verifier) ? verifier.filter((one) => typeof one === 'string') : [];
  const patterns = globs.map((glob) => compileGlob(glob));
  const isNamed = (path: string) => patterns.some((matches) => matches(path));
  for (const path of paths) {
    if ((isConfig(path, folder) || named.includes(path) || isNamed(path)) && mayWrite(phase, path))
      return path;
  }
  return null;
}

/** Config of runners, at the root of the project or in the folder in which it runs. */
function isConfig(path: string, folder: string): boolean {
  const inFolder = folder !== '' && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
  return CONFIG.test(inFolder);
}

const CONFIG =
  /^(?:package\.json|\.npmrc|\.?(?:vitest|vite|jest|mocharc|ava|babel|playwright)(?:\.(?:config|workspace))?\.[cm]?[jt]s(?:on)?|\.mocharc(?:\.\w+)?|\.babelrc(?:\.\w+)?|jest\.config\.json|tsconfig\.json|pytest\.ini|\.pytest\.ini|pyproject\.toml|setup\.cfg|tox\.ini|conftest\.py|go\.mod|go\.work|Cargo\.toml|\.cargo\/config(?:\.toml)?|build\.rs|Makefile|GNUmakefile|makefile|deno\.jsonc?|bunfig\.toml)$/;

const INTERPRETERS = new Set([
  'node',
  'python',
  'python3',
  'sh',
  'bash',
  'dash',
  'zsh',
  'ruby',
  'perl',
  'deno',
  'bun',
  'tsx',
]);

/** The script that a command runs, as a path of the tree; nothing where a runner is asked to find tests. */
function scriptsIn(words: unknown): readonly string[] {
  if (!Array.isArray(words)) return [];
  const [program, ...rest] = words.filter((word): word is string => typeof word === 'string');
  if (program === undefined) return [];
  if (program.includes('/') && !program.startsWith('/')) return [plain(program)];
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (!INTERPRETERS.has(name) || rest.some((word) => /^(?:--test\b|-m|-c|-e|--eval)/.test(word))) return [];
  const script = rest.find((word) => !word.startsWith('-'));
  return script === undefined || script.startsWith('/') ? [] : [plain(script)];
}

function plain(path: string): string {
  return path.replace(/^(?:\.\/)+/, '');
}
