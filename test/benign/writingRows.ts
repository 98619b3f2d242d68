import { of, type Row } from './rows.ts';

/** What editors do when a file is saved. */
const SAVING: readonly Row[] = [
  ...of('vim', [
    `vim -Nu NONE -i NONE -es -c '%s/a/b/ge' -c 'wq' "$F"`,
    `vim -Nu NONE -i NONE -es --cmd 'set backup backupcopy=no' -c 'normal Gox' -c 'wq' "$F"`,
    `vim -Nu NONE -i NONE -es --cmd 'set backup backupcopy=yes' -c 'normal Goy' -c 'wq' "$F"`,
    `vim -Nu NONE -i NONE -es --cmd 'set undofile undodir=.' -c 'normal Goz' -c 'wq' "$F" && rm -f .*.un~`,
  ]),
  ...of('ex', [`printf '1i\\nfirst\\n.\\nx\\n' | ex -s "$F"`]),
  ...of('ed', [`printf '0a\\nfirst\\n.\\n$a\\nlast\\n.\\nw\\nq\\n' | ed -s "$F"`]),
  ...of('emacs', [
    `emacs -Q --batch "$F" --eval '(progn (insert "e\\n") (save-buffer))'`,
    `emacs -Q --batch --eval '(setq backup-by-copying t)' "$F" --eval '(progn (insert "c\\n") (save-buffer))'`,
  ]),
  ...of('sh', [
    'echo one > "$S/.save$N" && mv "$S/.save$N" "$F"',
    'cp -p "$F" "$F~" && echo two >> "$F"',
    'mv "$F" "$F.bak" && echo three > "$F"',
    'mv "$F" "$F.bak" && echo three > "$F" && rm "$F.bak"',
    'echo four > "$F"',
    'echo five >> "$F"',
    ': > "$F"',
    'echo six > "$F.tmp.$N" && sync -d "$F.tmp.$N" && mv -f "$F.tmp.$N" "$F"',
    'd=$(dirname "$F"); touch "$d/4913" && rm "$d/4913" && echo seven > "$F"',
    'd=$(dirname "$F"); echo swap > "$d/.n$N.swp"; echo eight > "$F"; rm "$d/.n$N.swp"',
    'd=$(dirname "$F"); echo swap > "$d/.left$N.swp"; echo nine > "$F"',
    'd=$(dirname "$F"); ln -s "ada@host.1:2" "$d/.#n$N"; echo ten > "$F"; rm "$d/.#n$N"',
    'd=$(dirname "$F"); echo auto > "$d/#n$N#"; echo eleven > "$F"',
    'printf "a\\r\\nb\\r\\n" > "$F"',
    'printf "no newline at the end" > "$F"',
    'cat > "$F" <<END\nfrom a here document\nEND',
  ]),
  ...of('mktemp', [
    't=$(mktemp "$S/.tmpXXXXXX") && echo twelve > "$t" && chmod 644 "$t" && mv "$t" "$F"',
    't=$(mktemp) && echo x > "$t" && cat "$t" > "$F" && rm "$t"',
  ]),
  ...of('python3', [
    `python3 -c "import os,sys; p=sys.argv[1]; open(p+'.new','w').write('p'); os.replace(p+'.new',p)" "$F"`,
    `python3 -c "import sys; f=open(sys.argv[1],'r+'); f.seek(0); f.write('in place'); f.truncate()" "$F"`,
    `python3 -c "import sys,mmap; open(sys.argv[1],'w').write('m'*64); f=open(sys.argv[1],'r+b'); m=mmap.mmap(f.fileno(),0); m[0:3]=b'map'; m.flush()" "$F"`,
    `python3 -c "import fileinput,sys; [print(l.upper(),end='') for l in fileinput.input(sys.argv[1],inplace=True,backup='.orig')]" "$F"`,
  ]),
  ...of(
    'node',
    [
      `node -e "const f=require('fs'),p=process.argv[1]; f.writeFileSync(p+'.tmp','n'); f.renameSync(p+'.tmp',p)" "$F"`,
      `node -e "require('fs').appendFileSync(process.argv[1],'n')" "$F"`,
    ],
    { heavy: true },
  ),
  ...of('sponge', ['sort "$F" | sponge "$F"']),
];

