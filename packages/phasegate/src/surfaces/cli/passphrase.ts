import { closeSync, fstatSync, openSync, read } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { own } from '@phasegate/core';
import { LEAST_PASSPHRASE } from '@phasegate/core/contract';
import { reasonOf } from '@phasegate/core/model';
import type { Arguments, Invocation } from './command.ts';
import { asked, TRIES } from './prompts.ts';
import { readLimited } from './readLimited.ts';
import { usageError } from './usage.ts';

const LIMIT = 4096;
const OPTIONS = ['passphrase-fd', 'new-passphrase-fd'] as const;
type SecretOption = (typeof OPTIONS)[number];

/** What was read of the descriptors a command line names. */
const taken = new WeakMap<Arguments, ReadonlyMap<SecretOption, string>>();

/**
 * Reads every descriptor with a passphrase, and closes it: before anything is opened or started, as whatever is started
 * later would inherit it, and anyone of the same user reads it under /proc for as long as it is open.
 */
export async function takePassphrases(args: Arguments, stdin: () => Readable): Promise<void> {
  const descriptors = new Map<SecretOption, number>();
  for (const option of OPTIONS) {
    const word = args.text(option);
    if (word === undefined) continue;
    if (!/^\d{1,4}$/.test(word))
      throw usageError(
        `\`--${option}\` needs the number of a file descriptor`,
        `e.g. \`--${option} 3 3<FILE\`, with a file outside of the workspace that only you can read (mode 0600)`,
      );
    descriptors.set(option, Number(word));
  }
  if (new Set(descriptors.values()).size < descriptors.size) {
    throw usageError('`--passphrase-fd` and `--new-passphrase-fd` must be two file descriptors');
  }
  const found = new Map<SecretOption, string>();
  for (const [option, fd] of descriptors) found.set(option, await readPassphrase(fd, stdin));
  taken.set(args, found);
}

/** The passphrase on the file descriptor an option names, or undefined where the option is not given. */
export function passphraseFrom(args: Arguments, option: SecretOption): string | undefined {
  return taken.get(args)?.get(option);
}

/** Reads a file descriptor to its end, closes it, and strips one line break. */
export async function readPassphrase(fd: number, stdin: () => Readable): Promise<string> {
  if (fd === 1 || fd === 2) throw usageError(`file descriptor \`${fd}\` is for output`);
  const bytes = await (fd === 0 ? readStdin(stdin()) : readAndClose(fd)).catch((error: unknown) => {
    throw unreadable(fd, error);
  });
  if (bytes === undefined) {
    throw usageError(`the passphrase on file descriptor \`${fd}\` is over ${LIMIT} bytes`);
  }
  const passphrase = bytes.toString('utf8').replace(/\r?\n$/, '');
  bytes.fill(0);
  if (passphrase === '') throw usageError(`file descriptor \`${fd}\` holds no passphrase`, FD_HINT);
  return passphrase;
}

/** Asks for a new passphrase twice, with the rule first; a mistake is said, and it is asked again. */
export async function askNewPassphrase(invocation: Invocation, name: string): Promise<string> {
  const { prompts, out } = invocation;
  if (prompts === null) {
    throw usageError(`a passphrase for \`${name}\` is needed, and there is no terminal to ask on`, FD_HINT);
  }
  const first = `New passphrase for ${name} (at least ${LEAST_PASSPHRASE} characters)`;
  let problem = '';
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await out.log(problem);
    const passphrase = await prompts.password(asked(first, tries));
    problem = weaknessOf(passphrase) ?? '';
    if (problem !== '') continue;
    if (passphrase === (await prompts.password(asked('The same passphrase again', tries)))) return passphrase;
    problem = 'the two passphrases are not the same';
  }
  throw usageError(`${problem}, and that was the third try: nothing was changed`, 'run the command again');
}

/** Why a passphrase protects nothing, or null. */
export function weaknessOf(passphrase: string | undefined): string | null {
  if ([...(passphrase ?? '')].length >= LEAST_PASSPHRASE) return null;
  return `the passphrase is too short: at least ${LEAST_PASSPHRASE} characters`;
}

/** What to do where nobody can be asked: never a file that the agent is served. */
export const FD_HINT =
  'run it on a terminal, which asks for it; where there is none, `--passphrase-fd 3 3<FILE` reads it from a file outside of the workspace that only you can read (mode 0600)';

const readInto = promisify(read);

/** Into one buffer of our own, which can be wiped. What cannot be read is not ours, and is left open. */
async function readAndClose(fd: number): Promise<Buffer | undefined> {
  const buffer = Buffer.alloc(LIMIT + 1);
  let size = 0;
  for (let more = 1; more > 0 && size < buffer.length; size += more) {
    more = (await readInto(fd, buffer, size, buffer.length - size, null)).bytesRead;
  }
  closeSync(fd);
  if (size <= LIMIT) return buffer.subarray(0, size);
  buffer.fill(0);
  return undefined;
}

/** A pipe is empty when it was read; a file could be read again by the one who finds the descriptor. */
async function readStdin(stdin: Readable): Promise<Buffer | undefined> {
  const bytes = await readLimited(stdin, LIMIT);
  if ('fd' in stdin && stdin.fd === 0 && fstatSync(0).isFile()) {
    closeSync(0);
    // The lowest number that is free is given out next, so that nothing else becomes the standard input.
    openSync('/dev/null', 'r');
  }
  return bytes;
}

function isOwn(error: unknown): boolean {
  return ['EAGAIN', 'EINVAL'].includes(String(own(error, 'code') ?? ''));
}

function unreadable(fd: number, error: unknown): Error {
  return usageError(
    // Of a number that was not opened Node may have made something of its own, which has nothing to read.
    isOwn(error)
      ? `file descriptor \`${fd}\` was not opened for a passphrase`
      : `file descriptor \`${fd}\` cannot be read: ${reasonOf(error)}`,
    `open it for reading: \`${fd}<FILE\`; \`npx\` does not pass descriptors on: call \`./node_modules/.bin/phasegate\` itself`,
  );
}
