import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell, type Shell } from '../fixtures/callCli.ts';

test('search prints passages with their place, and the answer as it is with --json', async () => {
  const shell = withDocs();

  const plain = await shell.call(['search', 'mutex', 'order']);
  const json = await shell.call([
    'search',
    'the program froze',
    '--terms',
    'deadlock,mutex',
    '-n',
    '1',
    '--json',
  ]);

  expect(plain.code).toBe(0);
  expect(plain.stdout).toMatch(/^docs\/locks\.md:\d+ {2}Locks {2}\d\.\d\d$/m);
  expect(plain.stdout).toContain('Take every mutex in one order');
  expect(json.json()).toMatchObject({
    results: [{ file: 'docs/locks.md', title: 'Locks', tokens: expect.any(Number) }],
    low_confidence: false,
    retrieval_method: 'bm25',
  });
});

test('search filters by phase and tag', async () => {
  const shell = withDocs();
  const call = async (...words: string[]) =>
    ((await shell.call(['search', 'mutex', ...words, '--json'])).json().results as { file: string }[]).map(
      ({ file }) => file,
    );

  expect(await call('--phase', '2')).toEqual(['docs/second.md']);
  expect(await call('--tag', 'threads')).toEqual(['docs/second.md']);
  expect(await call('--tag', 'none')).toEqual([]);
});

test('search says what to try when it found nothing', async () => {
  const { code, stdout, stderr } = await withDocs().call(['search', 'zebra']);

  expect(code).toBe(0);
  expect(stdout).toBe('nothing found\n');
  expect(stderr).toMatch(/^hint: .*`terms`.*Locks/);
});

test.each([
  [['search']],
  [['search', 'x', '-n', 'many']],
  [['search', 'x', '--phase', 'one']],
  [['search', '?']],
])('%o is wrong usage', async (words) => {
  expect((await withDocs().call(words)).code).toBe(2);
});

test('index prints counts and warnings', async () => {
  const shell = withDocs();
  shell.write('docs/open.md', '---\ntags: a\n\nText.\n');

  const plain = await shell.call(['index']);
  const rebuilt = await shell.call(['index', '--rebuild', '--json']);

  expect(plain.code).toBe(0);
  expect(plain.stdout).toMatch(/^files {4}3$/m);
  expect(plain.stderr).toContain('docs/open.md:1: front matter has no end');
  expect(rebuilt.json()).toMatchObject({ files: 3, added: 3, warnings: [{ file: 'docs/open.md', line: 1 }] });
});

function withDocs(): Shell {
  const shell = makeShell(EMPTY_PROJECT);
  mkdirSync(join(shell.root, 'docs'));
  shell.write('docs/locks.md', '# Locks\n\nTake every mutex in one order, or a deadlock follows.\n');
  shell.write('docs/second.md', '---\nphase: 2\ntags: [threads]\n---\n# Second\n\nA mutex of phase two.\n');
  return shell;
}
