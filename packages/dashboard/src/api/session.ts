import { ask } from './ask.ts';

/** Who is signed in here. */
export interface Session {
  readonly name: string;
  readonly can_decide: boolean;
  readonly asks_passphrase: boolean;
  readonly expires_at: string;
  readonly role?: Role;
}

/** What a human may do. */
export type Role = 'viewer' | 'approver' | 'admin';

/** Asks who is signed in. */
export function askSession(signal?: AbortSignal): Promise<Session> {
  return ask<Session>('/session', {}, signal);
}
