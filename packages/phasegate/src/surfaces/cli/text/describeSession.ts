import { oneLine } from '@phasegate/core/model';
import type { HookReports, HookSession } from '../../../runtime/ports.ts';

/** A session of a client, with what it reported of its calls. */
export interface ReportingSession extends HookSession {
  readonly calls: HookReports;
}

/** It in one line. */
export function sessionLine({ client, session, ring, lastAt, found, calls }: ReportingSession): string {
  const line = `session ${client} ${oneLine(session)}: ring ${ring}, last heard of at ${lastAt}${callsOf(calls)}`;
  return found === null ? line : `${line}; found after the run had ended: ${oneLine(found)}`;
}

/** The same for programs. */
export function spelledSession({
  client,
  session,
  run,
  ring,
  lastAt,
  found,
  calls,
}: ReportingSession): object {
  return { client, session, run, ring, last_at: lastAt, calls, ...(found === null ? {} : { found }) };
}

function callsOf({ observed, claimed }: HookReports): string {
  if (observed + claimed === 0) return '';
  return `; of its calls ${observed} observed (run by \`phasegate exec\`, with a receipt), ${claimed} claimed`;
}
