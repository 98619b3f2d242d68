import { expect, test } from 'vitest';
import { cardLines } from './diffLines.ts';
import { fileFromCard, filesFromGit } from './fileDiff.ts';

const DIFF = `the content of \`b\` was not kept
diff --git before/src/a.ts after/src/a.ts
index 1..2 100644
--- before/src/a.ts
+++ after/src/a.ts
@@ -4,2 +4,3 @@ function x()
 same
-old
+new
+diff --git a/x b/x
\\ No newline at end of file
diff --git after/logo.png after/logo.png
new file mode 100644
index 0..2
Binary files /dev/null and after/logo.png differ
`;

test('what git writes is taken apart by file, and every line has its kind and its numbers', () => {
  const { notes, files } = filesFromGit(DIFF);

  expect(notes).toEqual(['the content of `b` was not kept']);
  expect(files).toMatchObject([
    { path: 'src/a.ts', how: 'changed', added: 2, removed: 1, untold: null },
    { path: 'logo.png', how: 'added', untold: 'it is not text', lines: [] },
  ]);
  expect(files[0]?.lines.map(({ kind, text, old, now }) => [kind, text, old, now])).toEqual([
    ['hunk', '@@ -4,2 +4,3 @@ function x()', null, null],
    ['same', 'same', 4, 4],
    ['del', 'old', 5, null],
    ['add', 'new', null, 5],
    ['add', 'diff --git a/x b/x', null, 6],
    ['note', '\\ No newline at end of file', null, null],
  ]);
  expect(filesFromGit('')).toEqual({ notes: [], files: [] });
});

test('a file of a card has the numbers of its lines as they are now', () => {
  const lines = cardLines('@@ line 7\n same\n-old\n+@@ line 9\n after');

  expect(lines.map(({ kind, text, now }) => [kind, text, now])).toEqual([
    ['hunk', 'from line 7', null],
    ['same', 'same', 7],
    ['del', 'old', null],
    ['add', '@@ line 9', 8],
    ['same', 'after', 9],
  ]);
});

test('what a card says of a file is kept, and what it does not say is nothing', () => {
  const file = { path: 'x', how: 'added', outside: true, before: null, after: 'ab', untold: 'it is large' };

  expect(fileFromCard({ ...file, lines_cut: 3 })).toMatchObject({ ...file, cut: 3, added: 0, lines: [] });
  expect(fileFromCard({})).toMatchObject({ path: '', how: 'changed', outside: false, untold: null });
});
