import type { JsonObject } from '@phasegate/core';
import type { KeyCarrier, UnlockedHuman } from '@phasegate/core/ports';

/** What is remembered of humans who signed in: by one server, or by all nodes of one store. */
export interface SignIns {
  /** Where it is kept: in the store that nodes share, by its clock, or else in this process, by the clock given. */
  rows(now: () => number): SignInRows;
  /** 32 bytes that passkeys' challenges are proven by: the same on every node, or of this process alone. */
  challengeKey(): Uint8Array;
  /** The human whose key was sealed for a session; null where it cannot be opened. */
  unseal(name: string, sealed: string, by: KeyCarrier): UnlockedHuman | null;
}

/** What a row is about: a session, a link that signs in once, the challenges that a session has spent. */
export type SignInKind = 'session' | 'code' | 'challenges';

/** One row. INVARIANT: neither its key nor its data has anything one could sign in by, only hashes of it. */
export interface SignInRow {
  readonly key: string;
  readonly data: JsonObject;
}

/**
 * Rows about sign-ins. INVARIANT: what was written or dropped by one node holds for the next question of any: nothing
 * is remembered in between, so no node lets in whom another has signed out.
 */
export interface SignInRows {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How old the time of the last use may become before it is written again, in milliseconds. */
  readonly usedEvery: number;
  get(kind: SignInKind, key: string): Promise<JsonObject | null>;
  /** In no order. */
  all(kind: SignInKind): Promise<readonly SignInRow[]>;
  /** Writes a row where `was` is what is there now, null for nothing; else false, and nothing is written. */
  put(kind: SignInKind, row: SignInRow, was: JsonObject | null): Promise<boolean>;
  /** False where there is none: of several who drop a row, one is told that it was there. */
  drop(kind: SignInKind, key: string): Promise<boolean>;
}
