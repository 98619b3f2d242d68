import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { atEndOfFile } from '../atEndOfFile.ts';
import { PROGRAM, type TestProject } from './cli.ts';

/** The real server of a project, in a process of its own. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Null where a human is set up. */
  readonly signIn: string | null;
  /** Settles with how the process ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
  stderr(): string;
  /** Sends JSON and reads JSON. */
  send(method: string, path: string, request?: Sending): Promise<Answer>;
}

/** What a request carries. */
export interface Sending {
  readonly bearer?: string;
  readonly body?: unknown;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Starts the server and waits until it says where it is; it is ended when all tests of the file have finished. */
export async function serve(
  project: Pick<TestProject, 'root' | 'env'> & { readonly program?: string },
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child = spawn(
    process.execPath,
    [project.program ?? PROGRAM, 'serve', '--port', '0', '--json', ...words],
    {
      cwd: project.root,
      env: { ...project.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = endOf(child);
  atEndOfFile(() => {
    child.kill('SIGKILL');
    return ended;
  });
  const line = await Promise.race([firstLine(child), ended.then(() => null)]);
  return servedAt(line ?? '', {
    ended,
    kill: (signal) => void child.kill(signal),
    stderr: () => stderr,
  });
}

/** The server that said this when it had started. */
export function servedAt(line: string, rest: Pick<Served, 'ended' | 'kill' | 'stderr'>): Served {
  if (line === '') throw new Error(`the server did not start: ${rest.stderr()}`);
  const { url, pid, sign_in } = JSON.parse(line) as { url: string; pid: number; sign_in: string | null };
  return {
    url,
    pid,
    signIn: sign_in,
    ...rest,
    send: (method, path, request) => send(`${url}${path}`, method, request),
  };
}

/** Uses a sign-in link as a program would and gives the session's secret, for a bearer. */
export async function signIn(link: string | null): Promise<string> {
  const { origin, searchParams } = new URL(link ?? '');
  return sessionFrom(origin, { code: searchParams.get('code') });
}

/** Signs in at a server and gives the session's secret, for a bearer. */
export async function sessionFrom(url: string, credential: object): Promise<string> {
  const body = { ...credential, bearer: true };
  return String((await send(`${url}/api/v1/session`, 'POST', { body })).body.session);
}

async function send(url: string, method: string, { bearer, body }: Sending = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', resolve);
  });
}

function endOf(child: ChildProcess): Served['ended'] {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
}
