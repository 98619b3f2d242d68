import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { own, PhasegateError } from '@phasegate/core';
import type { ServerEntry, ServerState } from './runtime/ports.ts';
import type { FileLock } from './workspace/lockFile.ts';

/** The right to be the one server of a project. */
export interface ServerPlace {
  /** Tells everybody where the server is. */
  announce(entry: ServerEntry): void;
  /** What shows that this is the server that was announced: only the state directory has the key of it. */
  proofOf(challenge: string): string;
  /** Takes the announcement back and lets another be the server. */
  leave(): void;
}

/**
 * Takes the place of a project's server, or throws `server_running`. The place is a lock of the operating system's
 * on a file beside `server.json`: it ends with its process however that ends, so nothing stale can be in the way
 * and no two can both think they have it.
 */
export async function takeServerPlace(stateDir: string): Promise<ServerPlace> {
  const { lockFile } = await import('./workspace/lockFile.ts');
  const file = join(stateDir, LOCK);
  let lock = locked(file, lockFile);
  // Anyone who only looks whether the place is taken has it for a moment.
  for (let tries = 0; lock === null && tries < 5; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    lock = locked(file, lockFile);
  }
  if (lock === null) {
    const entry = readEntry(stateDir)?.entry ?? null;
    const where = entry === null ? 'and is just starting' : `at ${entry.url} (process ${entry.pid})`;
    throw new PhasegateError('server_running', `a server of this project is running already, ${where}`, {
      hint: 'use that one, or end it first: `phasegate down`',
    });
  }
  const named = join(stateDir, FILE);
  const held = lock;
  // Of a server that was killed: until this one is reachable there is none.
  rmSync(named, { force: true });
  // Of this server alone: what an earlier one left behind proves nothing.
  const key = randomBytes(32).toString('hex');
  let url = '';
  return {
    announce(entry) {
      const draft = `${named}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify({ ...entry, key })}\n`, { mode: 0o600 });
      renameSync(draft, named);
      url = entry.url;
    },
    proofOf: (challenge) => proofOf({ key, url }, challenge),
    leave() {
      rmSync(named, { force: true });
      held.release();
    },
  };
}

/** The server of a project that answers and shows its key, or null. */
export async function findServer(stateDir: string): Promise<ServerEntry | null> {
  const read = readEntry(stateDir);
  if (read === null || !isAlive(read.entry.pid)) return null;
  return (await answer(read)) === 'ours' ? read.entry : null;
}

/** The same, with what is there instead where it is not. */
export async function lookAtServer(stateDir: string): Promise<ServerState> {
  const read = readEntry(stateDir);
  const answered = read === null ? 'nothing' : await answer(read);
  if (read !== null && answered === 'ours') return { state: 'running', entry: read.entry };
  if (read !== null && answered === 'other') return { state: 'impostor', entry: read.entry };
  return (await isPlaceTaken(stateDir)) ? { state: 'silent', entry: read?.entry ?? null } : { state: 'none' };
}

/** Whether a process has the place of the server, reachable or not. */
export async function isPlaceTaken(stateDir: string): Promise<boolean> {
  const { lockFile } = await import('./workspace/lockFile.ts');
  const file = join(stateDir, LOCK);
  // Looking makes nothing.
  if (!existsSync(file)) return false;
  const lock = locked(file, lockFile);
  lock?.release();
  return lock === null;
}

function locked(file: string, lockFile: (file: string) => FileLock | null): FileLock | null {
  try {
    return lockFile(file);
  } catch (cause) {
    throw new PhasegateError('store_unavailable', `\`${file}\` cannot be locked`, { cause });
  }
}

const FILE = 'server.json';
const LOCK = 'server.lock';
const PATIENCE_MS = 3000;

/** The header a challenge is sent in, and the one its proof comes back in. */
export const CHALLENGE_HEADER = 'phasegate-challenge';
export const PROOF_HEADER = 'phasegate-proof';

interface Read {
  readonly entry: ServerEntry;
  readonly key: string;
}

/**
 * Asks where the server said it is, with a challenge that only the holder of the key answers: a port is anyone's, a
 * number of a process is used again, and agents are sent there with their keys.
 */
async function answer(read: Read): Promise<'ours' | 'other' | 'nothing'> {
  const { url, certificate } = read.entry;
  const challenge = randomBytes(32).toString('hex');
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  return new Promise((resolve) => {
    const headers = { [CHALLENGE_HEADER]: challenge };
    const asked = request(
      `${url}/healthz`,
      { rejectUnauthorized: false, timeout: PATIENCE_MS, agent: false, headers },
      (response) => {
        response.resume();
        const { socket } = response;
        const shown = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate() : null;
        const certified = certificate === undefined || shown?.fingerprint256 === certificate;
        const proof = String(response.headers[PROOF_HEADER] ?? '');
        resolve(certified && isEqual(proof, proofOf({ key: read.key, url }, challenge)) ? 'ours' : 'other');
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('timed out')));
    asked.on('error', () => resolve('nothing'));
    asked.end();
  });
}

function proofOf({ key, url }: { readonly key: string; readonly url: string }, challenge: string): string {
  // With the address: what answers elsewhere cannot be asked to answer for it.
  return createHmac('sha256', key)
    .update(JSON.stringify(['phasegate-server', url, challenge]))
    .digest('hex');
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function readEntry(stateDir: string): Read | null {
  try {
    const file: unknown = JSON.parse(readFileSync(join(stateDir, FILE), 'utf8'));
    const [url, pid, started_at] = [own(file, 'url'), own(file, 'pid'), own(file, 'started_at')];
    const key = own(file, 'key');
    if (typeof url !== 'string' || !Number.isInteger(pid) || typeof started_at !== 'string') return null;
    // Without a key, as the servers of 0.2 wrote it, nobody can be known by it.
    if (typeof key !== 'string' || key.length !== 64 || !URL.canParse(url)) return null;
    const [certificate, socket] = [own(file, 'certificate'), own(file, 'socket')];
    const idle = own(file, 'idle_ms');
    if (certificate !== undefined && typeof certificate !== 'string') return null;
    const entry = {
      url,
      pid: Number(pid),
      started_at,
      ...(certificate === undefined ? {} : { certificate }),
      ...(typeof socket === 'string' ? { socket } : {}),
      ...(typeof idle === 'number' ? { idle_ms: idle } : {}),
    };
    return { entry, key };
  } catch {
    // Not there, or half of something: then it names no server.
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is alive too.
    return own(error, 'code') === 'EPERM';
  }
}
