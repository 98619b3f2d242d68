import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import type { Launch } from './clientKind.ts';
import { recordOf } from './protocol.ts';

/** How a client ended, and what it said. */
export interface ClientEnd {
  readonly code: number | null;
  /** It was ended because its time was over. */
  readonly late: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/** What a start needs beside the launch. */
export interface StartOptions {
  readonly cwd: string;
  /** The PATH of the client and all it starts; nothing else of this process's environment reaches it. */
  readonly path: string;
  readonly limitMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Starts a client with nobody at its side and waits for its end; what it left running in its group ends with it. */
export async function startClient(launch: Launch, options: StartOptions): Promise<ClientEnd> {
  await prepare(launch);
  const started = performance.now();
  const [program, ...words] = launch.argv;
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: {
      PATH: options.path,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      ...launch.environment,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let late = false;
  const end = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, options.limitMs);
  options.signal?.addEventListener('abort', end, { once: true });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  try {
    return await new Promise<ClientEnd>((resolve, reject) => {
      child.once('error', reject);
      // Not `close`: what it left in the background may hold its output open for as long as it likes.
      child.once('exit', (code) => {
        end();
        setImmediate(() => resolve({ code, late, ...said, milliseconds: performance.now() - started }));
      });
    });
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', end);
  }
}

async function prepare({ folders, settings }: Launch): Promise<void> {
  for (const folder of folders) await mkdir(folder, { recursive: true });
  for (const { path, values } of settings) {
    await mkdir(dirname(path), { recursive: true });
    const there = await readFile(path, 'utf8').catch(() => '{}');
    await writeFile(path, `${JSON.stringify(merged(JSON.parse(there), values), null, 2)}\n`, { mode: 0o600 });
  }
}

function merged(there: unknown, values: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...recordOf(there) };
  for (const [key, value] of Object.entries(values)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    result[key] = isObject ? merged(result[key], value as JsonObject) : value;
  }
  return result as JsonObject;
}
