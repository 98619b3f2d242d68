import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findClient } from './findClient.ts';
import { CLIENTS } from './kinds/index.ts';

test('a client is what its start leads to: the package, and the one for this system', async () => {
  const { base, put } = machine();
  put('node_modules/@openai/codex/package.json', '{"optionalDependencies":{"@openai/codex-any":"1"}}');
  const entry = put('node_modules/@openai/codex/bin/codex.js', '#!/bin/sh\necho codex-cli 1.2.3\n');
  const real = put('node_modules/@openai/codex-any/codex', 'the real program');
  mkdirSync(join(base, 'bin'));
  symlinkSync(entry, join(base, 'bin/codex'));
  const find = () => findClient(CLIENTS.codex, `relative::${join(base, 'bin')}:/bin`);

  const found = await find();
  writeFileSync(real, 'another program');
  const changed = await find();

  expect(found).toMatchObject({ program: join(base, 'bin/codex'), version: '1.2.3' });
  expect(found?.files).toEqual([real, entry, join(base, 'node_modules/@openai/codex/package.json')]);
  expect(changed?.sha256).not.toBe(found?.sha256);
});

test('a client that was copied by itself is one file, and one that says no version is still found', async () => {
  const { base, put } = machine();
  const program = put('bin/claude', '#!/bin/sh\nexit 1\n');

  const found = await findClient(CLIENTS.claude, join(base, 'bin'));

  expect(found).toMatchObject({ version: 'unknown', files: [program] });
});

test('what is not there, is a folder or cannot be run is not installed', async () => {
  const { base, put } = machine();
  mkdirSync(join(base, 'bin/claude'), { recursive: true });
  chmodSync(put('bin/codex', 'text'), 0o644);

  for (const name of ['claude', 'codex', 'gemini'] as const) {
    expect(await findClient(CLIENTS[name], `${join(base, 'bin')}:${join(base, 'missing')}`)).toBeNull();
  }
});

function machine() {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-find-'));
  const put = (path: string, text: string) => {
    const file = join(base, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
    return file;
  };
  return { base, put };
}
