import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGuardedFiles } from './guardedFiles.ts';

test('what was found is kept also where a thousand are kept already; the oldest goes [adv.Q2]', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-guarded-'));
  const kept = join(root, 'kept');
  mkdirSync(kept);
  for (let place = 0; place < 1_000; place += 1) {
    const file = join(kept, `old-${place}`);
    writeFileSync(file, '');
    utimesSync(file, place + 1, place + 1);
  }
  const files = createGuardedFiles({ root, keptIn: () => kept });
  const content = 'servers: {}\n';
  writeFileSync(join(root, 'phasegate.config.yaml'), content);
  const after = (await files.read([])).tree.get('phasegate.config.yaml') ?? null;

  await files.putBack({ path: 'phasegate.config.yaml', before: null, after });

  const name = createHash('sha256').update(content).digest('hex');
  expect(readFileSync(join(kept, name), 'utf8')).toBe(content);
  expect(readdirSync(kept)).toHaveLength(1_000);
  expect([existsSync(join(kept, 'old-0')), existsSync(join(kept, 'old-1'))]).toEqual([false, true]);
});
