import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from './version.ts';

test('the version is that of the package', () => {
  const manifest = new URL('../../../package.json', import.meta.url);

  expect(VERSION).toBe((JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version);
});
