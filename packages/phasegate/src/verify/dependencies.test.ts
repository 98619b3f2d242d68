import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DependencySet, Sandbox, Store, UnlockedHuman } from '@phasegate/core/ports';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createDependencies } from './dependencies.ts';
import { openFrozenSets } from './frozenSets.ts';

afterEach(() => vi.unstubAllEnvs());

const PACKAGES = {
  '': { name: 'sums' },
  'packages/one': { version: '1.0.0' },
  '../other': { version: '1.0.0' },
  'packages/../../other': { version: '1.0.0' },
  'node_modules/left-pad': { resolved: 'https://packages.example/left-pad/-/left-pad-1.3.0.tgz' },
};

test('a lockfile has nothing read or written outside of the project and of its copy [S2.2]', async () => {
  const { staged, frozen } = await freeze({
    'project/package.json': '{}',
    'project/package-lock.json': JSON.stringify({ lockfileVersion: 3, packages: PACKAGES }),
    'project/packages/one/package.json': '{}',
    'other/package.json': '{ "mine": true }',
  });

  await expect(frozen).rejects.toThrow('seen enough');
  expect(staged.filter((path) => path.endsWith('.json')).sort()).toEqual([
    'tree/package-lock.json',
    'tree/package.json',
    'tree/packages/one/package.json',
  ]);
});

describe('a package that the lockfile takes from a file', () => {
  const BYTES = 'the bytes of a package';
  const integrity = `sha512-${hash('sha512', BYTES, 'base64')}`;
  const locked = (resolved: string, by: string | undefined = integrity) =>
    JSON.stringify({ lockfileVersion: 3, packages: { 'node_modules/one': { resolved, integrity: by } } });

  test('of the project is installed from there, where it has the hash of the lockfile', async () => {
    const { staged, frozen } = await freeze({
      'project/package-lock.json': locked('file:packed/one%231.tgz'),
      'project/packed/one#1.tgz': BYTES,
    });

    await expect(frozen).rejects.toThrow('seen enough');
    expect(staged).toContain('tree/packed/one#1.tgz');
  });

  test('is taken so from a lockfile of pnpm, too', async () => {
    const lines = `packages:\n\n  one@file:one.tgz:\n    resolution: {integrity: ${integrity}, tarball: file:one.tgz}\n`;
    const { staged, frozen } = await freeze({ 'project/pnpm-lock.yaml': lines, 'project/one.tgz': BYTES });

    await expect(frozen).rejects.toThrow('seen enough');
    expect(staged).toContain('tree/one.tgz');
  });

  test('is listed by its name and file, each once, and is refused where nobody named the file', async () => {
    const files = { 'project/package-lock.json': TWO, 'project/one.tgz': BYTES };
    const { local, staged, frozen } = await freeze(files, { named: ['another.tgz'] });

    expect(local).toEqual([
      { name: 'vitest', file: 'one.tgz' },
      { name: '@scope/two', file: 'packed/two#1.tgz' },
    ]);
    await expect(frozen).rejects.toMatchObject({
      code: 'deps_not_frozen',
      message: '`package-lock.json` takes `vitest` from the file `one.tgz`, which nobody has named',
      hint: 'if you know the file: phasegate deps freeze --file one.tgz',
    });
    expect(staged).toEqual([]);
  });

  const TWO = JSON.stringify({
    lockfileVersion: 3,
    packages: {
      // By the place where it is imported from, whatever it calls itself.
      'node_modules/vitest': { name: 'harmless', resolved: 'file:./one.tgz', integrity },
      'node_modules/other/node_modules/vitest': { resolved: 'file:one.tgz', integrity },
      'node_modules/@scope/two': { resolved: 'file:packed/two%231.tgz', integrity },
    },
  });

  test('is listed so from a lockfile of pnpm, too', async () => {
    const entry = (key: string) =>
      `  ${key}:\n    resolution: {integrity: ${integrity}, tarball: file:one.tgz}\n    version: 1.0.0\n`;
    const lines = `packages:\n\n${entry("'@scope/one@file:one.tgz'")}\n${entry('vitest@3.0.0')}`;
    const { local } = await freeze({ 'project/pnpm-lock.yaml': lines, 'project/one.tgz': BYTES });

    expect(local).toEqual([
      { name: '@scope/one', file: 'one.tgz' },
      { name: 'vitest@3.0.0', file: 'one.tgz' },
    ]);
  });

  const NOT_HERE = 'it is not a tarball in the folder of the lockfile';
  const REFUSED: readonly (readonly [string, string, string, string | undefined])[] = [
    ['outside of the project', 'file:../one.tgz', NOT_HERE, integrity],
    ['named from the root of the disk', 'file:/one.tgz', NOT_HERE, integrity],
    // It would say how everything else is installed.
    ['that is settings of npm', 'file:.npmrc', NOT_HERE, integrity],
    ['that was installed', 'file:node_modules/one.tgz', NOT_HERE, integrity],
    ['that is not there', 'file:two.tgz', 'there is no file `two.tgz`', integrity],
    ['that is a link', 'file:linked.tgz', 'leads through the link `linked.tgz`', integrity],
    ['behind a link', 'file:away/one.tgz', 'leads through the link `away`', integrity],
    ['that is a folder', 'file:folder.tgz', 'is not a file', integrity],
    ['without a hash', 'file:one.tgz', 'the lockfile has no sha512 of it', undefined],
    ['with a weak hash', 'file:one.tgz', 'the lockfile has no sha512 of it', 'sha1-abc='],
    [
      'with another hash',
      'file:one.tgz',
      'its sha512 is not the one that the lockfile has',
      `sha512-${hash('sha512', 'another', 'base64')}`,
    ],
  ];
  test.each(REFUSED)('%s is refused before anything is installed', async (_, resolved, reason, by) => {
    const file = resolved.slice('file:'.length);
    const { staged, frozen } = await freeze({
      'project/package-lock.json': locked(resolved, by ?? ''),
      'project/one.tgz': BYTES,
      'project/.npmrc': BYTES,
      'project/node_modules/one.tgz': BYTES,
      'project/folder.tgz/one.tgz': BYTES,
      'one.tgz': BYTES,
    });

    await expect(frozen).rejects.toMatchObject({
      code: 'deps_not_frozen',
      message: expect.stringContaining(
        `\`package-lock.json\` takes a package from the file \`${file}\`, which is not copied: `,
      ) as string,
      hint: expect.stringMatching(/ with `npm install \.\/\S+`, then `phasegate deps freeze`$/) as string,
    });
    await expect(frozen).rejects.toThrow(reason);
    expect(staged).toEqual([]);
  });
});

