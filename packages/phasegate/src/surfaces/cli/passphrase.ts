import { createReadStream, fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Arguments, Invocation } from './command.ts';
import { readLimited } from './readLimited.ts';
import { usageError } from './usage.ts';

const LIMIT = 4096;

/** The passphrase on the file descriptor an option names, or undefined where the option is not given. */
export async function passphraseFrom(
  args: Arguments,
  option: 'passphrase-fd' | 'new-passphrase-fd',
  stdin: Readable,
): Promise<string | undefined> {
  const word = args.text(option);
  if (word === undefined) return undefined;
  if (!/^\d{1,4}$/.test(word)) throw usageError(`\`--${option}\` needs the number of a file descriptor`);
  return readPassphrase(Number(word), stdin);
}

/** Reads a file descriptor to its end and strips one line break. */
export async function readPassphrase(fd: number, stdin: Readable): Promise<string> {
  if (fd === 1 || fd === 2) throw usageError(`file descriptor \`${fd}\` is for output`);
  const bytes = await readLimited(fd === 0 ? stdin : openDescriptor(fd), LIMIT).catch((error: unknown) => {
    throw unreadable(fd, error);
  });
  if (bytes === undefined)
    throw usageError(`the passphrase on file descriptor \`${fd}\` is over ${LIMIT} bytes`);
  const passphrase = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (passphrase === '') throw usageError(`file descriptor \`${fd}\` holds no passphrase`);
  return passphrase;
}

/** Asks for a new passphrase twice. */
export async function askNewPassphrase(invocation: Invocation, name: string): Promise<string> {
  const { prompts } = invocation;
  if (prompts === null) {
    throw usageError(`a passphrase for \`${name}\` is needed, and there is no terminal to ask on`, FD_HINT);
  }
  const passphrase = await prompts.password(`New passphrase for ${name}`);
  if (passphrase === '') throw usageError('an empty passphrase protects nothing');
  if (passphrase !== (await prompts.password('The same passphrase again'))) {
    throw usageError('the two passphrases are not the same');
  }
  return passphrase;
}

/** What to do where nobody can be asked. */
export const FD_HINT = 'pass it on a file descriptor: `--passphrase-fd 3 3<FILE`';

function openDescriptor(fd: number): Readable {
  try {
    fstatSync(fd);
  } catch (error) {
    throw unreadable(fd, error);
  }
  return createReadStream('', { fd, autoClose: false });
}

function unreadable(fd: number, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  return usageError(
    `file descriptor \`${fd}\` cannot be read: ${code}`,
    `open it for reading: \`${fd}<FILE\``,
  );
}
