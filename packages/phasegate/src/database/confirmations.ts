import { createHash, timingSafeEqual } from 'node:crypto';
import { refused } from './refused.ts';

/** Tokens that were given out and not used yet. */
export interface Confirmations {
  /** Confirms a delete, by its hash, of that many rows. */
  issue(hash: string, count: number): { readonly token: string; readonly expiresAt: string };
  /** How many rows were confirmed. Whatever comes of it, the token is used. */
  redeem(token: string, hash: string): number;
}

/** Keeps tokens in memory: one is good for the connection that gave it, once, for five minutes. */
export function createConfirmations(parts: {
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}): Confirmations {
  let open: readonly Open[] = [];
  return {
    issue(hash, count) {
      const token = Buffer.from(parts.randomBytes(TOKEN_BYTES)).toString('base64url');
      const expiresAt = parts.now() + GOOD_FOR_MS;
      // The oldest go first: nobody confirms that many deletes before the first of them.
      open = [...open, { mark: markOf(token), hash, count, expiresAt }].slice(-MOST);
      return { token, expiresAt: new Date(expiresAt).toISOString() };
    },
    redeem(token, hash) {
      const mark = markOf(token);
      const found = open.find((candidate) => timingSafeEqual(candidate.mark, mark));
      if (found === undefined) throw refused('the confirmation token is not known, or was used already');
      open = open.filter((other) => other !== found);
      if (parts.now() > found.expiresAt) throw refused('the confirmation token has expired');
      if (found.hash !== hash) {
        throw refused('the confirmation token is for another delete: its table, condition or values differ');
      }
      return found.count;
    },
  };
}

interface Open {
  readonly mark: Buffer;
  readonly hash: string;
  readonly count: number;
  readonly expiresAt: number;
}

const TOKEN_BYTES = 32;
const GOOD_FOR_MS = 5 * 60_000;
const MOST = 1000;

/** Hashes are of one length whatever was given, and tell nothing of the tokens. */
function markOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
