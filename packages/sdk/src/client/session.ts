import { checkCredential } from './hold.ts';

/** What a human's calls are made with. */
export interface Session {
  /** Null before anybody signed in. */
  bearer(): string | null;
  /** Takes the session that signing in opened. */
  open(secret: string): void;
  close(): void;
}

/** Keeps a human's session in memory, in a browser too: nothing sends it by itself, so it may act. */
export function createSession(key: string | null): Session {
  let bearer = key;
  return {
    bearer: () => bearer,
    open(secret) {
      bearer = checkCredential(secret, 'session');
    },
    close() {
      bearer = key;
    },
  };
}
