import { mayWrite } from '@phasegate/core/engine';
import type { Check, Phase } from '@phasegate/core/model';
import { compileGlob } from '@phasegate/core/model';
import { scriptsOf } from './scriptsOf.ts';

/**
 * The first file of a tree that decides how a check is judged and that the phase may write; null where there is none. A
 * test is not such a file: it is what the phase works on. The script that is run is, and the config of its runner.
 */
export function writableVerifier(check: Check, phase: Phase, paths: Iterable<string>): string | null {
  const { cwd, verifier, argv } = check.with;
  const folder = typeof cwd === 'string' ? cwd.replace(/^(?:\.\/)+|\/+$/g, '').replace(/^\.$/, '') : '';
  const all = new Set(paths);
  const place = (path: string) => (folder === '' ? path : `${folder}/${path}`);
  const endsWith = (path: string, end: string) => path === end || path.endsWith(`/${end}`);
  const scripts = scriptsOf(check, {
    isFile: (path) => all.has(place(path)),
    isEnd: (end) => end !== '' && [...all].some((path) => endsWith(path, end)),
  });
  const named = new Set(scripts.paths.map(place));
  const canary = scripts.canary.map(place);
  const globs = [...(Array.isArray(verifier) ? verifier : []), ...canary.filter((one) => one.includes('*'))];
  const patterns = globs.flatMap((glob) => (typeof glob === 'string' ? (globOf(glob) ?? []) : []));
  const entersPackages = Array.isArray(argv) && argv.some((word) => ENTERS.test(String(word)));
  const isDeciding = (path: string) =>
    isConfig(path, folder) ||
    (entersPackages && path.endsWith('/package.json')) ||
    named.has(path) ||
    canary.some((one) => path === one || path.startsWith(`${one}/`)) ||
    scripts.ends.some((end) => endsWith(path, end)) ||
    patterns.some((matches) => matches(path));
  for (const path of all) if (isDeciding(path) && mayWrite(phase, path)) return path;
  return null;
}

/** Null for a word that only looks like one. */
function globOf(glob: string): ((path: string) => boolean) | null {
  try {
    return compileGlob(glob);
  } catch {
    return null;
  }
}

/** Words by which npm, pnpm and yarn run scripts of other folders. */
const ENTERS = /^(?:-ws?|-r|-F|-C|--(?:workspaces?|recursive|filter|prefix|dir|cwd)(?:=.*)?|workspaces?)$/;

/** Config of runners, at the root of the project or in the folder in which it runs; what counts in any folder; packages. */
function isConfig(path: string, folder: string): boolean {
  const inFolder = folder !== '' && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
  return CONFIG.test(inFolder) || CASCADING.test(path) || PACKAGES.test(path);
}

const CONFIG =
  /^(?:package\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|pnpm-workspace\.yaml|lerna\.json|nx\.json|turbo\.json|\.?(?:vitest|vite|jest|mocharc|ava|babel|playwright|cypress|karma|wdio|webpack|rollup|eslint|prettier|stylelint)(?:\.(?:config|conf|workspace|projects))?\.[cm]?[jt]s(?:on)?|\.mocharc(?:\.\w+)?|\.babelrc(?:\.\w+)?|\.swcrc|\.taprc|jest\.config\.json|tsconfig(?:\.[\w-]+)*\.json|\.?pytest\.(?:ini|toml)|pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|noxfile\.py|conftest\.py|mypy\.ini|\.mypy\.ini|pyrightconfig\.json|go\.mod|go\.work|Cargo\.toml|\.cargo\/config(?:\.toml)?|rust-toolchain(?:\.toml)?|build\.rs|Makefile|GNUmakefile|makefile|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|Gemfile|\.rspec|CMakeLists\.txt|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties|gradlew|mvnw|phpunit\.xml(?:\.dist)?|composer\.json|deno\.jsonc?|bunfig\.toml|\.golangci\.(?:ya?ml|toml|json))$/;

/** Config that such programs look for beside each file they judge. */
const CASCADING =
  /(?:^|\/)(?:\.eslintrc(?:\.\w+)?|\.eslintignore|\.?ruff\.toml|biome\.jsonc?|\.prettierrc(?:\.\w+)?|\.prettierignore|\.stylelintrc(?:\.\w+)?|\.flake8|\.?pylintrc|\.?clippy\.toml|\.?rustfmt\.toml|\.rubocop\.yml|\.clang-tidy)$/;

/** Packages in the tree itself would come before those that were frozen. */
const PACKAGES = /(?:^|\/)(?:node_modules|site-packages|\.venv)\//;
