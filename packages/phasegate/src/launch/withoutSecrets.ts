import { isOwnVariable } from '@phasegate/core/contract';

/**
 * Our own environment without anything of Phasegate's, without what systemd gives a service alone, and without what leads
 * into the database of the runs: no operator's secret reaches an agent or a terminal.
 */
export function withoutSecrets(
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const opens = opensDatabase(own.PHASEGATE_DATABASE);
  return Object.fromEntries(
    Object.entries(own).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        !isOwnVariable(entry[0]) &&
        !OF_SERVICE.test(entry[0]) &&
        !OF_POSTGRES.test(entry[0]) &&
        !opens(entry[1]),
    ),
  );
}

/** Where a service's credentials are, and by which sockets it listens and speaks with what started it. */
const OF_SERVICE =
  /^(?:CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|LISTEN_(?:FDS|PID|PIDFDID|FDNAMES)|WATCHDOG_(?:PID|USEC))$/i;

/** By what clients of PostgreSQL prove who they are, or where that is written. */
const OF_POSTGRES = /^PG(?:PASSWORD|PASSFILE|SERVICE|SERVICEFILE|SSLKEY|SSLCERT|SSLPASSWORD)$/i;

/** Whether a value is the database's address or its password, under whatever name it is given a second time. */
function opensDatabase(address: string | undefined): (value: string) => boolean {
  if (address === undefined || !URL.canParse(address)) return () => false;
  const { password, searchParams } = new URL(address);
  const passwords = [password, decoded(password), searchParams.get('password') ?? ''].filter(
    (text) => text !== '',
  );
  // Not wherever the password's letters are: it may be a word that stands in a path.
  return (value) =>
    value.includes(address) || passwords.some((text) => value === text || value.includes(`:${text}@`));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
