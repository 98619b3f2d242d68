import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import type { SandboxState } from '@phasegate/core/ports';

/** Where bubblewrap is looked for. Never by the search path, in which anybody may have put another. */
export const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'] as const;

/** What every program in a sandbox is kept apart by. */
export const APART = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--unshare-cgroup-try',
  '--disable-userns',
  '--new-session',
  '--die-with-parent',
  ...['--cap-drop', 'ALL'],
  ...['--hostname', 'sandbox'],
] as const;

/** Bubblewrap as it was found. */
export interface Found {
  readonly state: SandboxState;
  /** Absolute path of the program; null where there is none. */
  readonly program: string | null;
}

/** Looks for bubblewrap and tries it out: it is often there and not allowed to do anything. */
export async function findBubblewrap(
  places: readonly string[] = PLACES,
  platform: string = process.platform,
): Promise<Found> {
  if (platform !== 'linux') {
    const reason = `there is no sandbox for ${platform} yet`;
    return { state: { works: false, reason, nextStep: 'run it on Linux' }, program: null };
  }
  const program = places.find(isProgram) ?? null;
  if (program === null) {
    const reason = 'bubblewrap is not installed';
    return { state: { works: false, reason, nextStep: INSTALL }, program };
  }
  const bytes = bytesOf(program);
  if (bytes === null) return tryOut(program);
  const known = WORKING.get(bytes);
  if (known !== undefined) return known;
  const found = await tryOut(program);
  if (found.state.works) WORKING.set(bytes, found);
  return found;
}

/**
 * What was tried out and worked. It is not tried again by a process that opens many projects: what no longer works
 * fails where it is used, which is refused. What did not work is tried each time, as somebody may allow it meanwhile.
 */
const WORKING = new Map<string, Found>();

/** Which bytes a program is, by what the system says of its file; null where it says nothing. */
function bytesOf(program: string): string | null {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(program, { bigint: true });
    return JSON.stringify([program, ...[dev, ino, size, mtimeNs, ctimeNs].map(String)]);
  } catch {
    return null;
  }
}

async function tryOut(program: string): Promise<Found> {
  const help = await outputOf(program, ['--help']);
  if (!help.said.includes('--bind-fd') || !help.said.includes('--disable-userns')) {
    const reason = 'this bubblewrap is too old: it cannot mount by descriptor, or not forbid namespaces';
    return { state: { works: false, reason, nextStep: `${INSTALL}, 0.8.0-2+deb12u1 or newer` }, program };
  }
  const tried = await outputOf(program, [...APART, ...['--ro-bind', '/', '/'], '--', '/bin/true']);
  if (tried.code !== 0) {
    const said = tried.said.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    const reason = `bubblewrap may make no sandbox here (${said})`;
    const nextStep = 'allow user namespaces to this user: `sysctl user.max_user_namespaces`, AppArmor';
    return { state: { works: false, reason, nextStep }, program };
  }
  const version = (await outputOf(program, ['--version'])).said.trim();
  return { state: { works: true, by: version }, program };
}

const INSTALL = 'install bubblewrap: `apt-get install bubblewrap`';
const TIMEOUT_MS = 10_000;

function isProgram(place: string): boolean {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function outputOf(
  program: string,
  words: readonly string[],
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, words, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    });
    let said = '';
    const add = (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-64 * 1024);
    };
    child.stdout?.on('data', add);
    child.stderr?.on('data', add);
    child.once('error', (error) => resolve({ code: null, said: error.message }));
    child.once('close', (code) => resolve({ code, said }));
  });
}
