import { checkCredential } from './hold.ts';

/** What a human's calls are made with. */
export interface Session {
  /** Null where the browser's cookie speaks for the human: no bearer may go with it. */
  bearer(): string | null;
  /** Takes the session an answer opened. */
  open(headers: Headers): void;
  close(): void;
}

/** Keeps a human's session in memory, where cookies are not kept by the platform. */
export function createSession(key: string | null): Session {
  let bearer = key;
  return {
    bearer: () => bearer,
    open(headers) {
      // A browser hides the cookie from programs and sends it by itself.
      const cookie = headers.getSetCookie?.().find((line) => line.startsWith(`${COOKIE}=`));
      const secret = cookie?.slice(COOKIE.length + 1).split(';')[0];
      bearer = secret === undefined ? null : checkCredential(secret, 'session');
    },
    close() {
      bearer = key;
    },
  };
}

const COOKIE = 'phasegate_session';
