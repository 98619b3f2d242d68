import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBeneath } from './openBeneath.ts';

test('a file that lies elsewhere once it is open is refused, in words that begin no line', async () => {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-beneath-'));
  mkdirSync(join(base, 'real'));
  writeFileSync(join(base, 'real', 'a\nb'), '');
  // Stands for a folder that becomes a link after it was looked at.
  symlinkSync('real', join(base, 'root'));

  await expect(openBeneath(join(base, 'root'), 'a\nb')).rejects.toMatchObject({
    name: 'PathRefused',
    code: 'path_changed',
    message: '`a\\nb` changed while it was opened',
  });
});
