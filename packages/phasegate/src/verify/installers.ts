import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, own } from '@phasegate/core';
import type { DependencyKind } from '@phasegate/core/ports';
import { readRegularIfAny } from '../files/readRegular.ts';
import { type Lockfile, npmPackages } from './lockfiles.ts';
import { CACHES } from './placedDependencies.ts';

/** How the dependencies of one kind are installed. */
export interface Installer {
  /** The program that does it, and must be there. */
  readonly program: string;
  /** Hosts that it needs beside those that the lockfile names. */
  readonly hosts: readonly string[];
  /** Files of the project that it reads beside the lockfile, relative to the lockfile's folder. */
  manifests(lockfile: Lockfile): readonly string[];
  /** The commands, in order; `tree` is where it goes, and what they run in has the manifests and the lockfile. */
  steps(place: InstallPlace): readonly (readonly [string, ...string[]])[];
  environment(place: InstallPlace): Readonly<Record<string, string>>;
  /** Puts right what was installed, before it is hashed. */
  finish?(place: InstallPlace): void;
}

/** Where something is installed. */
export interface InstallPlace {
  readonly tree: string;
  readonly lockfile: Lockfile;
  /** Packages whose scripts, or builds, may run. */
  readonly scripts: readonly string[];
}

/** The trust store of the system; a company's own certificate is often there and nowhere else. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const INSIDE = { TMPDIR: '/tmp', NODE_EXTRA_CA_CERTS: CERTIFICATES, SSL_CERT_FILE: CERTIFICATES } as const;

/** How each kind is installed, without running anything of what is installed unless it was allowed by name. */
export const INSTALLERS: Readonly<Record<DependencyKind, Installer>> = {
  npm: {
    program: 'npm',
    hosts: ['registry.npmjs.org'],
    manifests: ({ text }) => [
      'package.json',
      ...npmPackages(text).flatMap(([path]) =>
        path === '' || path.includes('node_modules') || path.startsWith('..') ? [] : [`${path}/package.json`],
      ),
    ],
    steps: ({ scripts }) => [
      ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
      ...(scripts.length === 0 ? [] : [['npm', 'rebuild', ...scripts] as const]),
    ],
    environment: () => ({
      ...INSIDE,
      npm_config_cache: '/tmp/npm-cache',
      npm_config_update_notifier: 'false',
      npm_config_cafile: CERTIFICATES,
    }),
    finish: withCaches,
  },
  pnpm: {
    program: 'pnpm',
    hosts: ['registry.npmjs.org'],
    manifests: () => ['package.json', 'pnpm-workspace.yaml'],
    steps: ({ scripts }) => [
      // A `pnpmfile` is code, and packages can bring one.
      [
        ...(['pnpm', 'install', '--frozen-lockfile', '--ignore-scripts'] as const),
        ...['--ignore-pnpmfile', '--package-import-method=copy'],
      ],
      ...(scripts.length === 0 ? [] : [['pnpm', 'rebuild', ...scripts] as const]),
    ],
    environment: () => ({
      ...INSIDE,
      npm_config_store_dir: '/tmp/pnpm-store',
      npm_config_cafile: CERTIFICATES,
    }),
    finish: withCaches,
  },
  pip: {
    program: 'python3',
    hosts: ['pypi.org', 'files.pythonhosted.org'],
    manifests: () => [],
    steps: ({ tree, lockfile, scripts }) => [
      ['python3', '-m', 'venv', '--copies', join(tree, 'venv')],
      [
        join(tree, 'venv/bin/python'),
        ...[
          '-m',
          'pip',
          'install',
          '--no-cache-dir',
          '--disable-pip-version-check',
          '--only-binary',
          ':all:',
        ],
        ...scripts.flatMap((name) => ['--no-binary', name]),
        ...['-r', lockfile.path.slice(lockfile.path.lastIndexOf('/') + 1)],
      ],
    ],
    environment: () => ({ ...INSIDE, PIP_CERT: CERTIFICATES, PYTHONDONTWRITEBYTECODE: '1' }),
    finish: withMovableScripts,
  },
  uv: {
    program: 'uv',
    hosts: ['pypi.org', 'files.pythonhosted.org'],
    manifests: () => ['pyproject.toml'],
    steps: ({ scripts }) => [
      [
        ...(['uv', 'sync', '--frozen', '--no-install-project', '--link-mode', 'copy'] as const),
        '--no-build',
        // From source, and so an exception to the line above; `--no-build-package` would be one more ban.
        ...scripts.flatMap((name) => ['--no-binary-package', name]),
      ],
    ],
    environment: ({ tree }) => ({
      ...INSIDE,
      UV_PROJECT_ENVIRONMENT: join(tree, 'venv'),
      UV_CACHE_DIR: '/tmp/uv-cache',
      UV_PYTHON_DOWNLOADS: 'never',
    }),
    finish: withMovableScripts,
  },
  go: {
    program: 'go',
    hosts: ['proxy.golang.org', 'sum.golang.org'],
    manifests: () => ['go.mod'],
    steps: () => [['go', 'mod', 'download', '-modcacherw']],
    environment: ({ tree }) => ({
      ...INSIDE,
      GOMODCACHE: join(tree, 'mod'),
      GOCACHE: '/tmp/go-build',
      GOPATH: '/tmp/go',
      GOFLAGS: '-mod=mod',
      GOTOOLCHAIN: 'local',
    }),
  },
  cargo: {
    program: 'cargo',
    hosts: ['index.crates.io', 'static.crates.io'],
    manifests: () => ['Cargo.toml'],
    // Cargo reads no manifest without a target, and fetching builds nothing.
    steps: () => [['sh', '-c', 'mkdir -p src && touch src/lib.rs && exec cargo fetch --locked']],
    environment: ({ tree }) => ({
      ...INSIDE,
      CARGO_HOME: join(tree, 'cargo'),
      CARGO_HTTP_CAINFO: CERTIFICATES,
    }),
  },
};

