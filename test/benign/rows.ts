import type { Language } from './projects.ts';

/**
 * One thing that agents and people do every day, as a line for `sh` in the root of a project. `$F` is a file in the scope,
 * `$S` the folder of the scope, `$T` a folder outside the project and `$N` a number of its own.
 */
export interface Row {
  /** Without it the row is left out. */
  readonly program: string;
  readonly shell: string;
  /** Languages it is for; all of them where it is not said. */
  readonly in?: readonly Language[];
  /** It takes long: once for each kind of phase, and only in the full tier. */
  readonly heavy?: true;
  /** It says `ready` and is still running when the phase is completed. */
  readonly live?: true;
}

/** Rows of one program, each a line of its own. */
export function of(program: string, lines: readonly string[], more: Omit<Row, 'program' | 'shell'> = {}) {
  return lines.map((shell): Row => ({ program, shell, ...more }));
}

/** Everything that is under version control. */
const GIT: readonly Language[] = ['node', 'python', 'rust', 'c', 'go', 'java'];
const NODE = { in: ['node'] } as const;
const PYTHON = { in: ['python'] } as const;
const RUST = { in: ['rust'], heavy: true } as const;
const C = { in: ['c'] } as const;
const GO = { in: ['go'], heavy: true } as const;
const SAVE_ALL = 'git add -A && git commit -qm saved --allow-empty';