/** Freezes as far as the first program, and gives what it would have found. Each local file is named unless others are. */
async function freeze(
  files: Readonly<Record<string, string>>,
  { named }: { readonly named?: readonly string[] } = {},
) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-deps-')));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  // No program is started; that one is there is asked.
  mkdirSync(join(base, 'bin'));
  for (const program of ['npm', 'pnpm'])
    writeFileSync(join(base, 'bin', program), '#!/bin/sh\n', { mode: 0o755 });
  vi.stubEnv('PATH', `${join(base, 'bin')}:${process.env.PATH}`);
  symlinkSync('../one.tgz', join(base, 'project/linked.tgz'));
  symlinkSync('..', join(base, 'project/away'));
  const seal = { sign: () => 'signed', verifySignature: () => true };
  const staged: string[] = [];
  const dependencies = createDependencies({
    root: join(base, 'project'),
    frozen: async () => openFrozenSets(join(base, 'state'), seal),
    sandbox: {
      state: async () => ({ works: true, by: 'a stand-in' }),
      async enclose() {
        const all = readdirSync(join(base, 'state/deps'), { recursive: true, encoding: 'utf8' });
        staged.push(...all.map((path) => path.replace(/^\.new-p?npm-[0-9a-f]+\/?/, '')));
        throw new Error('seen enough');
      },
    } as Pick<Sandbox, 'state' | 'enclose'>,
    store: {} as Pick<Store, 'note'>,
    now: Date.now,
  });
  const [{ kind, lockfile, hash: shown, local }] = (await dependencies.list()) as [DependencySet];
  const order = {
    kind,
    lockfile,
    hash: shown,
    scripts: [],
    hosts: [],
    files: named ?? local.map(({ file }) => file),
  };
  const frozen = dependencies.freeze(order, { principal: { name: 'maria' } } as UnlockedHuman);
  frozen.catch(() => undefined);
  return { local, staged, frozen };
}
