import type { HumanRecord } from '@phasegate/core/ports';

/** Whether these are the humans there are: the same names, keys and passphrases. */
export function sameHumans(one: readonly HumanRecord[], other: readonly HumanRecord[]): boolean {
  const told = (humans: readonly HumanRecord[]) =>
    JSON.stringify(humans.map(({ name, publicKey, wrappedKey }) => [name, publicKey, wrappedKey.tag]).sort());
  return told(one) === told(other);
}
