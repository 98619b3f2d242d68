import { oneLine } from '@phasegate/core/model';
import type { HookSession } from '../../../runtime/ports.ts';

/** A session of a client in one line. */
export function sessionLine({ client, session, ring, lastAt }: HookSession): string {
  return `session ${client} ${oneLine(session)}: ring ${ring}, last heard of at ${lastAt}`;
}

/** The same for programs. */
export function spelledSession({ client, session, run, ring, lastAt }: HookSession): object {
  return { client, session, run, ring, last_at: lastAt };
}
