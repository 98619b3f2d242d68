import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeMissing } from './writeMissing.ts';

const FILES = [
  { path: 'settings.yaml', text: 'a: 1\n', instead: ['settings.json'] },
  { path: 'flows/one.yaml', text: 'b: 2\n' },
];

test('only what is missing is written, and a second time nothing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-init-'));
  writeFileSync(join(root, 'settings.json'), '{}');

  expect(await writeMissing(root, FILES)).toMatchObject({
    created: ['flows/one.yaml'],
    kept: ['settings.json'],
    ours: ['flows/one.yaml'],
  });
  expect(await writeMissing(root, FILES)).toMatchObject({
    created: [],
    kept: ['settings.json', 'flows/one.yaml'],
    ours: ['flows/one.yaml'],
  });
});

test('a file that was changed is kept and is not taken for ours', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-init-'));
  await writeMissing(root, FILES);
  writeFileSync(join(root, 'flows/one.yaml'), 'b: 3\n');

  const { kept, ours } = await writeMissing(root, FILES);

  expect(kept).toContain('flows/one.yaml');
  expect(ours).toEqual(['settings.yaml']);
  expect(readFileSync(join(root, 'flows/one.yaml'), 'utf8')).toBe('b: 3\n');
});

test('what cannot be written whole leaves nothing behind, neither files nor folders', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-init-'));
  writeFileSync(join(root, 'docs'), 'a file where a folder is needed');

  const writing = writeMissing(root, [...FILES, { path: 'docs/two.md', text: 'c' }]);

  await expect(writing).rejects.toMatchObject({
    message: expect.stringContaining('a file stands where a folder is needed'),
    hint: expect.stringContaining('--project DIR'),
  });
  expect(readdirSync(root)).toEqual(['docs']);
});

test('what was written is taken back, and what came since stays', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-init-'));
  const { undo } = await writeMissing(root, FILES);
  writeFileSync(join(root, 'flows/mine.yaml'), '');

  await undo();

  expect(readdirSync(root, { recursive: true })).toEqual(['flows', 'flows/mine.yaml']);
});

test('nothing is written through a dangling symlink', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-init-'));
  const outside = join(mkdtempSync(join(tmpdir(), 'phasegate-outside-')), 'target');
  symlinkSync(outside, join(root, 'settings.yaml'));

  const { created, kept } = await writeMissing(root, FILES);

  expect(created).toEqual(['flows/one.yaml']);
  expect(kept).toEqual(['settings.yaml']);
  expect(() => readFileSync(outside)).toThrow();
});
