import type { Principal } from '../engine/run.ts';
import type { AuditDraft } from './audit.ts';

/** What a human may do: look; decide, answer, resume and stop as well; or all of it. */
export type Role = 'viewer' | 'approver' | 'admin';

/** A human who is to be added. */
export interface NewHuman {
  readonly name: string;
  readonly role: Role;
}

/** The humans of a project. */
export interface Humans {
  list(): Promise<
    readonly {
      readonly name: string;
      readonly role: Role;
      readonly addedAt: string;
      readonly changedAt?: string;
    }[]
  >;
  /** The first human needs no credential and is an admin; a further one needs an admin's. By a name alone: an admin. */
  add(human: string | NewHuman, passphrase: string, by: UnlockedHuman | null): Promise<void>;
  /** An admin's verb; the last admin stays. */
  remove(name: string, by: UnlockedHuman): Promise<void>;
  /** Changes a passphrase; the old one proves whose it is. The key stays, and with it all that was signed. */
  changePassphrase(name: string, old: string, passphrase: string): Promise<void>;
  /**
   * Another human gives one who forgot the passphrase a new key and passphrase. What the old key signed stays signed by
   * it; votes at open gates, which only humans of now cast, are void.
   */
  reset(name: string, passphrase: string, by: UnlockedHuman): Promise<void>;
  /** Throws `no_human`, `usage` (several humans and no name), `credential_invalid` (recorded in the audit). */
  unlock(name: string | undefined, passphrase: string): Promise<UnlockedHuman>;
  /** Throws `not_permitted` where that human's role is less than `least`; `what` is the act, e.g. `adding an agent`. */
  demand(human: Pick<Principal, 'name'>, least: Role, what: string): Promise<void>;
}

/** A human whose passphrase was right, or whose passkey proved this one act; in this process only. */
export interface UnlockedHuman {
  readonly principal: Principal & { readonly kind: 'human' };
  /**
   * Ed25519 signature over the text, base64url; or the assertion of a passkey. A passkey has signed one text already,
   * and for any other this throws `not_permitted`.
   */
  sign(text: string): string;
  /** The id of the passkey that proved it; left out where it was the passphrase. */
  readonly passkey?: string;
  /** The key, sealed so that the secret of a session opens it, and nothing else; left out for a passkey, which has none. */
  sealedKey?(by: KeyCarrier): string;
  /** The times of the record that the passphrase opened, which it may be no more; left out for all but a passphrase. */
  readonly asOf?: { readonly addedAt: string; readonly changedAt?: string };
}

/** What carries the key of a human from one request to the next. */
export interface KeyCarrier {
  /** At least 256 random bits, which only the client keeps. */
  readonly secret: string;
  /** What the key is sealed for: with another, nothing is opened. */
  readonly bound: string;
}

/** Where humans live, with their wrapped keys. */
export interface HumanStore {
  /** Throws `state_tampered` where there is none and the project's chain says that there should be. */
  humans(): Promise<readonly HumanRecord[]>;
  /** Adds or replaces a human. Given `among`, only while those are the humans there are; else false. */
  putHuman(
    human: HumanRecord,
    audit: readonly AuditDraft[],
    among?: readonly HumanRecord[],
  ): Promise<boolean>;
  /** False where there is no such human, or, given `among`, where those are not the humans there are. */
  removeHuman(name: string, audit: readonly AuditDraft[], among?: readonly HumanRecord[]): Promise<boolean>;
}

/** A human and the wrapped key only their passphrase opens. */
export interface HumanRecord {
  readonly name: string;
  /** Ed25519, SPKI, base64url. */
  readonly publicKey: string;
  readonly wrappedKey: WrappedKey;
  /** Absent: an admin. */
  readonly role?: Role;
  readonly addedAt: string;
  /** The human who made this key, by adding or resetting; left out for the first one, and in records from before. */
  readonly addedBy?: string;
  /** When the passphrase was changed; left out where it never was. */
  readonly changedAt?: string;
  /** Those that were removed stay: what they signed refers to them. */
  readonly passkeys?: readonly Passkey[];
}

/** A passkey of a human. INVARIANT: it counts where the human's own key signed it, and not because it stands here. */
export interface Passkey {
  /** Of the credential, base64url. */
  readonly id: string;
  /** P-256, Ed25519 or RSA; SPKI, base64url. */
  readonly publicKey: string;
  /** Of the pages it is for, with the port, e.g. `http://localhost:4114`. */
  readonly origin: string;
  /** What the human calls it. */
  readonly label: string;
  readonly addedAt: string;
  /** Of the human's own key, over all of the above. */
  readonly signature: string;
  /** How the authenticator is reached, as the browser told it; a hint for the next time. */
  readonly transports?: readonly string[];
  /** The authenticator's own count when it was last used; 0 or left out where it does not count. */
  readonly counter?: number;
  /** Left out while it is good. */
  readonly removedAt?: string;
}

/** A private key encrypted by AES-256-GCM under a key derived by scrypt. All fields base64url. */
export interface WrappedKey {
  readonly kdf: 'scrypt';
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly iv: string;
  readonly tag: string;
  readonly ciphertext: string;
}