/** What else is written in a scope. */
export const WRITING: readonly Row[] = [
  ...SAVING,
  ...of('sed', ['sed -i s/a/o/g "$F"', 'sed -i.bak s/o/a/g "$F"', 'sed -i -e "1i top" "$F"']),
  ...of('perl', ['perl -pi -e s/e/i/g "$F"', 'perl -pi.orig -e s/i/e/g "$F"']),
  ...of('awk', ['awk "{ print NR, \\$0 }" "$F" > "$F.n" && mv "$F.n" "$F"']),
  ...of('sort', ['sort -o "$F" "$F"', 'sort -u "$F" > "$S/sorted-$N"']),
  ...of('tee', ['echo tee | tee "$F"', 'echo tee | tee -a "$F" > /dev/null']),
  ...of('tr', ['tr a-z A-Z < "$F" > "$S/upper-$N"']),
  ...of('cut', ['cut -c1-3 "$F" > "$S/cut-$N"']),
  ...of('dd', [
    'dd if=/dev/zero of="$S/zero-$N" bs=1k count=64 status=none',
    'dd if=/dev/zero of="$F" bs=1 count=1 conv=notrunc status=none',
  ]),
  ...of('truncate', ['truncate -s 3 "$F"', 'truncate -s 1M "$S/sparse-$N"']),
  ...of('cp', [
    'cp "$F" "$S/copy-$N"',
    'cp -a "$F" "$S/kept-$N"',
    'cp README.md "$S/readme-$N"',
    'mkdir -p "$T/in$N" && echo i > "$T/in$N/i" && cp -r "$T/in$N" "$S/in-$N"',
  ]),
  ...of('mv', [
    'cp "$F" "$S/old-$N" && mv "$S/old-$N" "$S/new-$N"',
    'mkdir -p "$S/d$N/e" && mv "$S/d$N" "$S/g$N"',
    'echo x > "$T/m$N" && mv "$T/m$N" "$S/moved-$N"',
  ]),
  ...of('rm', ['echo x > "$S/gone-$N" && rm "$S/gone-$N"', 'mkdir -p "$S/gone-$N/x" && rm -r "$S/gone-$N"']),
  ...of('ln', [
    'ln -s "$(basename "$F")" "$S/link-$N"',
    'echo h > "$S/one-$N" && ln "$S/one-$N" "$S/two-$N"',
    'ln -sfn nowhere "$S/dangling-$N"',
  ]),
  ...of('install', ['install -m 755 "$F" "$S/installed-$N"', 'install -d "$S/folder-$N"']),
  ...of('mkdir', ['mkdir -p "$S/new-$N/a/b/c" && echo x > "$S/new-$N/a/b/c/file"']),
  ...of('touch', ['touch "$S/touched-$N"', 'touch -d "2 days ago" "$F"']),
  ...of('chmod', ['chmod +x "$F"', 'chmod 600 "$F" && chmod 644 "$F"']),
  ...of('tar', [
    'tar cf "$T/t$N.tar" "$F" && tar xf "$T/t$N.tar"',
    'mkdir -p "$T/x$N" && echo x > "$T/x$N/x" && tar cf - -C "$T/x$N" . | (mkdir -p "$S/tar-$N" && tar xf - --no-same-permissions -C "$S/tar-$N")',
  ]),
  ...of('unzip', [
    '(cd "$T" && echo z > z$N && zip -q z$N.zip z$N) && unzip -qo "$T/z$N.zip" -d "$S/zip-$N"',
  ]),
  ...of('gzip', ['gzip -kf "$F"', 'gzip -c "$F" > "$S/f-$N.gz" && gunzip "$S/f-$N.gz"']),
  ...of('xz', ['xz -kf "$F"']),
  ...of('patch', [
    'cp "$F" "$T/p$N" && echo patched >> "$T/p$N"; diff -au "$F" "$T/p$N" > "$T/p$N.diff"; patch -s "$F" < "$T/p$N.diff"',
    'cp "$F" "$T/q$N" && echo more >> "$T/q$N"; diff -au "$F" "$T/q$N" > "$T/q$N.diff"; patch -s -b "$F" < "$T/q$N.diff"',
  ]),
  ...of('split', ['split -l 1 "$F" "$S/part-$N-"']),
  ...of('csplit', ['printf "a\\nb\\nc\\n" | csplit -s -f "$S/cs-$N-" - 2']),
  ...of('iconv', ['iconv -f utf-8 -t utf-16 README.md > "$S/utf16-$N"']),
  ...of('dos2unix', ['dos2unix -q "$F" || true', 'unix2dos -q "$F" || true']),
  ...of('expand', ['expand "$F" > "$S/spaces-$N"']),
  ...of('fmt', ['fmt -w 20 "$F" > "$S/fmt-$N" || true']),
  ...of('jq', ['jq . docs/data.json > "$S/data-$N.json"']),
  ...of('m4', ['echo "define(A, 1)A" | m4 > "$S/m4-$N"']),
  ...of('envsubst', ['echo \'$N\' | envsubst > "$S/env-$N"']),
  ...of('sqlite3', [
    'sqlite3 "$S/d-$N.db" "pragma journal_mode=wal; create table t(a); insert into t values (1)"',
    'sqlite3 "$S/e-$N.db" "create table t(a)"',
  ]),
  ...of('openssl', ['openssl rand -hex 16 > "$S/random-$N"']),
  ...of('xxd', ['xxd -i README.md > "$S/readme-$N.h"']),
  ...of('rsync', [
    'mkdir -p "$T/r$N" && echo r > "$T/r$N/r" && rsync -a "$T/r$N/" "$S/rsync-$N/"',
    'rsync -a --inplace README.md "$S/inplace-$N"',
  ]),
  ...of('ctags', ['ctags -f "$S/tags-$N" README.md']),
  ...of('zsh', ['zsh -fc \'print -l x > "$S/zsh-$N"\'']),
  ...of('bash', [
    'bash -c \'cat <<< "here" > "$S/bash-$N"\'',
    'bash -c \'for i in 1 2 3; do echo $i > "$S/loop-$N-$i"; done\'',
  ]),
  ...of('python3', [
    `python3 -c "import shutil,sys; shutil.copytree(sys.argv[1], sys.argv[2])" docs/deep "$S/tree-$N"`,
    `python3 -c "import tempfile,os,sys; d=tempfile.mkdtemp(dir=sys.argv[1]); open(d+'/f','w').close(); os.rename(d, sys.argv[1]+'/made-'+os.environ['N'])" "$S"`,
  ]),
  ...of('sh', ['(sleep 0.05; echo late > "$S/late-$N") & wait', 'umask 077; echo private > "$S/private-$N"']),
];

