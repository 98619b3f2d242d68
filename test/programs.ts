/**
 * Programs that some tests need and `npm ci` does not bring: `node test/programs.ts` installs those that are missing, from
 * Debian's packages or by npm, where it may, and says what it cannot do. Tests that need one name it in their title or in that of their
 * group, and are left out where it does not work; the end of a test run names and counts them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findBubblewrap } from '../packages/phasegate/src/sandbox/bubblewrapState.ts';

/** A program of the system. */
export interface SystemProgram {
  readonly name: string;
  /** How its tests are known by their full title. */
  readonly inTitle: RegExp;
  /** Why it does not work here; null where it does. */
  trouble(): Promise<string | null>;
  /** How it is installed; left out: as the Debian package of its name. */
  install?(): void;
}

/** Where test runners are installed that no package of ours needs. */
export const RUNNERS = join(import.meta.dirname, 'runners');

/** All that tests need, each by the name of its package. */
export const PROGRAMS: readonly SystemProgram[] = [
  {
    name: 'bubblewrap',
    inTitle: /\(bubblewrap\)/,
    async trouble() {
      const { state } = await findBubblewrap();
      return state.works ? null : `${state.reason}; ${state.nextStep}`;
    },
  },
  {
    name: 'tmux',
    inTitle: /\btmux\b|\blauncher that is killed\b/,
    trouble: async () => (spawnSync('tmux', ['-V']).status === 0 ? null : 'tmux is not installed'),
  },
  {
    name: 'golang-go',
    inTitle: /the real runner.*\bgo is red/,
    trouble: async () => (spawnSync('go', ['version']).status === 0 ? null : 'go is not installed'),
  },
  {
    name: 'python3-pytest',
    inTitle: /the real runner.*\bpytest is red/,
    trouble: async () =>
      spawnSync('python3', ['-m', 'pytest', '--version']).status === 0 ? null : 'pytest is not installed',
  },
  {
    name: 'jest',
    inTitle: /the real runner.*\bjest is red/,
    trouble: async () => (existsSync(join(RUNNERS, 'node_modules/jest')) ? null : 'jest is not installed'),
    install: installRunners,
  },
  {
    name: 'pnpm',
    inTitle: /the real installer.*\bpnpm takes every word/,
    trouble: async () => (existsSync(join(RUNNERS, 'node_modules/pnpm')) ? null : 'pnpm is not installed'),
    install: installRunners,
  },
  {
    name: 'uidmap',
    inTitle: /\(uidmap\)/,
    async trouble() {
      if (process.getuid?.() !== 0) return 'only root can make the users of these tests';
      return existsSync('/usr/bin/newuidmap') ? null : 'newuidmap is not installed';
    },
  },
];

if (process.argv[1] === import.meta.filename) await install();

async function install(): Promise<void> {
  for (const { name, trouble, install: byItself } of PROGRAMS) {
    const before = await trouble();
    if (before === null) {
      console.log(`${name}: works`);
      continue;
    }
    if (byItself !== undefined) byItself();
    else if (!fromDebian(name)) {
      console.log(`${name}: ${before}; not installed here, as that takes root and apt-get`);
      process.exitCode = 1;
      continue;
    }
    const after = await trouble();
    console.log(`${name}: ${after ?? 'installed, and works'}`);
    if (after !== null) process.exitCode = 1;
  }
}

function installRunners(): void {
  const words = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
  spawnSync('npm', words, { cwd: RUNNERS, stdio: 'inherit' });
}

/** Whether it was tried. */
function fromDebian(name: string): boolean {
  const isDebian = spawnSync('apt-get', ['--version']).status === 0;
  if (!isDebian || process.getuid?.() !== 0) return false;
  // A fresh container knows no package until it has asked for the list.
  if (spawnSync('apt-cache', ['show', name]).status !== 0) aptGet('update');
  aptGet('install', '-y', '--no-install-recommends', name);
  return true;
}

function aptGet(...words: readonly string[]): void {
  spawnSync('apt-get', words, { stdio: 'inherit' });
}
