import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { connect, type PhasegateClient } from './connect.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { socketPathIn } from './socketFetch.ts';

/** The environment a program was started with. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads all that a file descriptor holds. */
export type ReadDescriptor = (descriptor: number) => string;

/**
 * Connects as the agent this process was started as: `PHASEGATE_URL` names the server, `PHASEGATE_KEY` is the agent's
 * key and `PHASEGATE_RUN` the task it holds already. `phasegate agent start` also hands over a first token, as JSON on
 * the file descriptor that `PHASEGATE_CREDENTIALS_FD` names. `PHASEGATE_INSECURE_HTTP=1` allows plain `http` to another
 * machine.
 *
 * In Node, Bun and Deno both arguments may be left out.
 */
export function connectFromEnvironment(env?: Environment, readDescriptor?: ReadDescriptor): PhasegateClient {
  const { process } = globalThis as { readonly process?: PlatformProcess };
  const told = env ?? process?.env ?? {};
  const handed = handedOver(told.PHASEGATE_CREDENTIALS_FD, readDescriptor ?? readerOf(process));
  const url = told.PHASEGATE_URL ?? textIn(handed, 'url');
  const key = textIn(handed, 'key') ?? told.PHASEGATE_KEY;
  const token = textIn(handed, 'token');
  const task = textIn(handed, 'task') ?? told.PHASEGATE_RUN;
  if (url === undefined) throw new PhasegateClientError('usage', '`PHASEGATE_URL` is not set');
  if (key === undefined && token === undefined && socketPathIn(url) === null) {
    throw new PhasegateClientError(
      'usage',
      'there is no credential: `PHASEGATE_KEY` is not set, and `PHASEGATE_CREDENTIALS_FD` gives none',
    );
  }
  const allowInsecureHttp = told.PHASEGATE_INSECURE_HTTP === '1';
  return connect({ url, allowInsecureHttp, ...given({ key, token, task }) });
}

/** What of a process is asked here, on platforms that have one. */
interface PlatformProcess {
  readonly env?: Environment;
  getBuiltinModule?(name: 'node:fs'): FileSystem | undefined;
}

interface FileSystem {
  readFileSync(descriptor: number, encoding: 'utf8'): string;
  readSync(descriptor: number, buffer: Uint8Array, options: { readonly position: number }): number;
}

/**
 * Nothing where there is none or it cannot be read: a program between here and the spawner may have closed it, and
 * the key in the environment does as well.
 */
function handedOver(descriptor: string | undefined, read: ReadDescriptor | null): JsonObject {
  if (descriptor === undefined || !/^\d{1,4}$/.test(descriptor) || read === null) return {};
  try {
    const value: unknown = JSON.parse(read(Number(descriptor)));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function readerOf(process: PlatformProcess | undefined): ReadDescriptor | null {
  const files = process?.getBuiltinModule?.('node:fs');
  return files === undefined ? null : (descriptor) => readFromStart(files, descriptor);
}

/** From its start, as another program that shares the descriptor may have read it before. */
function readFromStart(files: FileSystem, descriptor: number): string {
  try {
    const buffer = new Uint8Array(LARGEST);
    const length = files.readSync(descriptor, buffer, { position: 0 });
    return new TextDecoder().decode(buffer.subarray(0, length));
  } catch {
    // A pipe has no start; it is read as it comes.
    return files.readFileSync(descriptor, 'utf8');
  }
}

const LARGEST = 65_536;

function textIn(fields: JsonObject, name: string): string | undefined {
  const value = own(fields, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function given<T extends object>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
