/** Small projects of several languages, as `git init` and the usual templates of `.gitignore` leave them. */

/** What a project is written in. `plain` is under no version control and ignores nothing. */
export type Language = 'node' | 'python' | 'rust' | 'c' | 'go' | 'java' | 'plain';

/** One project. */
export interface Project {
  readonly files: Readonly<Record<string, string>>;
  /** Lines of its `.gitignore`; null where it is not under version control. */
  readonly ignores: readonly string[] | null;
  /** What is run once before the first commit, such as what writes a lock file. */
  readonly before?: string;
  /** The program without which there is no such project. */
  readonly needs?: string;
}

/** Names as people choose them: each is a file in every folder of a scope. */
export const NAMES = ['a.txt', 'deep/er/b.txt', 'with space.txt', 'ünï code.txt', '.hidden.txt'] as const;

/** Folders in which every project has files of those names; the empty one is its root. */
const FOLDERS = ['src', 'tests', 'docs', ''] as const;

const TEXT = 'banana\napple\ncherry\nvalue = 1\n';

/** What editors leave, which most people have in a `.gitignore` of their own. */
const EDITORS = ['*.swp', '*.swo', '*~', '.#*', '\\#*\\#', '.DS_Store', '.idea/', '.vscode/*.log'];
const LOGS = ['*.log', 'tmp/', '.cache/', '.env'];

const shared = Object.fromEntries(
  FOLDERS.flatMap((folder) =>
    NAMES.map((name) => [folder === '' ? name : `${folder}/${name}`, TEXT] as const),
  ),
);
const DOCS = {
  'README.md': '# A project\n\nSome words.\n',
  'docs/guide.md': '# Guide\n\n* one\n* two\n',
  'docs/data.json': '{"b":1,"a":[1,2]}\n',
  Makefile:
    'all: build/out.txt\nbuild/out.txt: a.txt\n\tmkdir -p build && sort a.txt > $@\nclean:\n\trm -rf build\n.PHONY: all clean\n',
};

export const PROJECTS: Readonly<Record<Language, Project>> = {
  node: {
    files: {
      ...shared,
      ...DOCS,
      'package.json': `${JSON.stringify({ name: 'small', version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test', build: 'mkdir -p dist && cp src/sum.js dist/', start: 'node src/server.js', lint: 'node --check src/sum.js' } }, null, 2)}\n`,
      'src/sum.js': 'export const sum = (a, b) => a + b;\n',
      'src/server.js':
        "import { createServer } from 'node:http';\ncreateServer((_, out) => out.end('ok')).listen(0, '127.0.0.1', () => console.log('ready'));\n",
      'tests/sum.test.js':
        "import { equal } from 'node:assert';\nimport test from 'node:test';\nimport { sum } from '../src/sum.js';\ntest('sum', () => equal(sum(1, 2), 3));\n",
    },
    ignores: ['node_modules/', 'dist/', 'build/', 'coverage/', '.npm', '.eslintcache', ...LOGS, ...EDITORS],
  },
  python: {
    files: {
      ...shared,
      ...DOCS,
      'pyproject.toml':
        '[project]\nname = "small"\nversion = "1.0.0"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
      'src/adding.py': 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    3\n    """\n    return a+b\n',
      'tests/__init__.py': '',
      'tests/test_adding.py':
        'import sys\nimport unittest\nsys.path.insert(0, "src")\nfrom adding import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n',
    },
    ignores: [
      '__pycache__/',
      '*.py[cod]',
      '.pytest_cache/',
      '.mypy_cache/',
      '.ruff_cache/',
      '.venv/',
      'build/',
      'dist/',
      '*.egg-info/',
      '.coverage',
      'htmlcov/',
      ...LOGS,
      ...EDITORS,
    ],
  },
  rust: {
    needs: 'cargo',
    files: {
      ...shared,
      ...DOCS,
      'Cargo.toml': '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': '/// Adds.\npub fn add(a: u32, b: u32) -> u32 { a + b }\n',
      'src/main.rs': 'fn main() { println!("{}", small::add(1, 2)); }\n',
      'tests/adds.rs': '#[test]\nfn adds() {\n    assert_eq!(small::add(1, 2), 3);\n}\n',
    },
    ignores: ['/target', '**/*.rs.bk', 'build/', ...LOGS, ...EDITORS],
    before: 'cargo generate-lockfile --offline -q',
  },
  c: {
    files: {
      ...shared,
      ...DOCS,
      Makefile:
        'CFLAGS = -Wall\nall: build/main\nbuild/main: src/main.c src/add.c\n\tmkdir -p build && $(CC) $(CFLAGS) -o $@ $^\ntest: all\n\t./build/main\nclean:\n\trm -rf build\n.PHONY: all test clean\n',
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.10)\nproject(small C)\nadd_executable(small src/main.c src/add.c)\n',
      'src/main.c': 'int add(int, int);\nint main(void) { return add(1, -1); }\n',
      'src/add.c': 'int add(int a, int b) { return a + b; }\n',
      'src/words.y': '%{\nint yylex(void);\nvoid yyerror(const char *s);\n%}\n%token A\n%%\nall: A;\n%%\n',
      'src/words.l': '%option noyywrap\n%%\na return 1;\n',
      'src/small.proto': 'syntax = "proto3";\nmessage M { int32 a = 1; }\n',
    },
    ignores: [
      'build/',
      '*.o',
      '*.so',
      '*.a',
      '*.d',
      'a.out',
      'core',
      'tags',
      'compile_commands.json',
      ...LOGS,
      ...EDITORS,
    ],
  },
  go: {
    needs: 'go',
    files: {
      ...shared,
      ...DOCS,
      'go.mod': 'module example.org/small\n\ngo 1.19\n',
      'src/add.go':
        'package src\n\n//go:generate sh -c "echo package src > made.go"\n\n// Add adds.\nfunc Add(a, b int) int { return a+b }\n',
      'src/add_test.go':
        'package src\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n',
    },
    ignores: ['bin/', 'build/', '*.test', '*.out', 'vendor/', ...LOGS, ...EDITORS],
  },
  java: {
    needs: 'javac',
    files: {
      ...shared,
      ...DOCS,
      'src/Main.java':
        'public class Main {\n  /** Starts. */\n  public static void main(String[] a) { System.out.println(3); }\n}\n',
    },
    ignores: ['*.class', 'target/', 'build/', '*.jar', '.gradle/', ...LOGS, ...EDITORS],
  },
  plain: { files: { ...shared, ...DOCS }, ignores: null },
};
