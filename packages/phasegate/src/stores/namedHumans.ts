import type { StoredHuman } from '@phasegate/audit/verify';

/** The humans that are still there, with their public keys. */
export function namedHumans(
  humans: readonly StoredHuman[],
): readonly { readonly name: string; readonly publicKey: string }[] {
  return humans.flatMap(({ human: { name, publicKey }, removed }) => (removed ? [] : [{ name, publicKey }]));
}
