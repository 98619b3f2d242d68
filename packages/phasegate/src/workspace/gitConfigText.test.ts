import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { type GitSetting, settingsIn } from './gitConfigText.ts';

const file = join(mkdtempSync(join(tmpdir(), 'phasegate-gitconfig-')), 'config');

test('a config is read as git reads it, or not at all', () => {
  fc.assert(
    fc.property(CONFIG, (text) => {
      const bytes = Buffer.from(text, 'latin1');
      const git = byGit(bytes);
      const read = settingsIn(bytes);

      if (git?.some(({ key }) => !key.includes('.'))) expect(read).toBeNull();
      else expect(read?.map(plain) ?? null).toEqual(git?.map(plain) ?? null);
    }),
    { numRuns: cases({ quick: 100, full: 3000 }) },
  );
});

test.each([
  ['a comment that ends in a backslash', '# note \\\n[core] x = y\n'],
  ['another comment that does', '[a]\nb = c ; \\\n[core] x = y\n'],
  ['an escaped backslash at the end', '[a]\nb = c\\\\\n[core] x = y\n'],
  ['a value in several lines', '[a]\nb = c \\\n d "e # \\\n f" # g\n'],
  ['quotes in the middle', '[a]\nb = "x:":y  "  z "\n'],
  ['a mark before it and lines as on Windows', '\u00ef\u00bb\u00bf[a]\r\nb = c\\\r\nd\r\ne\r\n'],
  ['sections in both spellings', '[A.B]\nC = 1\n[A "B\\"\\x.]"] D\n[a   "b"]e='],
  ['bytes that are not text', '[a]\nb = \xff\xfe\n'],
  ['a carriage return alone', '[a]\rb = c\rd\n'],
])('%s is read as git reads it', (_name, text) => {
  const bytes = Buffer.from(text, 'latin1');
  expect(settingsIn(bytes)?.map(plain)).toEqual(byGit(bytes)?.map(plain));
});

test.each(['b = c', '[a]\nb = \\x', '[a]\nb = "c\nd', '[a b]\n', '[]\nb = c', '[a]\n1 = 2', '[a]\nb\0 = c'])(
  'a config that git refuses, or that nobody writes, is not read: %j',
  (text) => {
    expect(settingsIn(Buffer.from(text))).toBeNull();
  },
);

/** Git before 2.45 makes a space of every other white space within a value. */
function plain({ key, value }: GitSetting): GitSetting {
  return { key, value: value === null ? null : value.replace(/[\t\r]/g, ' ') };
}

/** Null where git refuses it. */
function byGit(bytes: Buffer): readonly GitSetting[] | null {
  writeFileSync(file, bytes);
  const { status, stdout } = spawnSync('git', ['config', '--file', file, '--no-includes', '--list', '-z'], {
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'latin1',
  });
  if (status !== 0) return null;
  return stdout
    .split('\0')
    .slice(0, -1)
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end === -1
        ? { key: entry, value: null }
        : { key: entry.slice(0, end), value: entry.slice(end + 1) };
    });
}

const SIGN = fc.constantFrom(...'aB1-._ \t\r\n\\"#;[]=:ntbx/!\u00ff'.split(''));
const PIECE = fc.oneof(
  { weight: 4, arbitrary: SIGN },
  fc.constantFrom('\n', '\r\n', '\\\n', '\\\r\n', '\\\\', '\\\\\n', '# x \\\n', ' ; y\n'),
  fc.constantFrom('[a]', '[A.b]\n', '[a "B"]', '[a "b\\"c"]\n', '[a  "x.y"]'),
  fc.constantFrom('k = ', 'Key=', '\tname\n', 'k = v\n', '"q s"', '"a # b"', 'x = "y\\\n'),
);
const CONFIG = fc
  .tuple(
    fc.constantFrom('', '\u00ef\u00bb\u00bf', '\u00ef'),
    fc.constantFrom('', '[core]\n', '[Core "Sub"]\r\n', '[a]\nb = '),
    fc.array(PIECE, { maxLength: 14 }).map((pieces) => pieces.join('')),
  )
  .map((parts) => parts.join(''));
