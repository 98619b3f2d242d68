import type { AuditFound } from '@phasegate/wire';

/** Which records are wanted. */
export interface RecordFilter {
  readonly run?: string | undefined;
  /** Names of events, separated by commas. */
  readonly event?: string | undefined;
  readonly principal?: string | undefined;
  readonly search?: string | undefined;
}

/** Whether a record is one of them, by the rules of the server. */
export function recordFits(record: AuditFound['records'][number], filter: RecordFilter): boolean {
  const { run, event, principal, search } = filter;
  if (run !== undefined && record.run !== run) return false;
  if (event !== undefined && !event.split(',').includes(record.event)) return false;
  if (principal !== undefined && record.principal !== principal) return false;
  if (search === undefined) return true;
  const text = `${record.run} ${record.principal} ${record.event} ${JSON.stringify(record.data)}`;
  return text.toLowerCase().includes(search.toLowerCase());
}
