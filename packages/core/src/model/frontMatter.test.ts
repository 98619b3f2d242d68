import { expect, test } from 'vitest';
import { frontMatterOf } from './frontMatter.ts';

test.each([
  ['keys between two marks', '---\ntitle: x\ntags: [a]\n---\nText', 4],
  ['dots at the end, and blanks after the marks', '---  \ntitle: x\n... \nText', 3],
  ['comments and blank lines before the first key', '---\n\n# for the index\nphase: 2\n---\n', 5],
  ['a key of several words, a quoted one, and a map in braces', '---\nShort title: x\n---\n', 3],
  ['a quoted key', '---\n"title": x\n---\n', 3],
  ['a map in braces', '---\n{ title: x }\n---\n', 3],
  ['nothing at all', '---\n\n---\nText', 3],
])('front matter is %s', (_, text, end) => {
  expect(frontMatterOf(text.split('\n'))).toEqual({ end, closed: true });
});

test.each([
  ['text', 'Text\n---\ntitle: x\n---\n'],
  ['a rule above prose', '---\nSome words\n---\n'],
  ['a rule above an address', '---\nhttps://example.org: there\n---\n'],
  ['a rule above a heading, which is no comment where nothing follows', '---\n# Title\n---\n'],
  ['a rule above a list', '---\n- a: 1\n---\n'],
  ['a rule that is never closed', '---\n\ntitle: x\n'],
  ['more than three dashes', '----\ntitle: x\n---\n'],
])('%s is not front matter', (_, text) => {
  expect(frontMatterOf(text.split('\n'))).toEqual({ end: 0, closed: true });
});

test('front matter that begins and never ends takes the rest', () => {
  expect(frontMatterOf(['---', 'title: x', '', 'Text'])).toEqual({ end: 4, closed: false });
});
