import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { PhasegateError } from '@phasegate/core';
import { POSTGRES_URL } from '@phasegate/core/contract';
import { reasonOf } from '@phasegate/core/model';

/** Where a database is, and as whom and how it is connected to. */
export interface ConnectionSettings {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string;
  readonly database: string;
  readonly ssl: false | ConnectionOptions;
  /** The schema that the tables are in. */
  readonly schema: string;
  /** The address without the password and with the schema, for messages. */
  readonly shown: string;
  /** The same without the schema, as the tools of PostgreSQL take it. */
  readonly bare: string;
}

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. Without a mode, a database on this machine is spoken to
 * in the clear and any other by TLS with its certificate verified. Throws `usage`.
 */
export function connectionSettings(address: string): ConnectionSettings {
  const url = parsed(address);
  const unknown = [...url.searchParams.keys()].filter((name) => !KNOWN.has(name));
  if (unknown.length > 0) {
    throw invalid(
      `its parameter \`${unknown[0]}\` is not known`,
      `use ${[...KNOWN].map((name) => `\`${name}\``).join(', ')}`,
    );
  }
  if (url.hostname !== '' && url.searchParams.has('host')) {
    throw invalid('it names a host twice', 'leave out the parameter `host`, or the name before the database');
  }
  const database = decoded(url.pathname.slice(1));
  if (database === '') throw invalid('it names no database', 'write it as `postgres://USER@HOST/DATABASE`');
  const named = url.searchParams.get('host') ?? decoded(url.hostname);
  // Never empty: then another would be taken from the environment.
  const host = named === '' ? 'localhost' : named.replace(/^\[(.*)\]$/, '$1');
  const [user, password] = [decoded(url.username), decoded(url.password)];
  const bare = `postgres://${user === '' ? '' : `${user}@`}${named}${url.port === '' ? '' : `:${url.port}`}/${database}`;
  const schema = schemaOf(url.searchParams);
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    ...(user === '' ? {} : { user }),
    ...(password === '' ? {} : { password }),
    database,
    ssl: tlsOf(url.searchParams, host),
    schema,
    shown: url.searchParams.has('schema') ? `${bare}?schema=${schema}` : bare,
    bare,
  };
}

const KNOWN: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'host', 'schema']);
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

function parsed(address: string): URL {
  try {
    const url = new URL(address);
    if (POSTGRES_URL.test(address)) return url;
  } catch {
    // Said below, and without the address: it may hold a password.
  }
  throw invalid('it cannot be read', 'write it as `postgres://USER@HOST/DATABASE`');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Without the part: it may be the password.
    throw invalid('a percent sign in it begins no escape', 'write a percent sign as `%25`');
  }
}

function tlsOf(parameters: URLSearchParams, host: string): false | ConnectionOptions {
  const given = parameters.get('sslmode');
  const mode = MODES.find((known) => known === given);
  if (given !== null && mode === undefined) {
    throw invalid(
      `its \`sslmode\` is \`${given}\``,
      `use one of ${MODES.map((one) => `\`${one}\``).join(', ')}`,
    );
  }
  return optionsOf(mode ?? (isHere(host) ? 'disable' : 'verify-full'), parameters.get('sslrootcert'));
}

function optionsOf(mode: Mode, certificate: string | null): false | ConnectionOptions {
  if (mode === 'disable') return false;
  const ca = certificate === null ? {} : { ca: readCertificate(certificate) };
  if (mode === 'require') return { ...ca, rejectUnauthorized: false };
  // A name that does not fit is what `verify-full` adds.
  return mode === 'verify-ca' ? { ...ca, checkServerIdentity: () => undefined } : ca;
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw invalid(
      `its \`sslrootcert\` cannot be read: ${reasonOf(error)}`,
      'name a file with the certificate of the authority',
    );
  }
}

function schemaOf(parameters: URLSearchParams): string {
  const schema = parameters.get('schema') ?? 'public';
  if (/^pg_|^information_schema$/.test(schema)) {
    throw invalid(
      `its \`schema\` is \`${schema}\`, which belongs to PostgreSQL itself`,
      'name another, which does not begin with `pg_`',
    );
  }
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return schema;
  throw invalid(`its \`schema\` is \`${schema}\``, 'use small letters, digits and underscores');
}

/** A socket, or an address that never leaves this machine; a name that only begins like one is a name. */
function isHere(host: string): boolean {
  return (
    host.startsWith('/') ||
    host === 'localhost' ||
    host === '::1' ||
    (isIPv4(host) && host.startsWith('127.'))
  );
}

function invalid(problem: string, hint: string): PhasegateError {
  return new PhasegateError('usage', `the address of the database is not valid: ${problem}`, { hint });
}
