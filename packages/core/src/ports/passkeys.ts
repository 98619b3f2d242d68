import type { Passkey, UnlockedHuman } from './humans.ts';

/** The passkeys of a project's humans. */
export interface Passkeys {
  /** Those of everybody that are good now, by human and in the order they were added. */
  list(): Promise<readonly (Passkey & { readonly human: string })[]>;
  /** Registers one for the human who adds it; the passphrase proves it, since the human's own key signs it. */
  add(passkey: NewPasskey, by: UnlockedHuman): Promise<void>;
  /** The human's own verb, or an admin's. What it signed before stays signed. */
  remove(id: string, by: UnlockedHuman): Promise<void>;
  /** What a passkey is challenged with to sign a text: a hash of it and of a number that is used once, base64url. */
  challenge(text: string, nonce: string): Promise<string>;
  /**
   * The human whose passkey asserted this very text, for this one act. Throws `credential_invalid`, and records it,
   * where it did not.
   */
  prove(human: string, act: AssertedAct, assertion: Assertion): Promise<UnlockedHuman>;
}

/** What a passkey is to have signed, and where. */
export interface AssertedAct {
  readonly text: string;
  /** Of the pages there are now: a passkey for pages that were elsewhere proves nothing, as somebody else may be there. */
  readonly origin: string;
}

/** A passkey that is to be registered. */
export type NewPasskey = Pick<Passkey, 'id' | 'publicKey' | 'origin' | 'label' | 'transports' | 'counter'>;

/** What an authenticator signed. All base64url. */
export interface Assertion {
  /** Of the credential. */
  readonly id: string;
  /** The number the challenge was made with. */
  readonly nonce: string;
  readonly authenticatorData: string;
  readonly clientDataJson: string;
  readonly signature: string;
}