/** Packages of an npm lockfile that want to run something when they are installed. */
export function scriptsWanted(lockfile: Lockfile): readonly string[] {
  if (lockfile.kind !== 'npm') return [];
  const wanting = npmPackages(lockfile.text).filter(([, one]) => own(one, 'hasInstallScript') === true);
  return [
    ...new Set(
      wanting.map(([path, one]) => {
        const name = isJsonObject(one) ? own(one, 'name') : undefined;
        return typeof name === 'string' ? name : path.slice(path.lastIndexOf('node_modules/') + 13);
      }),
    ),
  ].sort();
}

/** Runners write their caches beside packages, where nothing can be written later but in a place of its own. */
function withCaches({ tree }: InstallPlace): void {
  for (const name of CACHES) mkdirSync(join(tree, 'node_modules', name), { recursive: true });
}

/** Programs of a virtual environment name the folder that it was made in, which is not where it is kept. */
function withMovableScripts({ tree }: InstallPlace): void {
  const bin = join(tree, 'venv/bin');
  for (const name of readdirSync(bin)) {
    const file = join(bin, name);
    // What is larger is no script, and what a link leads to is not ours to write.
    const text = readRegularIfAny(file, { most: LARGEST_SCRIPT, links: 'refuse' })?.toString('latin1') ?? '';
    const [first = '', second = '', third = ''] = text.slice(0, 2048).split('\n', 3);
    const isLong = first === '#!/bin/sh' && second.startsWith("'''exec' ") && second.includes(bin);
    if (!isLong && !first.startsWith(`#!${bin}/python`)) continue;
    const head = isLong ? `${first}\n${second}\n${third}\n` : `${first}\n`;
    writeFileSync(file, `${MOVABLE}${text.slice(head.length)}`, 'latin1');
  }
}

const LARGEST_SCRIPT = 1024 * 1024;

/** For a shell, to start the Python beside it; for Python, a text. */
const MOVABLE = `#!/bin/sh\n'''exec' "$(dirname -- "$(realpath -- "$0")")/python" "$0" "$@"\n' '''\n`;
