import type { Layout } from './template.ts';

/** The kinds of project `init` tells apart. */
export type LayoutName = 'javascript' | 'typescript' | 'python' | 'go' | 'rust' | 'other';

/** Where each kind has its tests and its code, where nothing more is known. */
export const LAYOUTS: Readonly<Record<LayoutName, Layout>> = {
  javascript: nodeLayout('js'),
  typescript: nodeLayout('ts'),
  python: {
    tests: ['tests/**', 'test/**', '**/test_*.py', '**/*_test.py'],
    code: ['src/**'],
    testsAmongCode: { '**/test_*.py': 'src/test_slugify.py', '**/*_test.py': 'src/slugify_test.py' },
    caches: ['.pytest_cache', '.mypy_cache', '.ruff_cache'],
    compiled: false,
    cacheInEach: '__pycache__',
    sample: { test: 'tests/test_slugify.py', code: 'src/slugify.py' },
  },
  go: {
    tests: ['**/*_test.go'],
    code: ['**/*.go'],
    testsAmongCode: { '**/*_test.go': 'slugify/slugify_test.go' },
    caches: [],
    compiled: true,
    sample: { test: 'slugify/slugify_test.go', code: 'slugify/slugify.go' },
  },
  // Tests that stand in the files they test cannot be told apart from them.
  rust: {
    tests: ['tests/**'],
    code: ['src/**'],
    testsAmongCode: {},
    caches: ['target'],
    compiled: true,
    sample: { test: 'tests/slugify.rs', code: 'src/slugify.rs' },
  },
  other: {
    tests: ['test/**', 'tests/**'],
    code: ['src/**', 'lib/**'],
    testsAmongCode: {},
    caches: [],
    compiled: true,
    sample: { test: 'test/slugify', code: 'src/slugify' },
  },
};

/** The exit codes of programs whose tests fail, by the first word of the command line. */
export function redCodesOf(command: string): readonly number[] {
  const program = command.trim().split(/\s+/u)[0]?.replace(/^.*\//u, '') ?? '';
  if (program === 'cargo') return [101];
  if (program === 'make') return [2];
  return [1, 2];
}

function nodeLayout(ending: string): Layout {
  return {
    tests: ['test/**', 'tests/**', `**/*.test.${ending}`, `**/*.spec.${ending}`],
    code: ['src/**', 'lib/**'],
    testsAmongCode: {
      [`**/*.test.${ending}`]: `src/slugify.test.${ending}`,
      [`**/*.spec.${ending}`]: `src/slugify.spec.${ending}`,
    },
    caches: ['coverage', '.nyc_output', 'node_modules/.cache', 'node_modules/.vite'],
    compiled: false,
    sample: { test: `test/slugify.test.${ending}`, code: `src/slugify.${ending}` },
  };
}
