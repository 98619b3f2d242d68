/** Whether a path is config of a runner: at the root of the project, or in the folder it runs in. */
export function isConfig(path: string, folder: string): boolean {
  const inFolder = folder !== '' && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
  return CONFIG.test(inFolder) || CASCADING.test(path) || PACKAGES.test(path);
}

/**
 * What the runners that are named here read in folders further down, where nobody has to point them at it. `red`: the
 * tests are to fail, so the phase writes them; what stands beside a test adds nothing to what the test can do.
 */
export function nestedConfigs(
  commands: readonly (readonly string[])[],
  { red }: { readonly red: boolean },
): (path: string) => boolean {
  const words = commands.flat().map((word) => word.slice(word.lastIndexOf('/') + 1));
  const patterns = NESTED.filter(({ runner }) => words.some((word) => runner.test(word))).map(
    ({ files }) => files,
  );
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return !(red && name === 'conftest.py') && patterns.some((files) => files.test(path));
  };
}

const CONFIG =
  /^(?:package\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|pnpm-workspace\.yaml|lerna\.json|nx\.json|turbo\.json|\.?(?:vitest|vite|jest|mocharc|ava|babel|playwright|cypress|karma|wdio|webpack|rollup|eslint|prettier|stylelint)(?:\.(?:config|conf|workspace|projects))?\.[cm]?[jt]s(?:on)?|\.mocharc(?:\.\w+)?|\.babelrc(?:\.\w+)?|\.swcrc|\.taprc|jest\.config\.json|tsconfig(?:\.[\w-]+)*\.json|\.?pytest\.(?:ini|toml)|pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|noxfile\.py|conftest\.py|mypy\.ini|\.mypy\.ini|pyrightconfig\.json|go\.mod|go\.work|Cargo\.toml|\.cargo\/config(?:\.toml)?|rust-toolchain(?:\.toml)?|build\.rs|Makefile|GNUmakefile|makefile|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|Gemfile|\.rspec|CMakeLists\.txt|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties|gradlew|mvnw|phpunit\.xml(?:\.dist)?|composer\.json|deno\.jsonc?|bunfig\.toml|\.golangci\.(?:ya?ml|toml|json))$/;

/** Config that such programs look for beside each file they judge. */
const CASCADING =
  /(?:^|\/)(?:\.eslintrc(?:\.\w+)?|\.eslintignore|\.?ruff\.toml|biome\.jsonc?|\.prettierrc(?:\.\w+)?|\.prettierignore|\.stylelintrc(?:\.\w+)?|\.flake8|\.?pylintrc|\.?clippy\.toml|\.?rustfmt\.toml|\.rubocop\.yml|\.clang-tidy)$/;

/** Packages in the tree itself would come before those that were frozen. */
const PACKAGES = /(?:^|\/)(?:node_modules|site-packages|\.venv)(?:\/|$)/;

/** By the runner that reads it: a plugin of a folder, the settings of the folder it is given, or what leaves a folder out. */
const NESTED: readonly { readonly runner: RegExp; readonly files: RegExp }[] = [
  {
    runner: /^(?:pytest|py\.test|tox|nox)$/,
    files: /(?:^|\/)(?:conftest\.py|\.?pytest\.(?:ini|toml)|pyproject\.toml|tox\.ini|setup\.cfg)$/,
  },
  { runner: /^(?:go|gotestsum)$/, files: /(?:^|\/)(?:go\.mod|go\.work)$/ },
  {
    runner: /^(?:cargo|cargo-nextest)$/,
    files: /(?:^|\/)(?:Cargo\.toml|build\.rs|\.cargo\/config(?:\.toml)?)$/,
  },
  {
    runner: /^(?:vitest|jest)(?:\.[cm]?js)?$/,
    files: /(?:^|\/)(?:vitest|vite|jest)(?:\.(?:config|workspace|projects))\.(?:[cm]?[jt]s|json)$/,
  },
  { runner: /^react-scripts$/, files: /^src\/setupTests\.[jt]sx?$/ },
];

/** Programs that run what a file of theirs says, which is not read here. */
export function runsRecipes(words: readonly string[]): boolean {
  const program = words.find((word) => !word.startsWith('-') && !/^\w+=/.test(word) && !BEFORE.has(word));
  return program !== undefined && RECIPES.has(program.slice(program.lastIndexOf('/') + 1));
}

/** What stands before the program that is meant. */
const BEFORE = new Set(['env', 'npx', 'nice', 'exec', 'time', 'command']);
const RECIPES = new Set([
  ...['make', 'gmake', 'bmake', 'just', 'task', 'rake', 'tox', 'nox', 'invoke', 'inv', 'doit', 'ant'],
  ...['ninja', 'scons', 'cmake', 'ctest', 'meson', 'bazel', 'earthly', 'dagger', 'mage'],
]);
