import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databaseAddress } from './databaseAddress.ts';

test.each(['p/w', 'p#w', '12/w', '1#w', 'p?w/x', 'p w@x:y/z'])(
  'a password with signs of an address (%s) is told how to write, and not repeated',
  (password) => {
    const stateDir = mkdtempSync(join(tmpdir(), 'phasegate-state-'));
    const at = (word: string) => () => databaseAddress(stateDir, {}, `postgres://u:${word}@db.example/x`);

    expect(at(password)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: 'the address of the database cannot be read',
        hint: expect.stringContaining('`@` is `%40`'),
      }),
    );
    expect(new URL(at(encodeURIComponent(password))()?.url ?? '').host).toBe('db.example');
  },
);
