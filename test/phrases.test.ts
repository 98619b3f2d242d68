import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bannedIn, writtenFiles } from './phrases.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('nothing we write has a phrase from the list of those we do not use', () => {
  const files = writtenFiles(root);
  expect(files.length).toBeGreaterThan(1000);

  expect(bannedIn(root, files)).toEqual([]);
});

test('a banned phrase is found with its place and with what to write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'phrases-'));
  writeFileSync(join(folder, 'a.md'), 'Fine.\nThe rule was gone around.\n');

  expect(bannedIn(folder, writtenFiles(folder))).toEqual(['a.md:2: \\bgone around\\b: write `bypassed`']);
});
