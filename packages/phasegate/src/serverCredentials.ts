import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import type { ServeRequest } from './runtime/ports.ts';

/** What a server proves itself with. */
export interface ServerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The certificate and the key that were named, which belong together: what is wrong with them is said before it is served. */
export function readTls({ cert, key }: NonNullable<ServeRequest['tls']>): ServerTls {
  const hint = 'name files that you can read, with `--tls-cert` and `--tls-key`';
  const tls = { cert: readNamed(cert, hint), key: readNamed(key, hint) };
  certificateOf(tls.cert);
  try {
    createSecureContext(tls);
  } catch (cause) {
    const message = `\`${key}\` is not the private key of \`${cert}\`, in PEM and without a passphrase`;
    throw new PhasegateError('file_unreadable', message, { cause, hint: PEM });
  }
  return tls;
}

/** The first certificate of a chain. */
export function certificateOf(cert: Buffer): X509Certificate {
  try {
    return new X509Certificate(cert);
  } catch (cause) {
    const message = 'the file of `--tls-cert` is not a certificate in PEM';
    throw new PhasegateError('file_unreadable', message, { cause, hint: PEM });
  }
}

const PEM = 'name the certificate chain with `--tls-cert` and its private key with `--tls-key`, both PEM';

const LEAST_TOKEN = 16;

/** The token that opens the metrics. */
export function readMetricsToken(file: string): string {
  const hint = `make one with \`openssl rand -hex 32 > ${file}\``;
  const token = readNamed(file, hint).toString('utf8').trim();
  if (/^[\w.~+/=-]+$/.test(token) && token.length >= LEAST_TOKEN) return token;
  throw new PhasegateError(
    'usage',
    `\`${file}\` does not hold a token: one line of at least ${LEAST_TOKEN} letters, digits or any of \`-._~+/=\``,
    { hint },
  );
}

function readNamed(file: string, hint: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const message = `\`${file}\` cannot be read: ${reasonOf(cause)}`;
    throw new PhasegateError('file_unreadable', message, { cause, hint });
  }
}
