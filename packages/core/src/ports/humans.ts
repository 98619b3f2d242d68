import type { Principal } from '../engine/run.ts';

/** The humans of a project. */
export interface Humans {
  list(): Promise<
    readonly { readonly name: string; readonly addedAt: string; readonly changedAt?: string }[]
  >;
  /** The first human needs no credential; a further one needs an existing human's. */
  add(name: string, passphrase: string, by: UnlockedHuman | null): Promise<void>;
  remove(name: string, by: UnlockedHuman): Promise<void>;
  /** Changes a passphrase; the old one proves whose it is. The key stays, and with it all that was signed. */
  changePassphrase(name: string, old: string, passphrase: string): Promise<void>;
  /** Throws `no_human`, `usage` (several humans and no name), `credential_invalid` (recorded in the audit). */
  unlock(name: string | undefined, passphrase: string): Promise<UnlockedHuman>;
}

/** A human whose passphrase was right, in this process only. */
export interface UnlockedHuman {
  readonly principal: Principal & { readonly kind: 'human' };
  /** Ed25519 signature over the text, base64url. */
  sign(text: string): string;
}
