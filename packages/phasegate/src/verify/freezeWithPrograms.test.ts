import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DependencyKind } from '@phasegate/core/ports';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FULL } from '../../../../test/tier.ts';
import { createBubblewrap } from '../sandbox/bubblewrap.ts';
import { findBubblewrap } from '../sandbox/bubblewrapState.ts';
import { createDependencies, type DependencyParts } from './dependencies.ts';
import { openFrozenSets, TREE } from './frozenSets.ts';
import { INSTALLERS } from './installers.ts';

const found = await findBubblewrap();
const SYSTEM = '/usr/bin:/bin';
const SIGNS = { sign: (text: string) => `signed ${text.length}`, verifySignature: () => true };
afterEach(() => vi.unstubAllEnvs());

describe.runIf(FULL && found.state.works)('the real installer, in the sandbox and without network', () => {
  test.runIf(isThere('python3', '-m', 'venv', '--help'))(
    'pip makes an environment whose programs run from where it is kept',
    async () => {
      const tree = await freeze('pip', { 'requirements.txt': '--no-index\n' });

      const python = spawnSync(join(tree, 'venv/bin/python'), ['-c', 'print("runs")']);
      expect(String(python.stdout).trim()).toBe('runs');
      // It was made in another folder than the one it is kept in.
      const pip = spawnSync(join(tree, 'venv/bin/pip3'), ['--version'], { env: { PATH: SYSTEM } });
      expect(String(pip.stdout)).toContain(`from ${tree}`);
    },
    120_000,
  );

  test.runIf(isThere('go', 'version'))(
    'go takes every word of its line',
    async () => {
      const files = { 'go.mod': 'module one\n\ngo 1.19\n', 'go.sum': '' };

      expect(existsSync(await freeze('go', files))).toBe(true);
    },
    120_000,
  );

  test.runIf(isThere('cargo', '--version'))(
    'cargo takes every word of its line',
    async () => {
      const files = {
        'Cargo.toml': '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
        'Cargo.lock': 'version = 3\n\n[[package]]\nname = "one"\nversion = "0.1.0"\n',
      };

      expect(existsSync(await freeze('cargo', files))).toBe(true);
    },
    120_000,
  );
});

test('what a human allowed is built from source, and nothing else is: uv and pip', () => {
  const lockfile = { kind: 'uv', path: 'uv.lock', hash: '', text: '' } as const;
  const line = (kind: 'uv' | 'pip') =>
    INSTALLERS[kind]
      .steps({ tree: '/t', lockfile, scripts: ['right'] })
      .at(-1)
      ?.join(' ');

  expect(line('uv')).toMatch(/--no-build --no-binary-package right$/);
  expect(line('pip')).toContain('--only-binary :all: --no-binary right');
});

/** Freezes as a human would have it, and gives the folder of what was installed. */
async function freeze(kind: DependencyKind, files: Readonly<Record<string, string>>): Promise<string> {
  // Programs of the system: those that are switched by files in a home find none in the sandbox.
  vi.stubEnv('PATH', SYSTEM);
  const base = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-deps-')));
  const [root, state] = [join(base, 'project'), join(base, 'state')];
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const sets = openFrozenSets(state, SIGNS);
  const settings = { hidden: [], read: [], write: [], hosts: [], home: base };
  const sandbox = createBubblewrap(
    async () => settings,
    async () => found,
  );
  const store = { note: async () => undefined } as unknown as DependencyParts['store'];
  const dependencies = createDependencies({ root, frozen: async () => sets, sandbox, store, now: Date.now });
  const [set] = (await dependencies.list()).filter((one) => one.kind === kind);
  const { lockfile = '', hash = '' } = set ?? {};
  const human = { principal: { name: 'maria' } } as Parameters<typeof dependencies.freeze>[1];
  await dependencies.freeze({ kind, lockfile, hash, scripts: [], hosts: [] }, human);
  return join(sets.folder(kind, hash), TREE);
}

function isThere(program: string, ...words: readonly string[]): boolean {
  return spawnSync(program, words, { env: { PATH: SYSTEM } }).status === 0;
}
