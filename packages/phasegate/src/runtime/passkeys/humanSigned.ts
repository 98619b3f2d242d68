import { passkeyText } from '@phasegate/core/contract';
import { verifyHumanSignature } from '../humanKeys.ts';
import type { HumanRecord, Passkey } from '../ports.ts';
import { assertionFault, readAssertion } from './assertion.ts';

/** Whether a human signed a text: with their own key, or with a passkey that is good now. */
export function humanSigned(human: HumanRecord, text: string, signature: string): boolean {
  const assertion = readAssertion(signature);
  if (assertion === null) return verifyHumanSignature(human.publicKey, text, signature);
  const passkey = goodPasskey(human, assertion.id);
  return passkey !== undefined && assertionFault(passkey, text, assertion) === null;
}

/** The passkey of that id where it is good now: not removed, and signed by the human's own key. */
export function goodPasskey(human: HumanRecord, id: string): Passkey | undefined {
  const found = human.passkeys?.find((passkey) => passkey.id === id);
  return found?.removedAt === undefined && found !== undefined && isRegistered(human, found)
    ? found
    : undefined;
}

/** INVARIANT: what stands in a record was put there by its human, whatever seals the record. */
function isRegistered({ name, publicKey }: HumanRecord, passkey: Passkey): boolean {
  const text = passkeyText({ ...passkey, by: name, at: passkey.addedAt });
  return verifyHumanSignature(publicKey, text, passkey.signature);
}
