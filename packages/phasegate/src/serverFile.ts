import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { own, PhasegateError } from '@phasegate/core';
import type { FileLock } from './workspace/lockFile.ts';

/** A server as `server.json` names it. */
export interface ServerEntry {
  readonly url: string;
  readonly pid: number;
  readonly started_at: string;
  /** SHA-256 of its certificate, where it speaks TLS. */
  readonly certificate?: string;
}

/** The right to be the one server of a project. */
export interface ServerPlace {
  /** Tells everybody where the server is. */
  announce(entry: ServerEntry): void;
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
  const lock = locked(join(stateDir, 'server.lock'), lockFile);
  if (lock === null) {
    const entry = readEntry(stateDir);
    const where = entry === null ? 'and is just starting' : `at ${entry.url} (process ${entry.pid})`;
    throw new PhasegateError('server_running', `a server of this project is running already, ${where}`, {
      hint: 'use that one, or end it first',
    });
  }
  const file = join(stateDir, FILE);
  // Of a server that was killed: until this one is reachable there is none.
  rmSync(file, { force: true });
  return {
    announce(entry) {
      const draft = `${file}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    },
    leave() {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

/** The server of a project that answers, or null. */
export async function findServer(stateDir: string): Promise<ServerEntry | null> {
  const entry = readEntry(stateDir);
  if (entry === null || !isAlive(entry.pid)) return null;
  return (await answers(entry)) ? entry : null;
}

function locked(file: string, lockFile: (file: string) => FileLock | null): FileLock | null {
  try {
    return lockFile(file);
  } catch (cause) {
    throw new PhasegateError('store_unavailable', `\`${file}\` cannot be locked`, { cause });
  }
}

const FILE = 'server.json';
const PATIENCE_MS = 3000;

/**
 * Any answer will do, from anyone who has the server's own certificate: what a name leads to is for others to say, and
 * agents are sent there with their keys.
 */
async function answers({ url, certificate }: ServerEntry): Promise<boolean> {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  return new Promise((resolve) => {
    const asked = request(
      `${url}/healthz`,
      { rejectUnauthorized: false, timeout: PATIENCE_MS, agent: false },
      (response) => {
        response.resume();
        const { socket } = response;
        const shown = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate() : null;
        const isOurs = certificate === undefined || shown?.fingerprint256 === certificate;
        resolve(isOurs && (response.statusCode ?? 500) < 500);
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('timed out')));
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

function readEntry(stateDir: string): ServerEntry | null {
  try {
    const entry: unknown = JSON.parse(readFileSync(join(stateDir, FILE), 'utf8'));
    const [url, pid, started_at] = [own(entry, 'url'), own(entry, 'pid'), own(entry, 'started_at')];
    const sound = typeof url === 'string' && Number.isInteger(pid) && typeof started_at === 'string';
    const certificate = own(entry, 'certificate');
    if (!sound || (certificate !== undefined && typeof certificate !== 'string')) return null;
    return { url, pid: Number(pid), started_at, ...(certificate === undefined ? {} : { certificate }) };
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
