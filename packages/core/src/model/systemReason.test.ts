import { expect, test } from 'vitest';
import { reasonOf, systemReason } from './systemReason.ts';

test.each(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'ELOOP', 'EMFILE', 'ENOENT', 'EISDIR'])(
  '%s is said in words, with the next step',
  (code) => {
    const found = systemReason(Object.assign(new Error(`${code}: as the system says it`), { code }));

    expect(found?.reason).toMatch(/^[a-z][a-z ,-]+$/);
    expect(found?.hint).toMatch(/\w/);
    expect(`${found?.reason} ${found?.hint}`).not.toContain(code);
  },
);

test('what is not the system is said as it came', () => {
  expect(systemReason(new Error('no'))).toBeNull();
  expect(systemReason({ code: 'toString' })).toBeNull();
  expect(reasonOf(new Error('no'))).toBe('no');
  expect(reasonOf({ code: 'EUNKNOWN' })).toBe('EUNKNOWN');
  expect(reasonOf('nothing at all')).toBe('nothing at all');
});
