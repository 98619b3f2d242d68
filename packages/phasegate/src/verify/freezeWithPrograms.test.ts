import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DependencyKind } from '@phasegate/core/ports';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { RUNNERS } from '../../../../test/programs.ts';
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

  test.runIf(isThere('python3', '-m', 'venv', '--help') && isThere('openssl', 'version'))(
    'pip takes a package from an index, by its hash, and nothing where that is another',
    async () => {
      const index = await servedIndex();
      const asked = (hash: string) =>
        `--index-url ${index.url}/simple/\n--trusted-host ${index.host}\ntiny==1.0 --hash=sha256:${hash}\n`;

      const tree = await freeze('pip', { 'requirements.txt': asked(index.hash) }, { hosts: [index.host] });

      const python = spawnSync(join(tree, 'venv/bin/python'), ['-c', 'import tiny; print(tiny.NAME)']);
      expect(String(python.stdout).trim()).toBe('tiny, from the index');
      expect(index.asked).toContain('/simple/tiny/');
      // The program of the package runs from where it is kept, too.
      const program = spawnSync(join(tree, 'venv/bin/tiny'), { env: { PATH: SYSTEM } });
      expect(String(program.stdout).trim()).toBe('tiny, from the index');
      const other = { 'requirements.txt': asked('0'.repeat(64)) };
      await expect(freeze('pip', other, { hosts: [index.host] })).rejects.toThrow(/DO NOT MATCH THE HASHES/);
      // Nobody but the one who freezes says that a host needs no certificate.
      await expect(
        freeze('pip', { 'requirements.txt': asked(index.hash) }, { hosts: ['localhost:1'] }),
      ).rejects.toThrow(/without asking who sends them/);
    },
    300_000,
  );

  test.runIf(isThere('npm', '--version'))(
    'npm installs a package from a file that the lockfile names, as the README installs Phasegate',
    async () => {
      const files = await packedBeside();

      const tree = await freeze('npm', files);

      expect(existsSync(join(tree, 'node_modules/one/package.json'))).toBe(true);
      expect(existsSync(join(tree, PACKED))).toBe(false);
    },
    120_000,
  );

  test.runIf(existsSync(join(RUNNERS, 'node_modules/pnpm')))(
    'pnpm takes every word of its line',
    async () => {
      const path = [join(RUNNERS, 'node_modules/.bin'), dirname(process.execPath), SYSTEM].join(':');
      const files = {
        'package.json': '{ "name": "one", "version": "1.0.0", "private": true }\n',
        'pnpm-lock.yaml': "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n",
      };

      expect(existsSync(join(await freeze('pnpm', files, { path }), 'node_modules'))).toBe(true);
    },
    120_000,
  );

  test.runIf(existsSync(join(RUNNERS, 'node_modules/pnpm')))(
    'pnpm installs a package from a file that the lockfile names',
    async () => {
      const path = [join(RUNNERS, 'node_modules/.bin'), dirname(process.execPath), SYSTEM].join(':');
      const files = await packedBeside();
      const sha512 = hash('sha512', files[PACKED] as Buffer, 'base64');

      const tree = await freeze('pnpm', { ...files, 'pnpm-lock.yaml': pnpmLock(sha512) }, { path });

      expect(existsSync(join(tree, 'node_modules/one/package.json'))).toBe(true);
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

const PACKED = 'one-1.0.0.tgz';

/** A project that npm installed a packed package into. */
async function packedBeside(): Promise<Readonly<Record<string, string | Buffer>>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-packed-')));
  const npm = (words: readonly string[], cwd: string) =>
    expect(spawnSync('npm', words, { cwd, env: { PATH: SYSTEM, HOME: folder } }).status).toBe(0);
  mkdirSync(join(folder, 'one'));
  writeFileSync(join(folder, 'one/package.json'), '{ "name": "one", "version": "1.0.0" }\n');
  npm(['pack', './one'], folder);
  writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true }\n');
  npm(['install', '--offline', '--no-audit', '--save-dev', `./${PACKED}`], folder);
  const named = ['package.json', 'package-lock.json', PACKED];
  return Object.fromEntries(named.map((name) => [name, readFileSync(join(folder, name))]));
}

function pnpmLock(sha512: string): string {
  const file = `file:${PACKED}`;
  return [
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    devDependencies:\n      one:",
    `        specifier: ${file}\n        version: ${file}\n\npackages:\n\n  one@${file}:`,
    `    resolution: {integrity: sha512-${sha512}, tarball: ${file}}\n    version: 1.0.0`,
    `\nsnapshots:\n\n  one@${file}: {}\n`,
  ].join('\n');
}

/** An index of packages on this machine with one wheel, which holds a module and a program. */
async function servedIndex() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-index-')));
  const [cert, key, wheel] = [join(folder, 'cert'), join(folder, 'key'), join(folder, WHEEL)];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const words = [...kind, '-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  expect(spawnSync('openssl', words).status).toBe(0);
  expect(spawnSync('python3', ['-c', MAKE_WHEEL, wheel], { env: { PATH: SYSTEM } }).status).toBe(0);
  const content = readFileSync(wheel);
  const asked: string[] = [];
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    asked.push(request.url ?? '');
    if (request.url === `/${WHEEL}`) response.end(content);
    else if (request.url === '/simple/tiny/')
      response.setHeader('content-type', 'text/html').end(`<a href="/${WHEEL}">${WHEEL}</a>`);
    else response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `https://${host}`, host, hash: hash('sha256', content, 'hex'), asked };
}

const WHEEL = 'tiny-1.0-py3-none-any.whl';
/** A wheel is an archive with a few texts; Python has all that makes one. */
const MAKE_WHEEL = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('tiny.py', "NAME = 'tiny, from the index'\\ndef main():\\n    print(NAME)\\n")
    about = 'tiny-1.0.dist-info/'
    wheel.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
    wheel.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(about + 'entry_points.txt', '[console_scripts]\\ntiny = tiny:main\\n')
    names = ['tiny.py'] + [about + name for name in ('METADATA', 'WHEEL', 'entry_points.txt', 'RECORD')]
    wheel.writestr(about + 'RECORD', ''.join(name + ',,\\n' for name in names))
`;

/** Freezes as a human would have it, and gives the folder of what was installed. */
async function freeze(
  kind: DependencyKind,
  files: Readonly<Record<string, string | Buffer>>,
  { hosts = [], path = SYSTEM }: { readonly hosts?: readonly string[]; readonly path?: string } = {},
): Promise<string> {
  // Programs of the system: those that are switched by files in a home find none in the sandbox.
  vi.stubEnv('PATH', path);
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
  const { lockfile = '', hash: locked = '', local = [] } = set ?? {};
  const named = local.map(({ file }) => file);
  const human = { principal: { name: 'maria' } } as Parameters<typeof dependencies.freeze>[1];
  await dependencies.freeze({ kind, lockfile, hash: locked, scripts: [], hosts, files: named }, human);
  return join(sets.folder(kind, locked), TREE);
}

function isThere(program: string, ...words: readonly string[]): boolean {
  return spawnSync(program, words, { env: { PATH: SYSTEM } }).status === 0;
}
