import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeShell } from './fixtures/callCli.ts';
import { VERSION } from './version.ts';

test('the version is that of the package', () => {
  const manifest = new URL('../../../package.json', import.meta.url);

  expect(VERSION).toBe((JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version);
});

test.each(['--version', '-v', '-V', 'version'])('`phasegate %s` says it', async (word) => {
  expect((await makeShell().call([word])).stdout).toBe(`${VERSION}\n`);
});
