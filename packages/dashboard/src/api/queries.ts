import type { Run, RunPage, WorkflowLine } from '@phasegate/wire';
import type { RunCounts, RunGlances, RunMap } from '@phasegate/wire/watching';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';

import { askSession } from './session.ts';

/** Who is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => askSession(signal),
});

/** How many runs there are of each status. */
export const countsQuery = queryOptions({
  queryKey: ['counts'],
  queryFn: ({ signal }) => ask<RunCounts>('/state/counts', {}, signal),
});

/** Every workflow of the project. */
export const workflowsQuery = queryOptions({
  queryKey: ['project', 'workflows'],
  queryFn: ({ signal }) => ask<{ readonly workflows: readonly WorkflowLine[] }>('/workflows', {}, signal),
});

/** Which runs are listed. */
export interface RunFilter {
  readonly status?: string | undefined;
  readonly workflow?: string | undefined;
  readonly q?: string | undefined;
}

/** How many runs a page of the list has. */
export const RUNS_PER_PAGE = 100;

/** One page of the list of runs. */
export function runsQuery(filter: RunFilter, page: number) {
  const { status, workflow, q } = filter;
  return queryOptions({
    queryKey: ['runs', filter, page],
    queryFn: ({ signal }) =>
      ask<RunPage>(
        '/runs',
        { status, workflow, search: q, limit: RUNS_PER_PAGE, offset: page * RUNS_PER_PAGE },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
}

/** What the list says of runs beside their lines. */
export function glanceQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['runs', 'glance', ids],
    queryFn: ({ signal }) => ask<RunGlances>('/state/runs', { ids: ids.join('\n') }, signal),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** One run. */
export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id, 'view'],
    queryFn: ({ signal }) => ask<Run>(`/runs/${encodeURIComponent(id)}`, {}, signal),
  });
}

/** A run's way through its workflow. */
export function mapQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id, 'map'],
    queryFn: ({ signal }) => ask<RunMap>(`/runs/${encodeURIComponent(id)}/map`, {}, signal),
  });
}