const SOURCES = { in: ['c'] } as const;

/** What makes sources or rewrites them: for a phase with the scope `src/**`. */
export const GENERATING: readonly Row[] = [
  ...of('bison', ['bison -d -o src/words.tab.c src/words.y'], SOURCES),
  ...of('flex', ['flex -o src/words.lex.c src/words.l'], SOURCES),
  ...of('gperf', ['printf "a\\nb\\n" | gperf > src/hash.c'], SOURCES),
  ...of('protoc', ['protoc --cpp_out=. src/small.proto', 'protoc --python_out=. src/small.proto'], SOURCES),
  ...of('indent', ['VERSION_CONTROL=simple indent src/add.c', 'indent -o src/add.out.c src/add.c'], SOURCES),
  ...of('clang-format', ['clang-format -i src/add.c'], SOURCES),
  ...of('gcc', ['gcc -S -o src/add.s src/add.c', 'gcc -E src/add.c > src/add.i'], SOURCES),
  ...of('black', ['black -q src', 'black -q src/adding.py'], { in: ['python'] }),
  ...of('isort', ['isort -q src'], { in: ['python'] }),
  ...of('python3', ['python3 -m lib2to3 -w src/adding.py || true', 'python3 -m compileall -q -b src'], {
    in: ['python'],
  }),
  ...of('rustfmt', ['rustfmt src/lib.rs', 'rustfmt --backup src/main.rs || rustfmt src/main.rs'], {
    in: ['rust'],
  }),
  ...of(
    'cargo',
    [
      'cargo fmt',
      'echo "pub fn two() -> u32 { 2 }" >> src/lib.rs && cargo build --offline -q',
      'cargo fix --lib --allow-dirty --allow-no-vcs --offline -q',
    ],
    { in: ['rust'], heavy: true },
  ),
  ...of('go', ['go generate ./src', 'gofmt -w src && go build ./...', 'go fmt ./...'], {
    in: ['go'],
    heavy: true,
  }),
  ...of(
    'node',
    [
      "node -e \"require('fs').writeFileSync('src/made.js', 'export const one = 1;\\n')\" && node --check src/made.js",
    ],
    { in: ['node'], heavy: true },
  ),
  ...of('npm', ['npm run -s build && cp dist/sum.js src/copied.js'], { in: ['node'], heavy: true }),
  ...of('javac', ['javac -h src/headers -d build/h src/Main.java'], { in: ['java'], heavy: true }),
];

