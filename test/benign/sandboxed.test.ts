import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { asProcess, makeProject, startRun, type TestProject } from '../e2e/cli.ts';
import { someOf } from '../tier.ts';
import { PROJECTS } from './projects.ts';

// Ordinary programs in the sandbox of a phase: what is in its scope works as it does outside.

const { works } = (await findBubblewrap()).state;

/** Toolchains of this machine that lie in a home, as a user names them in the config. */
const TOOLCHAINS = [
  ['RUSTUP_HOME', process.env.RUSTUP_HOME ?? join(homedir(), '.rustup')],
  ['PYENV_ROOT', process.env.PYENV_ROOT ?? join(homedir(), '.pyenv')],
].filter(([, folder]) => existsSync(folder as string));
const CONFIG = `sandbox: { read: ${JSON.stringify(TOOLCHAINS.map(([, folder]) => folder))} }\n`;
const EXPORTED = TOOLCHAINS.map(([name, folder]) => `export ${name}='${folder}'; `).join('');

const WORKFLOW = `workflow: build
phases:
  WORK:
    instructions: Work.
    allowed_tools: [read_files, write_files, bash, git]
    writes: ["src/**", "tests/**", "build/**", "dist/**", "target/**", "**/__pycache__/**", ".pytest_cache/**"]
`;

/** A program, what it is given, and a file that is there afterwards. */
const LINES: readonly (readonly [program: string, line: string, made?: string])[] = [
  ['git', 'git status --short && git diff --stat && git log --oneline'],
  ['node', 'node --test'],
  [
    'git',
    'echo x > src/committed.txt && git add src && git commit -qm more && git show --stat HEAD',
    'src/committed.txt',
  ],
  ['python3', 'python3 -m unittest -q'],
  ['sed', 'sed -i s/apple/pear/ src/a.txt && cp -a src/a.txt "src/with space 2.txt"', 'src/with space 2.txt'],
  ['make', 'make -s all && ./build/main', 'build/main'],
  ['npm', 'npm test --silent'],
  ['npm', 'npm run -s build', 'dist/sum.js'],
  ['pytest', 'pytest -q'],
  ['gcc', 'gcc -o build/one src/main.c src/add.c && ./build/one', 'build/one'],
  ['cmake', 'cmake -S . -B build/cm && cmake --build build/cm', 'build/cm/small'],
  ['cargo', 'cargo build --offline -q', 'target/debug/small'],
  ['rustc', 'rustc --crate-type lib --out-dir build src/lib.rs', 'build/liblib.rlib'],
  ['go', 'mkdir -p tests/g && printf "package g\\n" > tests/g/g.go && go vet ./tests/g'],
  ['vim', `vim -Nu NONE -i NONE -es -c 'normal Gox' -c wq src/a.txt`],
  ['javac', 'javac -d build src/Main.java && java -cp build Main', 'build/Main.class'],
  ['emacs', `emacs -Q --batch src/a.txt --eval '(progn (insert "e") (save-buffer))'`],
  ['perl', 'perl -pi.orig -e s/a/b/ src/a.txt', 'src/a.txt.orig'],
  ['tar', 'tar cf - src | tar xf - -C build', 'build/src/a.txt'],
  ['sqlite3', 'sqlite3 src/d.db "pragma journal_mode=wal; create table t(a)"', 'src/d.db'],
  ['rustfmt', 'rustfmt src/lib.rs'],
  ['black', 'black -q src'],
  ['gofmt', 'gofmt -w src/add.go'],
  ['bison', 'bison -o src/words.c src/words.y', 'src/words.c'],
  ['curl', 'curl -s "file://$PWD/README.md"'],
  ['git', 'git checkout -q -b side && git checkout -q main && git stash list && git tag v1 && git gc -q'],
  ['bash', 'bash -c "(sleep 0.01; echo y > src/late) & wait; cat <(echo x)"', 'src/late'],
  [
    'python3',
    `python3 -c "import tempfile, multiprocessing as m; tempfile.mkdtemp(); print(m.cpu_count()); m.Lock()"`,
  ],
];

const there = LINES.filter(([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0);

describe.runIf(works)('ordinary programs work in the sandbox of their phase (bubblewrap)', () => {
  let project: TestProject;
  let run: string;

  beforeAll(async () => {
    const { node, python, rust, c, go, java } = PROJECTS;
    const files = Object.assign({}, ...[node, python, rust, go, java, c].map((one) => one.files));
    project = makeProject({ ...files, 'build.workflow.yaml': WORKFLOW, 'phasegate.config.yaml': CONFIG });
    project.write('.gitignore', 'build/\ndist/\ntarget/\n__pycache__/\n.pytest_cache/\n');
    const { base, root } = project;
    const lock = 'command -v cargo && cargo generate-lockfile --offline -q';
    const first =
      'git init -q -b main && git add -A && git -c user.name=a -c user.email=a@a commit -qm first';
    spawnSync('git', ['config', '--file', join(base, '.gitconfig'), 'user.name', 'ada']);
    spawnSync('git', ['config', '--file', join(base, '.gitconfig'), 'user.email', 'ada@example.org']);
    expect(spawnSync('sh', ['-c', `${EXPORTED}${lock}; ${first}`], { cwd: root }).status).toBe(0);
    run = await startRun(project, 'build');
  });

  test.each(someOf(there, { quick: 2, full: LINES.length }))('%s: %s', async (_program, line, made) => {
    const { code, stderr, stdout } = await asProcess(
      project,
      ['exec', run, '--', 'sh', '-c', `${EXPORTED}${line}`],
      { env: { LANG: 'C.UTF-8' } },
    );

    expect([code, stdout.slice(-600), stderr.slice(-600)]).toEqual([
      0,
      expect.any(String),
      expect.any(String),
    ]);
    if (made !== undefined) expect(existsSync(join(project.root, made))).toBe(true);
  });
});
