import { RUN_STATUSES } from '@phasegate/core/contract';
import type { RunFilter } from '../api/queries.ts';

/** What an address says of the list; anything else in it says nothing. */
export function filterFrom(search: Readonly<Record<string, unknown>>): RunFilter {
  const text = (value: unknown) =>
    typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
  return {
    status: RUN_STATUSES.find((status) => status === search.status),
    workflow: text(search.workflow),
    q: text(search.q),
  };
}
