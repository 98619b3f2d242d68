import { randomBytes } from 'node:crypto';

/** Numbers that passkeys are challenged with. Each is good once, for one session and purpose, for three minutes. */
export interface Challenges {
  make(session: string, purpose: Purpose): string;
  /** Whether it was good; from now on it is not. */
  spend(session: string, purpose: Purpose, nonce: string): boolean;
}

/** What a challenge is for. */
export type Purpose = 'act' | 'register';

/** The challenges of one server, in memory only: a restart forgets them, and the sessions with them. */
export function createChallenges({ now }: { readonly now: () => number }): Challenges {
  const made = new Map<string, Entry>();

  /** A session that asks for many forgets its own oldest, and nobody else's. */
  function makeRoom(session: string): void {
    const own = [...made].filter(([nonce, entry]) => {
      if (now() >= entry.until) made.delete(nonce);
      return now() < entry.until && entry.session === session;
    });
    for (const [nonce] of own.slice(0, Math.max(0, own.length - MOST + 1))) made.delete(nonce);
  }

  return {
    make(session, purpose) {
      makeRoom(session);
      const nonce = randomBytes(24).toString('base64url');
      made.set(nonce, { session, purpose, until: now() + LIFE });
      return nonce;
    },
    spend(session, purpose, nonce) {
      const entry = made.get(nonce);
      if (entry === undefined || entry.session !== session) return false;
      made.delete(nonce);
      return entry.purpose === purpose && now() < entry.until;
    },
  };
}

/** For each session; there are at most 64 of those. */
const MOST = 16;
const LIFE = 3 * 60_000;

interface Entry {
  readonly session: string;
  readonly purpose: Purpose;
  readonly until: number;
}
