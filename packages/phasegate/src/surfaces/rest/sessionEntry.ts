import { createHash } from 'node:crypto';
import { type JsonObject, own } from '@phasegate/core';
import type { SignInRow } from '../../runtime/ports.ts';

/** A session as it is kept. */
export interface Entry {
  /** Hash of its secret. */
  readonly key: string;
  /** Hash of the path of its cookie; null for a bearer. */
  readonly place: string | null;
  /** Null for the operator. */
  readonly name: string | null;
  /** The key of who signs, which the session's secret opens; null where each act brings the passphrase. */
  readonly sealed: string | null;
  readonly since: string;
  readonly made: number;
  readonly used: number;
}

/** The row of a session. */
export function rowOf({ key, ...data }: Entry): SignInRow {
  return { key, data };
}

/** The session of a row; null where it is not one as this version writes them. */
export function entryOf(key: string, data: JsonObject): Entry | null {
  const [place, name, sealed] = ['place', 'name', 'sealed'].map((field) => own(data, field));
  const [since, made, used] = [own(data, 'since'), own(data, 'made'), own(data, 'used')];
  if (!isTextOrNull(place) || !isTextOrNull(name) || !isTextOrNull(sealed)) return null;
  if (typeof since !== 'string' || typeof made !== 'number' || typeof used !== 'number') return null;
  return { key, place, name, sealed, since, made, used };
}

/** Secrets are looked up by their hash: how long that takes says nothing about the secret itself. */
export function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** What others may know a session by: a hash of its hash, which opens nothing. */
export function publicId(key: string): string {
  return digest(`session ${key}`).slice(0, 16);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