const UNDER_GIT = { in: ['node', 'python', 'rust', 'c', 'go', 'java'] } as const;
const SAVE = 'git add -A && git commit -qm saved --allow-empty';

/** What writes all over a project: for a phase with the scope of the whole tree. */
export const ANYWHERE: readonly Row[] = [
  ...of(
    'git',
    [
      `${SAVE} && git checkout -q -b side$N && echo s > side-$N && ${SAVE} && git checkout -q - && git merge -q side$N`,
      `${SAVE} && git checkout -q -b away$N && echo s > away-$N && ${SAVE} && git checkout -q -`,
      `${SAVE} && git checkout -q -b pick$N && echo s > pick-$N && ${SAVE} && git checkout -q - && git cherry-pick pick$N >/dev/null`,
      `${SAVE} && echo x > mv-$N && git add mv-$N && git mv mv-$N moved-$N`,
      `${SAVE} && echo x > rm-$N && ${SAVE} && git rm -q rm-$N`,
      `date +%s%N > reverted.txt && ${SAVE} && git revert --no-edit HEAD >/dev/null`,
      `${SAVE} && git reset -q --hard HEAD~1`,
      `${SAVE} && echo x >> README.md && git diff > "$T/d$N" && git checkout -q README.md && git apply "$T/d$N"`,
      `${SAVE} && echo a > am-$N && ${SAVE} && git format-patch -q -1 --stdout > "$T/am$N" && git reset -q --hard HEAD~1 && git am -q "$T/am$N"`,
      `${SAVE} && echo stash > stash-$N && git stash push -qu && git stash pop -q`,
      `${SAVE} && echo r > rebase-$N && ${SAVE} && git rebase -q HEAD~1`,
      `${SAVE} && git checkout -q HEAD~1 && git checkout -q -`,
      'echo "*.made" >> .gitignore && echo m > x.made',
      'echo "* text=auto" > .gitattributes && git add .gitattributes',
      'git archive HEAD README.md | tar xf - -O > archived.md',
      'git clean -fdxq build tmp 2>/dev/null; mkdir -p build && echo b > build/b',
    ],
    UNDER_GIT,
  ),
  ...of(
    'npm',
    [
      'npm version patch --no-git-tag-version --silent',
      'npm pkg set description=small',
      'npm install --offline --package-lock-only --silent',
      'npm init -y --silent >/dev/null',
      'npm pack --silent',
      'mkdir -p packages/one && (cd packages/one && npm init -y --silent >/dev/null) && npm install --offline --silent ./packages/one',
    ],
    { in: ['node'], heavy: true },
  ),
  ...of(
    'cargo',
    [
      'rm -f Cargo.lock && cargo generate-lockfile --offline -q',
      'cargo new -q --vcs none crates/one$N',
      'cargo update --offline -q',
    ],
    { in: ['rust'], heavy: true },
  ),
  ...of('go', ['go mod tidy', 'go mod edit -go=1.18', 'go work init . || true'], { in: ['go'], heavy: true }),
  ...of(
    'python3',
    [
      'python3 -m venv --without-pip env$N',
      'python3 -m zipapp src -m adding:add -o app.pyz',
      'python3 -m compileall -q .',
    ],
    { in: ['python'], heavy: true },
  ),
  ...of('pytest', ['pytest -q --junitxml=report.xml --basetemp=pytest-tmp'], { in: ['python'], heavy: true }),
  ...of('cmake', ['cmake -S . -B out >/dev/null && cmake --build out >/dev/null'], {
    in: ['c'],
    heavy: true,
  }),
  ...of('make', [
    'make -s all && make -s clean',
    'printf "x:\\n\\techo x > made-by-make\\n" > "$T/M$N" && make -s -f "$T/M$N" x',
  ]),
  ...of('tar', [
    'tar czf backup-$N.tgz docs README.md',
    'mkdir -p un-$N && tar cf - docs | tar xf - -C un-$N',
  ]),
  ...of('find', [
    'find docs -name "*.md" -exec sed -i s/Some/Any/ {} +',
    'find . -name "*.bak" -not -path "./.git/*" -delete',
  ]),
  ...of('sh', [
    'mkdir -p .github .config && echo "on: push" > .github/ci.yml && echo c > .config/c',
    'echo x > "odd \'name\' $N"; mkdir -p .vscode && echo "{}" > .vscode/settings.json',
  ]),
];

