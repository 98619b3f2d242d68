import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import type { Place } from './fixture.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));

/** What a command is given beside its words. */
export interface Given {
  readonly stdin?: unknown;
  readonly passphrase?: string;
  readonly newPassphrase?: string;
}

/** The real command and the real server on one place. */
export interface Stage {
  /** Calls a command and gives the JSON it prints. Throws where it does not end with this code. */
  command(words: readonly string[], given?: Given, code?: number): Promise<JsonObject>;
  /** Asks the server. Throws where the status is another. */
  ask(method: string, path: string, request: Asking): Promise<JsonObject>;
  close(): Promise<void>;
}

/** One request to the server. */
export interface Asking {
  readonly bearer?: string;
  readonly body?: unknown;
  readonly status?: number;
}

/** Starts the server. */
export async function openStage(place: Place): Promise<Stage> {
  const server = begin(place, ['serve', '--port', '0', '--json'], {});
  const { url } = JSON.parse(await firstLine(server)) as { url: string };
  return {
    command: (words, given = {}, code = 0) => command(place, words, { ...given, code }),
    async ask(method, path, { bearer, body, status = 200 }) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? {} : JSON.parse(text)) as JsonObject;
    },
    async close() {
      const ended = new Promise((resolve) => server.once('close', resolve));
      server.kill('SIGTERM');
      await ended;
    },
  };
}

/** Calls a command without a server. */
export async function command(
  place: Place,
  words: readonly string[],
  { code = 0, ...given }: Given & { readonly code?: number } = {},
): Promise<JsonObject> {
  const child = begin(place, [...words, '--json'], given);
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  const ended = await new Promise((resolve) => child.once('close', resolve));
  const printed = await stdout;
  if (ended !== code) throw new Error(`${words.join(' ')}: ${ended} ${printed} ${await stderr}`);
  return JSON.parse(printed) as JsonObject;
}

function begin(place: Place, words: readonly string[], given: Given): ChildProcess {
  const secrets = [
    ...(given.passphrase === undefined ? [] : ['--passphrase-fd', '3']),
    ...(given.newPassphrase === undefined ? [] : ['--new-passphrase-fd', '4']),
  ];
  const child = spawn(process.execPath, [PROGRAM, ...words, ...secrets], {
    cwd: place.root,
    env: { ...place.env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const texts = [given.stdin === undefined ? '' : JSON.stringify(given.stdin), '', ''];
  for (const [at, text] of [texts[0], given.passphrase, given.newPassphrase].entries()) {
    const sink = child.stdio[at === 0 ? 0 : at + 2] as Writable;
    // A program that does not read its input breaks the pipe: its own business.
    sink.on('error', () => undefined);
    sink.end(text ?? '');
  }
  return child;
}

async function textOf(stream: ChildProcess['stdout']): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', resolve);
    child.once('close', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
