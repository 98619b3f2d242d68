import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Contents } from './contents.ts';
import type { Manifest, TreeEntry } from './manifest.ts';
import { materialise } from './materialise.ts';
import { NOTHING } from './readEntry.ts';

const TEXT = Buffer.from('planted');
const FILE: TreeEntry = { ...NOTHING, type: 'file', mode: 0o644, content: hash('sha256', TEXT, 'hex') };
const contents = { read: () => TEXT } as unknown as Contents;

test('a path that was a folder and a link while it was measured is written nowhere [adv.C2]', async () => {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-room-'));
  const [into, outside] = [join(base, 'room'), join(base, 'outside')];
  for (const folder of [into, outside]) mkdirSync(folder);
  const link: TreeEntry = { ...NOTHING, type: 'link', content: outside };
  const measured = (...entries: readonly (readonly [string, TreeEntry])[]) =>
    ({ entries: new Map(entries) }) as unknown as Manifest;

  const flipped = await materialise(measured(['src/a', link], ['src/a/b/c.txt', FILE]), contents, into);

  expect(flipped).toMatchObject({ ok: false, reason: expect.stringContaining('behind a link') });
  expect(existsSync(join(outside, 'b'))).toBe(false);
  const plain = await materialise(measured(['ab', link], ['abc/d.txt', FILE]), contents, into);
  expect(plain).toMatchObject({ ok: true });
  expect(readFileSync(join(into, 'abc/d.txt'), 'utf8')).toBe('planted');
});
