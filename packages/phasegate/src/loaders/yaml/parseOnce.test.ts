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
