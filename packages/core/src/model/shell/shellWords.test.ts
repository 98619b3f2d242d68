import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { commandPatternProblem, matchCommand, parseCommandLine } from './shellWords.ts';

describe('a line is read as its commands', () => {
  test.each([
    ['git status', [['git', 'status']]],
    ['  npm   run\ttest  ', [['npm', 'run', 'test']]],
    ['a; b && c || d | e |& f & g', [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g']]],
    ['a&&b;c|d', [['a'], ['b'], ['c'], ['d']]],
    ['a\n\nb\n', [['a'], ['b']]],
    ['a |\n b', [['a'], ['b']]],
    ['a;', [['a']]],
    ['a &', [['a']]],
    [`echo 'a b' "c 'd'" ''`, [['echo', 'a b', "c 'd'", '']]],
    [`echo "a\\"b\\\\c\\d\\$e"`, [['echo', 'a"b\\c\\d$e']]],
    ["echo '$HOME' '`x`' '!'", [['echo', '$HOME', '`x`', '!']]],
    ['echo a\\ b \\$x \\; \\!', [['echo', 'a b', '$x', ';', '!']]],
    ['echo a\\\nb "c\\\nd"', [['echo', 'ab', 'cd']]],
    ['echo a#b HEAD~1 a,b x=y {} @ % ^x', [['echo', 'a#b', 'HEAD~1', 'a,b', 'x=y', '{}', '@', '%', '^x']]],
    ['find . -name "*.ts" -exec cat {} \\;', [['find', '.', '-name', '*.ts', '-exec', 'cat', '{}', ';']]],
    [
      'npm test 2>&1 | tail -5',
      [
        ['npm', 'test'],
        ['tail', '-5'],
      ],
    ],
    ['npm test >/dev/null 2>/dev/null; b > /dev/null', [['npm', 'test'], ['b']]],
    ['>/dev/null a', [['a']]],
    ['echo 2 a2>/dev/null', [['echo', '2', 'a2']]],
    ['eslint ./*.ts src/[ab]?.ts', [['eslint', './*.ts', 'src/[ab]?.ts']]],
    ['git commit -m "größer – 日本"', [['git', 'commit', '-m', 'größer – 日本']]],
  ])('%j', (line, commands) => {
    expect(parseCommandLine(line)).toEqual({ ok: true, commands });
  });

  test.each([
    ['c\\url x', 'curl'],
    ['su\\do x', 'sudo'],
    ["ba''se64 x", 'base64'],
    ['"cu"rl x', 'curl'],
    ['c\\\nurl x', 'curl'],
  ])('a name written to hide is the name bash runs: %j [adv.B1]', (line, program) => {
    expect(parseCommandLine(line)).toEqual({ ok: true, commands: [[program, 'x']] });
  });
});

describe('a line that only a shell could read is refused', () => {
  test.each([
    ['git log $(curl x)', '`$(` runs another command'],
    ['git log "$(curl x)"', '`$(` runs another command'],
    ['git log `curl x`', 'a backtick runs another command'],
    ['git log "`curl x`"', 'a backtick runs another command'],
    ['diff <(curl x) y', '`<(` runs another command'],
    ['tee >(sh)', '`>(` runs another command'],
    ['cat <<<x', '`<<` starts text'],
  ])('a command inside a command: %j [adv.B3]', (line, reason) => {
    expect(parseCommandLine(line)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  test.each([
    ['cat <<EOF\nx\nEOF'],
    ["cat <<'E\nOF'\ncurl x\nE\nOF"],
    ['cat <<-EOF\n\tEOF\ncurl x'],
    ['cat << "" \n\ncurl x'],
    ['cat <\\\n<EOF\nx'],
  ])('a here-document, whatever its end looks like: %j [adv.B4]', (line) => {
    expect(parseCommandLine(line)).toMatchObject({ ok: false });
  });

  test.each([
    ['', 'there is no command'],
    [' \n ', 'there is no command'],
    ['echo $' + '{X}', 'value of a variable'],
    ['echo $X', 'value of a variable'],
    ['echo "$X"', 'value of a variable'],
    ["echo $'\\x41'", "`$'`"],
    ['echo $"a"', '`$"`'],
    ['$X y', 'value of a variable'],
    ['echo x > f', 'writes a file'],
    ['echo x >> /dev/null', 'writes a file'],
    ['echo x >/dev/nullx', 'writes a file'],
    ['echo x >/dev/null/../f', 'writes a file'],
    ['echo x >"/dev/null"f', 'writes a file'],
    ['echo x >| f', 'writes a file'],
    ['echo x >& f', 'writes a file'],
    ['echo x &> f', 'redirects output'],
    ['echo x &>> f', 'redirects output'],
    ['echo x 2>&1f', 'numbered stream'],
    ['echo x 1>f', 'numbered stream'],
    ['echo x 12>/dev/null', 'numbered stream'],
    ['echo x 2\\\n>&1', 'numbered stream'],
    ['cat < f', 'reads a file'],
    ['cat <> f', 'reads a file'],
    ['(curl x)', '`( )`'],
    ['f() { curl x; }', '`( )`'],
    ['{ curl x; }', '`{ }`'],
    ['echo {a,b}', '`{ }`'],
    ['echo {1..3}', '`{ }`'],
    ['echo a{},b}', '`{ }`'],
    ['echo \\ {}', '`{ }`'],
    ['if true; then curl x; fi', '`if` is a word of the shell'],
    ['a; then b', '`then` is a word of the shell'],
    ['for x in a; do b; done', '`for` is a word of the shell'],
    ['while a; do b; done', '`while` is a word of the shell'],
    ['case a in', '`case` is a word of the shell'],
    ['function f', '`function` is a word of the shell'],
    ['time curl', '`time` is a word of the shell'],
    ['[[ -f x ]]', 'file pattern'],
    ['! curl', '`!`'],
    ['echo !!', '`!`'],
    ['echo "!!"', '`!`'],
    ['echo "\\!x"', '`!`'],
    ['^a^b', 'earlier line'],
    ['%1', 'stands for a job'],
    ['A=1 curl', '`A=1` sets a variable'],
    ['A+=1 curl', 'sets a variable'],
    ['"A=1" curl', 'sets a variable'],
    ['a # b', 'starts a comment'],
    ['#', 'starts a comment'],
    ['~/x', 'home directory'],
    ['cat ~root/x', 'home directory'],
    ['make x=~/y', 'home directory'],
    ['./c* x', 'is a file pattern'],
    ['cur? x', 'file pattern'],
    ['git *', 'must start with a folder'],
    ['git pus[h]', 'must start with a folder'],
    ["echo 'a", 'not closed'],
    ['echo "a', 'not closed'],
    ['echo "a\\"', 'not closed'],
    ['echo a\\', 'ends with a backslash'],
    ["'' a", 'empty name'],
    ['a && ', 'missing after `&&`'],
    ['a |', 'missing after `|`'],
    ['&& a', 'missing before `&&`'],
    ['a ;; b', 'missing before `;`'],
    ['a ;& b', 'missing before `&`'],
    ['a & ; b', 'missing before `;`'],
    ['a\0b', 'control character'],
    ['a\rb', 'control character'],
    ['a\x1b[0m', 'control character'],
    ['echo "a\x7f"', 'control character'],
    ['a\u00a0b', 'invisible character'],
    ['a\u200bb', 'invisible character'],
    ['a\u{e0001}b', 'invisible character'],
    ['a \ud800', 'not valid Unicode'],
    [`a ${'b'.repeat(10_000)}`, 'at most 10000 characters'],
  ])('%j', (line, reason) => {
    expect(parseCommandLine(line)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe('a command fits a pattern', () => {
  test.each([
    ['git status', ['git', 'status'], true],
    ['git status', ['git', 'status', '-s'], false],
    ['git', ['/tmp/git'], false],
    ['git', ['git '], false],
    ['git *', ['git', 'log'], true],
    ['git *', ['git'], false],
    ['git *', ['git', 'a', 'b'], false],
    ['git **', ['git'], true],
    ['git **', ['git', 'a', 'b'], true],
    ['git **', ['gitx'], false],
    ['npm run * **', ['npm', 'run'], false],
    ['npm run * **', ['npm', 'run', 'x'], true],
    ['  git   log ', ['git', 'log'], true],
    ['**', ['anything', 'at', 'all'], true],
    ['**', [], false],
    ['', [], false],
    ['git lo*', ['git', 'log'], false],
    ['git ** x', ['git', 'a', 'x'], false],
    ['echo .', ['echo', 'x'], false],
  ])('%j and %j: %s', (pattern, words, expected) => {
    expect(matchCommand(pattern, words)).toBe(expected);
  });

  test('a pattern that would never match is told', () => {
    expect(commandPatternProblem('git **')).toBeNull();
    expect(commandPatternProblem(' ')).toBe('is empty');
    expect(commandPatternProblem('git ** x')).toContain('`**` before its end');
    expect(commandPatternProblem('npm run test:*')).toContain('`*` inside the word `test:*`');
  });
});

test('no line makes the reader throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (line) => {
      const read = parseCommandLine(line);
      if (read.ok) expect(read.commands.flat().length).toBeGreaterThan(0);
    }),
    { numRuns: cases({ quick: 80, full: 15_000 }) },
  );
});

test('what is accepted is what bash runs [adv.B1]', { skip: !hasBash() }, () => {
  const fragment = fc.constantFrom(
    ...[
      'px',
      'qy',
      '7',
      '2',
      ' ',
      ' ',
      '\t',
      '\n',
      ';',
      '&&',
      '|',
      '&',
      "'",
      '"',
      '\\',
      '$',
      '`',
      '!',
      '#',
      '~',
      '=',
      ':',
    ],
    ...[
      '{',
      '}',
      '{}',
      '(',
      ')',
      '<',
      '>',
      '2>&1',
      '>/dev/null',
      '2>/dev/null',
      '*',
      '?',
      '[',
      ']',
      '/',
      '..',
      ',',
      '-',
      '\\\n',
      '^',
      '+',
      '%',
      '@',
      'ü',
      "''",
      '""',
    ],
  );
  const lines = fc
    .sample(
      fc.array(fragment, { minLength: 1, maxLength: 12 }).map((parts) => `px ${parts.join('')}`),
      { numRuns: cases({ quick: 8_000, full: 100_000 }), seed: 7 },
    )
    .map((line) => ({ line, read: parseCommandLine(line) }))
    .flatMap(({ line, read }) => (read.ok ? [{ line, commands: read.commands }] : []))
    // What stands behind `||` is not run; paths and builtins do not reach the handler that notes what is.
    .filter(({ line }) => !line.includes('||'))
    .filter(({ commands }) => commands.every(([program]) => program !== ':' && !program?.includes('/')));

  const ran = runInBash(lines.map(({ line }) => line));

  expect(lines.length).toBeGreaterThan(1000);
  const differing = lines.filter(
    ({ commands }, index) => canonical(commands) !== canonical(ran[index] ?? []),
  );
  expect(differing).toEqual([]);
});

function canonical(commands: readonly (readonly string[])[]): string {
  return JSON.stringify(commands.map((words) => words.join('\0')).sort());
}

function hasBash(): boolean {
  try {
    return execFileSync('bash', ['-c', 'printf ok']).toString() === 'ok';
  } catch {
    return false;
  }
}

/** No program is there, so bash hands every command to its handler for missing ones, which notes the words. */
function runInBash(lines: readonly string[]): readonly (readonly (readonly string[])[])[] {
  const script = `
    PATH=/nonexistent
    set -f
    exec 3>&1
    command_not_found_handle() { printf '%s\\0' "$@" $'\\1' >&3; }
    while IFS= read -r -d '' line; do eval "$line" </dev/null; wait; printf '\\2\\0' >&3; done`;
  const folder = mkdtempSync(join(tmpdir(), 'shell-words-'));
  try {
    const output = execFileSync('bash', ['-c', script], {
      cwd: folder,
      input: lines.map((line) => `${line}\0`).join(''),
      env: { LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    });
    const perLine = output.toString().split('\x02\0').slice(0, -1);
    return perLine.map((text) =>
      text
        .split('\x01\0')
        .slice(0, -1)
        .map((words) => words.split('\0').slice(0, -1)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
