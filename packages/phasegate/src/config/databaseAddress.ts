import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { POSTGRES_URL } from '@phasegate/core/contract';

/** Where the runs of a project are, if not in a file of its state directory. */
export interface DatabaseAddress {
  readonly url: string;
  /** Whether the runs were there before. */
  readonly known: boolean;
  /** Remembers it for every later command; to be called once it was opened. */
  remember(): void;
}

/**
 * The database a project is kept in: the one that was named (`serve --database`, PHASEGATE_DATABASE), or the one that was
 * named before. The state directory remembers it, and nothing in the project has a say: an agent that could name another
 * would have a project without humans and without runs. Null for the embedded one.
 */
export function databaseAddress(
  stateDir: string,
  env: Readonly<Record<string, string | undefined>>,
  given?: string,
): DatabaseAddress | null {
  const named = given ?? (env.PHASEGATE_DATABASE || undefined);
  const known = remembered(stateDir);
  if (named === undefined || named === 'embedded') {
    if (known !== null && named === 'embedded') throw elsewhere(known, 'the embedded database');
    return known === null ? null : { url: known, known: true, remember: () => undefined };
  }
  demandAddress(named);
  if (known !== null && placeOf(known) !== placeOf(named)) throw elsewhere(known, placeOf(named));
  if (known === null && existsSync(join(stateDir, 'state.db'))) {
    throw new PhasegateError('usage', 'the runs of this project are in the embedded database', {
      hint: `move them with \`phasegate migrate-store --from sqlite: --to '${withoutPassword(named)}'\``,
    });
  }
  return { url: named, known: known !== null, remember: () => rememberDatabase(stateDir, named) };
}

/** Refuses what is not the whole address of a database. */
export function demandAddress(named: string): void {
  if (!POSTGRES_URL.test(named)) {
    throw new PhasegateError(
      'usage',
      'the database must be `embedded` or an address `postgres://USER@HOST/NAME`',
      {
        hint: 'look at `--database` and at PHASEGATE_DATABASE',
      },
    );
  }
  if (!isWhole(named)) {
    throw new PhasegateError('usage', 'the address of the database cannot be read', {
      hint: 'write it as `postgres://USER:PASSWORD@HOST:PORT/NAME`; in a password `@` is `%40`, `:` `%3A`, `/` `%2F`, `?` `%3F`, `#` `%23` and `%` `%25`',
    });
  }
}

/** Whether all of it is where it belongs: a password with a `/`, `?` or `#` would end the name of the host. */
function isWhole(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { pathname, hash } = new URL(address);
  return hash === '' && !pathname.includes('@');
}

/** Writes down where the runs of a project are from now on. */
export function rememberDatabase(stateDir: string, url: string): void {
  if (remembered(stateDir) === url) return;
  const draft = join(stateDir, `${FILE}.${process.pid}`);
  writeFileSync(draft, `${url}\n`, { mode: 0o600 });
  renameSync(draft, join(stateDir, FILE));
}

/** The name of the file that remembers it. */
export const DATABASE_FILE = 'database-url';
const FILE = DATABASE_FILE;

function remembered(stateDir: string): string | null {
  const file = join(stateDir, FILE);
  if (!existsSync(file)) return null;
  const url = readFileSync(file, 'utf8').trim();
  if (URL.canParse(url)) return url;
  throw new PhasegateError('store_unavailable', `\`${file}\` does not hold the address of a database`, {
    hint: 'write the address into it that the runs of this project are at',
  });
}

/** An address without who connects and how: what is left says which database it is. A `host` comes before the name. */
export function placeOf(address: string): string {
  const { hostname, port, pathname, searchParams } = new URL(address);
  const schema = searchParams.get('schema');
  const host = searchParams.get('host') ?? hostname;
  return `postgres://${host}:${port || '5432'}${pathname}${schema === null ? '' : `?schema=${schema}`}`;
}

/** For a shell, in single quotes: an address has `?` and `&`. */
function withoutPassword(address: string): string {
  const url = new URL(address);
  url.password = '';
  url.searchParams.delete('password');
  return url.href.replaceAll("'", '%27');
}

function elsewhere(known: string, named: string): PhasegateError {
  return new PhasegateError(
    'usage',
    `the runs of this project are in \`${placeOf(known)}\`, not in \`${named}\``,
    {
      hint: 'leave the database out, or name that one; where the database itself has moved: `phasegate migrate-store --moved --to URL --anchor FILE`',
    },
  );
}
