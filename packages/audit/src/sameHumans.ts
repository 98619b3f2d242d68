import type { HumanRecord } from '@phasegate/core/ports';

/** Whether these are the humans there are: the same names, keys, passphrases and passkeys. */
export function sameHumans(one: readonly HumanRecord[], other: readonly HumanRecord[]): boolean {
  const told = (humans: readonly HumanRecord[]) =>
    JSON.stringify(
      humans
        .map(({ name, publicKey, wrappedKey, passkeys = [] }) => [
          name,
          publicKey,
          wrappedKey.tag,
          ...passkeys.map(({ id, counter, removedAt }) => [id, counter ?? 0, removedAt ?? null]),
        ])
        .sort(),
    );
  return told(one) === told(other);
}
