import { randomBytes } from 'node:crypto';

/**
 * Where a browser's session lives: a path nobody can guess. Cookies do not know ports, so the session's cookie is bound
 * to this path and is sent to nothing else on the host.
 */
export interface Placed {
  /** Null where the request came by no session's path. */
  readonly place: string | null;
  /** What was asked for, without the session's path in front. */
  readonly path: string;
}

/** A new one. */
export function newPlace(): string {
  return randomBytes(32).toString('base64url');
}

/** The path of a session, with a slash at its end. */
export function pathOfPlace(place: string): string {
  return `/s/${place}/`;
}

/** Takes a session's path off a path. */
export function splitPlace(path: string): Placed {
  const [, place, rest] = PLACE.exec(path) ?? [];
  return place === undefined || rest === undefined ? { place: null, path } : { place, path: rest };
}

const PLACE = /^\/s\/([\w-]{43})(\/.*)$/;
