import { oneLine } from '@phasegate/core/model';
import type { HookSession } from '../../../runtime/ports.ts';

/** A session of a client in one line. */
export function sessionLine({ client, session, ring, lastAt, found }: HookSession): string {
  const line = `session ${client} ${oneLine(session)}: ring ${ring}, last heard of at ${lastAt}`;
  return found === null ? line : `${line}; found after the run had ended: ${oneLine(found)}`;
}

/** The same for programs. */
export function spelledSession({ client, session, run, ring, lastAt, found }: HookSession): object {
  return { client, session, run, ring, last_at: lastAt, ...(found === null ? {} : { found }) };
}
