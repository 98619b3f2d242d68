import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GIT_COMMANDS, gitOptionsOf } from './gitOptions.ts';
import { readGitCommand } from './readGitCommand.ts';

describe('a git command', () => {
  test.each([
    ['git status --short', []],
    ['git --no-pager log --oneline -5 main..topic -- src/a.ts', ['main..topic', 'src/a.ts']],
    ["git log --grep='/api' --author=ada -S '../x' --format=%s", []],
    ['git commit -qam "fix: /etc and ../x"', []],
    ['git commit --message="-x in front"', []],
    ['git diff --stat -U3 HEAD~1 -- a b', ['HEAD~1', 'a', 'b', '3']],
    ['git show HEAD:a.txt :0:b.txt', ['HEAD:a.txt', ':0:b.txt']],
    ['git rebase -X ours --onto main a b', ['a', 'b', 'ours', 'main']],
    ['git switch -c topic origin/main', ['origin/main', 'topic']],
    ['git push -u origin HEAD:main', ['origin', 'HEAD:main']],
    ['git stash push -m "wip" a.txt', ['push', 'a.txt']],
    ['git shortlog -sn', []],
  ] as const)('is read: %s', (line, places) => {
    expect(readGitCommand(line)).toMatchObject({ ok: true, places });
  });

  test.each([
    // Abbreviations, clusters and values that are options.
    'git rebase --exe "touch x" main',
    'git rebase -ms s/evil main',
    'git rebase -X -- --exec "touch x" main',
    'git rebase -X --exec "touch x"',
    'git merge --strategy=ours main',
    'git grep -e -- -Otouch x',
    'git grep --open-files-in-pager=touch x',
    'git log --outp x',
    'git log -- --output=x',
    'git commit -S -m x',
    'git commit --gpg-sign -m x',
    'git commit -F a.txt',
    'git diff --no-index a b',
    'git diff --ext-diff',
    'git add --chmod=+x a',
    'git log --help',
    'git tag -s v1 -m x',
    'git blame --contents a a',
    'git checkout --recurse-submodules main',
    // Commands that make links, move files into `.git` or write any file.
    'git apply p',
    'git mv a .git/config',
    'git symbolic-ref rebase-merge/strategy refs/heads/y',
    'git notes add -F a',
    'git config a.b c',
    'git remote add x ext::sh',
    'git reflog expire --all',
    'git toString',
    // Addresses and magic of paths.
    'git fetch http://127.0.0.1:1/x',
    'git fetch git@host:x',
    'git pull . side',
    'git push ../other main',
    'git diff HEAD:a.txt -- :/d/secret.txt',
    "git diff HEAD:a.txt -- ':(top)d/secret.txt'",
    'git grep x -- :d/secret.txt',
  ])('is not taken: %s', (line) => {
    expect(readGitCommand(line)).toMatchObject({ ok: false, reason: expect.any(String) });
  });

  test('names nothing that the installed git calls by another kind: with a value, or without one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'git-options-'));
    execFileSync('git', ['init', '-q'], { cwd: folder });
    const wrong: string[] = [];
    let compared = 0;

    for (const command of GIT_COMMANDS) {
      const options = gitOptionsOf(command) ?? {};
      const told = usageOf(command, folder);
      for (const kind of ['flags', 'optional', 'optionalText', 'valued', 'text'] as const) {
        for (const name of (options[kind] ?? '').split(' ').filter((one) => one !== '')) {
          const says = told.get(name);
          // These take the next word if there is one, which is judged as a name in either case.
          if (says === undefined || /^(?:no-)?merged$/.test(name)) continue;
          compared += 1;
          const isValued = kind === 'valued' || kind === 'text';
          if (isValued !== (says === 'valued')) wrong.push(`${command} ${name}: ${kind}, git says ${says}`);
        }
      }
    }

    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(300);
  });
});

/** How options take a value, as `git COMMAND -h` has them: `-m, --message <text>`, `--color[=<when>]`, `-q, --quiet`. */
function usageOf(command: string, cwd: string): ReadonlyMap<string, 'flag' | 'optional' | 'valued'> {
  const found = new Map<string, 'flag' | 'optional' | 'valued'>();
  let text = '';
  try {
    text = execFileSync('git', [command, '-h'], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    text = String((error as { stdout?: string }).stdout ?? '');
  }
  for (const line of text.split('\n')) {
    const names = /^ {4}(-[^ ].*?)(?: {2,}|$)/.exec(line)?.[1];
    if (names === undefined) continue;
    const kind = /\[=?[<(]|\[<|\[=/.test(names) ? 'optional' : /<|\(|\.\.\./.test(names) ? 'valued' : 'flag';
    for (const [, long, short] of names.matchAll(
      /--(?:\[no-\])?([a-z0-9-]+)|(?<=^|, )-([A-Za-z0-9])(?=[ ,[<]|$)/g,
    )) {
      const name = long ?? short ?? '';
      if (name !== '' && !found.has(name)) found.set(name, kind);
    }
  }
  return found;
}
