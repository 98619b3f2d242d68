import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DependencySet, Sandbox, Store, UnlockedHuman } from '@phasegate/core/ports';
import { expect, test } from 'vitest';
import { createDependencies } from './dependencies.ts';
import { openFrozenSets } from './frozenSets.ts';

const PACKAGES = {
  '': { name: 'sums' },
  'packages/one': { version: '1.0.0' },
  '../other': { version: '1.0.0' },
  'packages/../../other': { version: '1.0.0' },
  'node_modules/left-pad': { resolved: 'https://packages.example/left-pad/-/left-pad-1.3.0.tgz' },
};

test('a lockfile has nothing read or written outside of the project and of its copy [S2.2]', async () => {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-deps-'));
  for (const [path, text] of Object.entries({
    'project/package.json': '{}',
    'project/package-lock.json': JSON.stringify({ lockfileVersion: 3, packages: PACKAGES }),
    'project/packages/one/package.json': '{}',
    'other/package.json': '{ "mine": true }',
  })) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  const seal = { sign: () => 'signed', verifySignature: () => true };
  const staged: string[] = [];
  const dependencies = createDependencies({
    root: join(base, 'project'),
    frozen: async () => openFrozenSets(join(base, 'state'), seal),
    sandbox: {
      state: async () => ({ works: true, by: 'a stand-in' }),
      async enclose() {
        const all = readdirSync(join(base, 'state/deps'), { recursive: true, encoding: 'utf8' });
        staged.push(...all.map((path) => path.replace(/^\.new-npm-[0-9a-f]+\/?/, '')));
        throw new Error('seen enough');
      },
    } as Pick<Sandbox, 'state' | 'enclose'>,
    store: {} as Pick<Store, 'note'>,
    now: Date.now,
  });
  const [{ kind, lockfile, hash }] = (await dependencies.list()) as [DependencySet];

  const order = { kind, lockfile, hash, scripts: [], hosts: [] };
  const frozen = dependencies.freeze(order, { principal: { name: 'maria' } } as UnlockedHuman);

  await expect(frozen).rejects.toThrow('seen enough');
  expect(staged.filter((path) => path.endsWith('.json')).sort()).toEqual([
    'tree/package-lock.json',
    'tree/package.json',
    'tree/packages/one/package.json',
  ]);
});
