import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unlockedIn } from './unlocked.ts';

test('packages that a manifest names need a lockfile, and a manifest without any needs none', () => {
  const ask = (manifest: unknown, kinds: readonly ('npm' | 'pnpm' | 'pip')[] = []) => {
    const folder = mkdtempSync(join(tmpdir(), 'unlocked-'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    return unlockedIn({ folder, words: ['node', '--test'], kinds })?.reason ?? null;
  };

  expect(ask({ devDependencies: { vitest: '3' } })).toContain('no lockfile (`package-lock.json`');
  expect(ask({ dependencies: { ms: '2' } }, ['pip'])).toContain('no lockfile');
  expect(ask({ dependencies: { ms: '2' } }, ['npm'])).toBeNull();
  expect(ask({ dependencies: { ms: '2' } }, ['pnpm'])).toBeNull();
  expect(ask({ dependencies: {} })).toBeNull();
  expect(ask(null)).toBeNull();
});

test('pytest is a dependency that a lockfile names', () => {
  const ask = (words: readonly string[], kinds: readonly ('pip' | 'uv')[] = []) =>
    unlockedIn({ folder: mkdtempSync(join(tmpdir(), 'unlocked-')), words, kinds })?.reason ?? null;

  expect(ask(['pytest', '-q'])).toContain('no lockfile (`requirements.txt`, `uv.lock`) names it');
  expect(ask(['python3', '-m', 'pytest'])).toContain('pytest');
  expect(ask(['pytest'], ['uv'])).toBeNull();
  expect(ask(['python3', '-m', 'unittest'])).toBeNull();
});
