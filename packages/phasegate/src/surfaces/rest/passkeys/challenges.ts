import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Numbers that passkeys are challenged with. Each is good once, for one session and purpose, for three minutes. */
export interface Challenges {
  make(session: string, purpose: Purpose): string;
  /** Whether it was good; from now on it is not. */
  spend(session: string, purpose: Purpose, nonce: string): boolean;
}

/** What a challenge is for. */
export type Purpose = 'act' | 'register';

/**
 * The challenges of one server; a restart forgets them, and the sessions with them. Each says by itself whose it is and
 * until when, under a key of this process, so nothing is kept of those that are made: nobody who asks for many takes
 * one away from somebody else. What is kept are those that were spent.
 */
export function createChallenges({ now }: { readonly now: () => number }): Challenges {
  const key = randomBytes(32);
  const spent = new Map<string, Map<string, number>>();
  const sumOf = (head: Buffer, session: string, purpose: Purpose) =>
    createHmac('sha256', key).update(`${purpose}\0${session}\0`).update(head).digest().subarray(0, SUM_BYTES);

  /** Those of a session that are not over yet; sessions without any are forgotten. */
  function spentIn(session: string): Map<string, number> {
    for (const [name, nonces] of spent) {
      for (const [nonce, until] of nonces) if (now() >= until) nonces.delete(nonce);
      if (nonces.size === 0) spent.delete(name);
    }
    const own = spent.get(session) ?? new Map<string, number>();
    spent.set(session, own);
    return own;
  }

  return {
    make(session, purpose) {
      const head = randomBytes(HEAD_BYTES);
      head.writeUIntBE(Math.floor(now()) + LIFE, 0, TIME_BYTES);
      return Buffer.concat([head, sumOf(head, session, purpose)]).toString('base64url');
    },
    spend(session, purpose, nonce) {
      const bytes = Buffer.from(nonce, 'base64url');
      // One spelling for each: another would be another entry among the spent.
      if (bytes.length !== HEAD_BYTES + SUM_BYTES || bytes.toString('base64url') !== nonce) return false;
      const head = bytes.subarray(0, HEAD_BYTES);
      if (!timingSafeEqual(bytes.subarray(HEAD_BYTES), sumOf(head, session, purpose))) return false;
      const until = head.readUIntBE(0, TIME_BYTES);
      const own = spentIn(session);
      if (now() >= until || own.has(nonce) || own.size >= MOST) return false;
      own.set(nonce, until);
      return true;
    },
  };
}

/** So many acts of one session within the life of a challenge; there are at most 64 sessions. */
const MOST = 1_000;
const LIFE = 3 * 60_000;
const TIME_BYTES = 6;
const HEAD_BYTES = TIME_BYTES + 18;
const SUM_BYTES = 16;
