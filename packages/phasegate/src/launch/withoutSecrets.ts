import { isOwnVariable } from '@phasegate/core/contract';

/**
 * Our own environment without anything of Phasegate's, and without what systemd gives a service alone: no operator's
 * secret reaches an agent or a terminal.
 */
export function withoutSecrets(
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(own).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !isOwnVariable(entry[0]) && !OF_SERVICE.test(entry[0]),
    ),
  );
}

/** Where a service's credentials are, and by which sockets it listens and speaks with what started it. */
const OF_SERVICE =
  /^(?:CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|LISTEN_(?:FDS|PID|PIDFDID|FDNAMES)|WATCHDOG_(?:PID|USEC))$/i;