/** What is written while tests are: for a phase with the scope `tests/**`. */
export const TESTING: readonly Row[] = [
  ...of(
    'pytest',
    ['cp tests/test_adding.py tests/test_more$N.py && pytest -q', 'pytest -q --basetemp=tests/tmp$N'],
    { in: ['python'], heavy: true },
  ),
  ...of(
    'python3',
    [
      'cp tests/test_adding.py tests/test_again$N.py && python3 -m unittest -q',
      "mkdir -p tests/data && python3 -c \"import json; json.dump({}, open('tests/data/d.json', 'w'))\"",
    ],
    { in: ['python'] },
  ),
  ...of(
    'node',
    [
      'cp tests/sum.test.js tests/more$N.test.js && node --test',
      'node --test --test-reporter=junit --test-reporter-destination=tests/report.xml',
    ],
    { in: ['node'], heavy: true },
  ),
  ...of('npm', ['mkdir -p tests/snapshots && npm test --silent > tests/snapshots/out.txt'], {
    in: ['node'],
    heavy: true,
  }),
  ...of(
    'cargo',
    [
      'cp tests/adds.rs tests/more$N.rs && cargo test --offline -q',
      'rustfmt tests/adds.rs && cargo test --offline -q --no-run',
    ],
    { in: ['rust'], heavy: true },
  ),
  ...of('gcc', ['echo "int main(void) { return 0; }" > tests/t$N.c && gcc -o tests/t$N.o -c tests/t$N.c'], {
    in: ['c'],
  }),
  ...of(
    'go',
    ['mkdir -p tests/more && printf "package more\\n" > tests/more/more_test.go && go test ./...'],
    { in: ['go'], heavy: true },
  ),
];

/** What is written while documents are: for a phase with the scope `docs/**`. */
export const DOCUMENTING: readonly Row[] = [
  ...of('python3', [
    '(cd docs && python3 -m pydoc -w json >/dev/null)',
    'python3 -m json.tool --sort-keys docs/data.json > docs/d && mv docs/d docs/data.json',
  ]),
  ...of('xgettext', ['xgettext -L C --force-po -o docs/messages.pot README.md']),
  ...of('msgfmt', [
    'printf \'msgid "a"\\nmsgstr "b"\\n\' > docs/a.po && msgfmt --no-hash -o docs/a.mo docs/a.po',
  ]),
  ...of('cargo', ['cargo doc --offline -q --no-deps && cp -r target/doc docs/api'], {
    in: ['rust'],
    heavy: true,
  }),
  ...of('go', ['go doc -all ./src > docs/api.txt'], { in: ['go'], heavy: true }),
  ...of('javadoc', ['javadoc -quiet -d docs/api src/Main.java'], { in: ['java'], heavy: true }),
  ...of('git', ['git log --oneline > docs/changes.md', 'git shortlog -s HEAD > docs/authors.md'], {
    in: ['node', 'c'],
  }),
  ...of('sed', ['sed -i "s/^\\* /- /" docs/guide.md']),
];
