import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keysNotice } from './keysNotice.ts';
import { openKeys, takeSharedKeys } from './runtime/keys.ts';

const DATABASE = 'postgres://gate@db.example/runs';

test('a server on a copy of the keys is told so with the file to name, and one with its own on a database what others need', () => {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-notice-'));
  const [root, stateDir, shared] = [join(base, 'project'), join(base, 'state'), join(base, 'shared.json')];
  for (const folder of [root, stateDir]) mkdirSync(folder, { mode: 0o700 });
  openKeys(stateDir);
  const place = { root, stateDir, env: {} };
  const named = { ...place, env: { PHASEGATE_KEYS_FILE: shared } };

  expect(keysNotice(place)).toBeNull();
  const own = keysNotice({ ...place, database: DATABASE });
  expect(own).toContain(join(stateDir, 'keys.json'));
  expect(own).toContain('name it in PHASEGATE_KEYS_FILE of each');

  copyFileSync(join(stateDir, 'keys.json'), shared);
  takeSharedKeys(stateDir, shared);
  for (const copied of [place, { ...place, database: DATABASE }])
    expect(keysNotice(copied)).toContain(`set PHASEGATE_KEYS_FILE=${shared}`);
  expect(keysNotice(named)).toBeNull();
  expect(keysNotice({ ...named, database: DATABASE })).toBeNull();
});
