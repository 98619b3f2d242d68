import { expect, test } from 'vitest';
import { parseOnce } from './parseOnce.ts';

test('a file is parsed once for each of its contents', () => {
  const first = parseOnce('a.workflow.yaml', { text: 'workflow: one', sha256: '1' });

  expect(parseOnce('a.workflow.yaml', { text: 'workflow: one', sha256: '1' })).toBe(first);
  expect(parseOnce('a.workflow.yaml', { text: 'workflow: two', sha256: '2' }).value).toEqual({
    workflow: 'two',
  });
  expect(parseOnce('b.workflow.yaml', { text: 'workflow: one', sha256: '1' })).not.toBe(first);
});

test('a hundred files that were listed are not parsed again when each is loaded', () => {
  const parse = (n: number) => parseOnce(`w${n}.workflow.yaml`, { text: `workflow: w${n}`, sha256: `${n}` });
  const listed = Array.from({ length: 100 }, (_, n) => parse(n));

  expect(listed.filter((tree, n) => parse(n) !== tree)).toEqual([]);
});

test('little is kept of large files, and always the newest', () => {
  const large = (name: string) => ({ text: `workflow: ${name} # ${'x'.repeat(600_000)}`, sha256: name });
  const small = parseOnce('small.workflow.yaml', { text: 'workflow: s', sha256: 's' });
  const one = parseOnce('one.workflow.yaml', large('one'));
  expect(parseOnce('small.workflow.yaml', { text: 'workflow: s', sha256: 's' })).toBe(small);

  const two = parseOnce('two.workflow.yaml', large('two'));
  expect(parseOnce('two.workflow.yaml', large('two'))).toBe(two);
  expect(parseOnce('small.workflow.yaml', { text: 'workflow: s', sha256: 's' })).toBe(small);
  expect(parseOnce('one.workflow.yaml', large('one'))).not.toBe(one);
});
