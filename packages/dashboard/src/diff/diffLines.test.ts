import { expect, test } from 'vitest';
import { diffLines } from './diffLines.ts';

const DIFF = `the content of \`b\` was not kept
diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -4,2 +4,3 @@ function x()
 same
-old
+new
+more
`;

test('every line has its kind and its numbers, before and after', () => {
  expect(diffLines(DIFF).map(({ kind, text, old, now }) => [kind, text, old, now])).toEqual([
    ['note', 'the content of `b` was not kept', null, null],
    ['file', 'src/a.ts', null, null],
    ['note', 'index 1..2 100644', null, null],
    ['note', '--- a/src/a.ts', null, null],
    ['note', '+++ b/src/a.ts', null, null],
    ['hunk', '@@ -4,2 +4,3 @@ function x()', null, null],
    ['same', 'same', 4, 4],
    ['del', 'old', 5, null],
    ['add', 'new', null, 5],
    ['add', 'more', null, 6],
  ]);
  expect(diffLines('')).toEqual([]);
});
