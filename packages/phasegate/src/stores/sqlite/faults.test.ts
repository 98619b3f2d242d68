import { expect, test } from 'vitest';
import { storeFault } from './faults.ts';

test('a state on a read-only file system is to be made writable: no option names another place for it', () => {
  const error = Object.assign(new Error('EROFS'), { code: 'EROFS' });

  const fault = storeFault(error, '/srv/state/state.db');

  expect([fault.code, fault.hint]).toEqual(['store_unavailable', 'make `/srv/state` writable for this user']);
});