/** What changes nothing that counts: it looks, writes what an ignore rule names, puts back, or only tells git. */
export const READING: readonly Row[] = [
  ...of('git', ['git status', 'git status --porcelain -uall --ignored', 'git diff', 'git diff --stat HEAD'], {
    in: GIT,
  }),
  ...of('git', ['git log --oneline -5', 'git show --stat HEAD', 'git blame README.md', 'git grep -n apple'], {
    in: GIT,
  }),
  ...of(
    'git',
    ['git ls-files -s', 'git ls-tree -r HEAD', 'git fsck', 'git shortlog -s HEAD', 'git describe --always'],
    { in: GIT },
  ),
  ...of('git', ['git check-ignore -v x.log', 'git count-objects -v', 'git cat-file -p HEAD', 'git reflog'], {
    in: GIT,
  }),
  ...of('git', ['git update-index --refresh || true', 'git hash-object -w README.md', 'git write-tree'], {
    in: GIT,
  }),
  ...of('git', ['git add -A', 'git add -A && git reset -q', 'git commit -qm empty --allow-empty', SAVE_ALL], {
    in: GIT,
  }),
  ...of(
    'git',
    ['git commit -q --amend --no-edit --allow-empty', 'git rm -q --cached README.md && git add README.md'],
    { in: GIT },
  ),
  ...of(
    'git',
    ['git tag v$N', 'git tag -a -m tagged w$N', 'git branch b$N', 'git branch c$N && git branch -m c$N d$N'],
    { in: GIT },
  ),
  ...of(
    'git',
    [
      'git branch e$N && git branch -qD e$N',
      'git checkout -q -b f$N',
      'git switch -q -c g$N && git switch -q -',
    ],
    { in: GIT },
  ),
  ...of(
    'git',
    ['git notes add -f -m note', 'git rev-parse HEAD', 'git merge-base HEAD HEAD', 'git stash list'],
    { in: GIT },
  ),
  ...of(
    'git',
    ['echo more >> README.md && git stash push -q && git stash pop -q && git checkout -q README.md'],
    { in: GIT },
  ),
  ...of('git', [`${SAVE_ALL}; echo new > new.txt && git stash push -qu && git stash drop -q`], { in: GIT }),
  ...of(
    'git',
    [`${SAVE_ALL}; echo x >> README.md; git reset -q --hard`, `${SAVE_ALL}; rm README.md; git restore .`],
    { in: GIT },
  ),
  ...of(
    'git',
    [
      `${SAVE_ALL}; touch stray.txt; git clean -fdq`,
      `${SAVE_ALL}; git revert -n HEAD && git reset -q --hard`,
    ],
    { in: GIT },
  ),
  ...of(
    'git',
    ['git gc -q', 'git gc -q --prune=now --aggressive', 'git repack -adq', 'git update-server-info'],
    { in: GIT },
  ),
  ...of(
    'git',
    [
      'git pack-refs --all',
      'git prune',
      'git reflog expire --expire=now --all',
      'git maintenance run --quiet',
    ],
    { in: GIT },
  ),
  ...of('git', ['git commit-graph write', 'git multi-pack-index write || true', 'git prune-packed -q'], {
    in: GIT,
  }),
  ...of(
    'git',
    ['git worktree add -q "$T/tree$N"', 'git worktree add -q "$T/t$N" && git worktree remove "$T/t$N"'],
    { in: GIT },
  ),
  ...of(
    'git',
    [
      'git worktree list && git worktree prune',
      'git clone -q . "$T/clone$N"',
      'git bundle create -q "$T/b$N" HEAD',
    ],
    { in: GIT },
  ),
  ...of('git', ['git archive -o "$T/a$N.tar" HEAD', 'git format-patch -q -o "$T/patches$N" --root HEAD'], {
    in: GIT,
  }),
  ...of(
    'git',
    ['git init -q --bare "$T/bare$N" && git remote add r$N "$T/bare$N" && git push -qu r$N HEAD'],
    { in: GIT },
  ),
  ...of('git', ['git clone -q --bare . "$T/up$N" && git remote add u$N "$T/up$N" && git fetch -q --all'], {
    in: GIT,
  }),
  ...of('git', ['git remote add s$N "$T/none" && git remote rename s$N t$N && git remote remove t$N'], {
    in: GIT,
  }),
  ...of(
    'git',
    ['git config user.name ada && git config user.email ada@example.org', 'git config pull.rebase true'],
    { in: GIT },
  ),
  ...of(
    'git',
    [
      'git config rerere.enabled true',
      'git config merge.conflictStyle zdiff3',
      'git config diff.algorithm histogram',
    ],
    { in: GIT },
  ),
  ...of('git', ['git config commit.verbose true', 'git config init.defaultBranch main'], { in: GIT }),
  ...of('git', ['git bisect start && git bisect reset', 'git rebase -q HEAD || true', 'git init -q'], {
    in: GIT,
  }),
  ...of(
    'git',
    [
      'git submodule status',
      'git update-ref refs/heads/h$N HEAD',
      'git symbolic-ref HEAD',
      'git var GIT_EDITOR || true',
    ],
    { in: GIT },
  ),

  ...of('ls', ['ls -laR .', 'ls "$S"']),
  ...of('cat', ['cat README.md "$F"', 'cat "$F" > "$T/copy$N"']),
  ...of('grep', ['grep -rn apple .', 'grep -c . "$F"']),
  ...of('find', ['find . -name "*.txt" -newer README.md', 'find . -type f -exec wc -l {} +']),
  ...of('sed', ['sed -n 1,3p "$F"']),
  ...of('awk', ['awk \'{ n += NF } END { print n }\' "$F"']),
  ...of('sort', ['sort "$F" | uniq -c | sort -rn > "$T/sorted$N"']),
  ...of('head', ['head -n 2 "$F"']),
  ...of('tail', ['tail -n 2 "$F"']),
  ...of('wc', ['wc "$F" README.md']),
  ...of('diff', ['diff "$F" README.md || true', 'diff -r "$S" "$S"']),
  ...of('cmp', ['cmp "$F" "$F"']),
  ...of('file', ['file "$F"']),
  ...of('stat', ['stat "$F" README.md']),
  ...of('du', ['du -sh .']),
  ...of('od', ['od -c "$F" | head -n 2']),
  ...of('xxd', ['xxd "$F" > "$T/x$N"']),
  ...of('cksum', ['cksum "$F"']),
  ...of('sha256sum', ['sha256sum "$F" README.md']),
  ...of('openssl', ['openssl dgst -sha256 "$F"']),
  ...of('jq', ['jq .a docs/data.json']),
  ...of('tar', ['tar cf "$T/all$N.tar" --exclude=.git .']),
  ...of('zip', ['zip -qr "$T/all$N.zip" "$S"']),
  ...of('gzip', ['gzip -c "$F" > "$T/f$N.gz"']),
  ...of('xz', ['xz -c "$F" > "$T/f$N.xz"']),
  ...of('rsync', ['rsync -a --exclude .git ./ "$T/sync$N/"']),
  ...of('touch', ['touch README.md "$F"', 'touch -d yesterday README.md']),
  ...of('cp', [
    'cp README.md "$T/r$N" && echo x >> README.md && cp "$T/r$N" README.md',
    'cp -a "$S" "$T/s$N"',
  ]),
  ...of('mv', ['mv README.md "$T/m$N" && mv "$T/m$N" README.md', 'mv README.md R.md && mv R.md README.md']),
  ...of('ln', ['ln -s README.md link && rm link', 'ln README.md hard && rm hard']),
  ...of('mkdir', ['mkdir -p empty$N/in && rmdir empty$N/in empty$N', 'mkdir -p left-empty']),
  ...of('chmod', ['chmod a+x README.md && chmod a-x README.md']),
  ...of('perl', ['perl -ne \'print if /apple/\' "$F"', 'perl -c -e 1']),
  ...of('sqlite3', ['sqlite3 "$T/d$N.db" "create table t(a); insert into t values (1); select * from t"']),
  ...of('curl', ['curl -s "file://$PWD/README.md"']),
  ...of('ctags', ['ctags -f "$T/tags$N" -R "$S"']),
  ...of('xgettext', ['xgettext -L C -o "$T/m$N.pot" --force-po README.md']),
  ...of('make', ['make -n all', 'make -s all', 'make -s all && make -s clean'], { in: GIT }),
  ...of('bash', ['bash -n -c "exit 0"', 'bash -c "set -e; for f in *; do test -e \\"\\$f\\"; done"']),
  ...of('zsh', ['zsh -fc "ls **/*.txt"']),
  ...of('vim', ["vim -Nu NONE -i NONE -es -R -c 'q!' README.md"]),
  ...of('ed', ["printf '1p\\nq\\n' | ed -s README.md"]),
  ...of('python3', ['python3 -c "print(open(\'README.md\').read())"', 'python3 -m json.tool docs/data.json']),
  ...of(
    'sh',
    [
      'mkdir -p tmp && echo x > tmp/x && echo log > run.log',
      'echo SECRET=1 > .env; rm .env; mkdir -p .cache && echo c > .cache/c',
    ],
    { in: GIT },
  ),

  ...of('node', ['node --test', 'node --check src/sum.js', 'node -e "import(\'./src/sum.js\')"'], {
    ...NODE,
    heavy: true,
  }),
  ...of(
    'npm',
    [
      'npm test --silent',
      'npm run -s build',
      'npm run -s lint',
      'npm ls',
      'npm pkg get name',
      'npm pack --silent --pack-destination "$T"',
    ],
    { ...NODE, heavy: true },
  ),
  ...of(
    'npm',
    ['npm install --offline --no-package-lock --silent', 'npm outdated --offline || true', 'npm root'],
    { ...NODE, heavy: true },
  ),
  ...of('npx', ['npx --offline --no-install nothing-here || true'], { ...NODE, heavy: true }),
  ...of(
    'node',
    [
      'mkdir -p node_modules/.cache && echo c > node_modules/.cache/c',
      'mkdir -p coverage && echo "<p>" > coverage/index.html',
    ],
    NODE,
  ),
  ...of(
    'node',
    ['exec node src/server.js', 'exec node --watch src/server.js'].map((line) => `sh -c '${line}'`),
    { ...NODE, live: true, heavy: true },
  ),
  ...of(
    'python3',
    [
      'python3 -m unittest -q',
      'python3 -m compileall -q src',
      'python3 -m doctest src/adding.py',
      'python3 -m py_compile src/adding.py',
    ],
    PYTHON,
  ),
  ...of(
    'python3',
    [
      'python3 -m venv --without-pip .venv',
      'python3 -m cProfile -o "$T/p$N" src/adding.py',
      'python3 -m timeit -n1 1',
      'python3 -m trace --count -C "$T/c$N" src/adding.py',
      'python3 -m pydoc src/adding.py',
    ],
    PYTHON,
  ),
  ...of(
    'pytest',
    [
      'pytest -q',
      'pytest -q -x --lf',
      'pytest -q -p no:cacheprovider',
      'pytest --co -q',
      'pytest -q --junitxml="$T/j$N.xml"',
    ],
    { ...PYTHON, heavy: true },
  ),
  ...of(
    'python3',
    [
      "python3 -c \"import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); print('ready', flush=True); s.serve_forever()\"",
    ],
    { live: true },
  ),
  ...of('black', ['black -q --check src || true'], PYTHON),
  ...of('isort', ['isort -q --check-only src || true'], PYTHON),
  ...of(
    'cargo',
    [
      'cargo build --offline -q',
      'cargo test --offline -q',
      'cargo check --offline -q',
      'cargo run --offline -q',
      'cargo doc --offline -q',
      'cargo clean -q',
      'cargo metadata --offline --format-version 1',
      'cargo tree --offline',
      'cargo fmt --check || true',
    ],
    RUST,
  ),
  ...of('rustc', ['rustc --crate-type lib --emit metadata --out-dir "$T" src/lib.rs'], RUST),
  ...of('make', ['make -s all', 'make -s test', 'make -s clean', 'make -sj2 all'], C),
  ...of(
    'gcc',
    [
      'gcc -c -o main.o src/main.c',
      'gcc -fsyntax-only src/main.c',
      'gcc -shared -fPIC -o lib.so src/add.c',
      'gcc -MMD -c -o add.o src/add.c',
      'gcc src/main.c src/add.c && ./a.out',
    ],
    C,
  ),
  ...of('ar', ['gcc -c -o add.o src/add.c && ar rcs libadd.a add.o'], C),
  ...of('g++', ['g++ -x c++ -fsyntax-only src/add.c'], C),
  ...of('cmake', ['cmake -S . -B build >/dev/null && cmake --build build >/dev/null'], { ...C, heavy: true }),
  ...of('ninja', ['cmake -G Ninja -S . -B build/ninja >/dev/null && ninja -C build/ninja >/dev/null'], {
    ...C,
    heavy: true,
  }),
  ...of('ctags', ['ctags -R src'], C),
  ...of(
    'go',
    [
      'go build ./...',
      'go test ./...',
      'go vet ./...',
      'go list ./...',
      'go env GOMOD',
      'go doc ./src',
      'mkdir -p bin && go test -c -o bin/small.test ./src',
      'go test -coverprofile=c.out ./...',
      'go mod verify',
    ],
    GO,
  ),
  ...of('gofmt', ['gofmt -l src'], { in: ['go'] }),
  ...of(
    'javac',
    [
      'javac -d build/classes src/Main.java',
      'javac src/Main.java && java -cp src Main && rm src/*.class',
      'javac -d build/d src/Main.java && jar cf small.jar -C build/d .',
    ],
    { in: ['java'], heavy: true },
  ),
];
