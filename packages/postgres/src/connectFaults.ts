import { own } from '@phasegate/core';
import { UnknownAnswer, UnknownMethod } from './answerGuard.ts';

/** Why a server and the driver do not come to terms, and what to do about it. */
export interface NoTerms {
  readonly reason: string;
  readonly hint: string;
}

/** What is wrong where both are there and one does not understand or believe the other; null where it is something else. */
export function noTerms(error: unknown, shown: string): NoTerms | null {
  const said = error instanceof Error ? error.message : '';
  if (error instanceof UnknownMethod) {
    return { reason: `it wants this user to be known by ${said}, which is not supported`, hint: METHODS };
  }
  if (error instanceof UnknownAnswer || said.startsWith('Received unexpected ')) {
    return { reason: 'it answers with what is not the protocol of PostgreSQL', hint: OTHER_SERVER };
  }
  return tlsTerms(error, said) ?? passwordTerms(said, shown);
}

function tlsTerms(error: unknown, said: string): NoTerms | null {
  const code = String(own(error, 'code') ?? '');
  if (/^(?:EPROTO$|ERR_SSL_)/.test(code)) {
    return { reason: `TLS with it failed: ${wordsOfTls(error, said)}`, hint: HANDSHAKE };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { reason: `its certificate is for another name: ${namesIn(error)}`, hint: OTHER_NAME };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|HOSTNAME/.test(code)) {
    return { reason: `its certificate is not accepted: ${said}`, hint: CERTIFICATE };
  }
  if (said.includes('does not support SSL')) {
    return { reason: 'it speaks no TLS, and TLS is demanded', hint: PLAIN };
  }
  if (said.includes('error establishing an SSL connection')) {
    return { reason: 'TLS with it failed: it did not say whether it speaks TLS', hint: HANDSHAKE };
  }
  return null;
}

function passwordTerms(said: string, shown: string): NoTerms | null {
  if (/client password must be a/.test(said)) {
    return { reason: 'it wants a password, and none was given', hint: passwordHint(shown) };
  }
  if (/^SASL: (?:Only mechanism|Mechanism)/.test(said)) {
    return { reason: 'it wants this user to be known in a way that is not supported', hint: METHODS };
  }
  if (said.startsWith('SASL: ')) {
    return { reason: `it does not prove that it knows the password: ${said.slice(6)}`, hint: OTHER_SERVER };
  }
  return null;
}

/** The reason alone: OpenSSL says beside it in which line of its own it was, and breaks the line. */
function wordsOfTls(error: unknown, said: string): string {
  const reason = own(error, 'reason');
  if (typeof reason === 'string' && reason !== '') return reason;
  return /:SSL routines:[^:]*:([^:\n]+)/.exec(said)?.[1] ?? 'the handshake was not understood';
}

function namesIn(error: unknown): string {
  const names = own(own(error, 'cert'), 'subjectaltname');
  const known = typeof names === 'string' ? names.replace(/\b(?:DNS|IP Address):/g, '') : '';
  return known === '' ? 'it names no host' : `\`${known}\``;
}

function passwordHint(shown: string): string {
  const [, user = 'USER', rest = 'HOST/NAME'] = /^postgres:\/\/(?:(.*)@)?(.*)$/s.exec(shown) ?? [];
  return `give it in the address (PHASEGATE_DATABASE='postgres://${user}:PASSWORD@${rest}'), or for one command in PGPASSWORD`;
}

const METHODS =
  'let its pg_hba.conf ask this user for a password (`scram-sha-256`), or for nothing on a socket (`peer`)';
const OTHER_SERVER = 'look whether PostgreSQL, and not another program, listens at that address';
const HANDSHAKE = `${OTHER_SERVER}, and whether it is set up for TLS`;
const OTHER_NAME =
  'write the name of the certificate as the host in the address, or `sslmode=verify-ca`, which compares no names';
const CERTIFICATE =
  'name the certificate of its authority with `sslrootcert=FILE`; `sslmode=require` encrypts without verifying';
const PLAIN = 'set it up for TLS, or write `sslmode=disable` where nobody can listen in between';
