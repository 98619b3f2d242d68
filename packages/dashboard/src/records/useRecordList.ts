import type { AuditFound } from '@phasegate/wire';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { ask } from '../api/ask.ts';
import { useRecords } from '../frame/live.tsx';
import { type RecordFilter, recordFits } from './recordFits.ts';

/** A record of the audit as it is listed. */
export type ListedRecord = AuditFound['records'][number];

/** Records, newest first: those that were there, page by page, and those that come while one looks. */
export function useRecordList(filter: RecordFilter, follow = true) {
  const [arrived, setArrived] = useState<readonly ListedRecord[]>([]);
  const { run, event, principal, search } = filter;
  const key = [run, event, principal, search].join('\n');
  const pages = useInfiniteQuery({
    queryKey: ['records', run, event, principal, search],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }) => {
      const found = await ask<AuditFound>(
        '/audit/search',
        {
          run,
          event,
          principal,
          search,
          before: pageParam || undefined,
          limit: pageParam === 0 ? FIRST_PAGE : PAGE,
        },
        signal,
      );
      return found;
    },
    getNextPageParam: ({ next_before }) => next_before,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  useRecords(
    useCallback(
      (record: ListedRecord) => {
        const wanted: RecordFilter = { ...fromKey(key) };
        if (follow && recordFits(record, wanted))
          setArrived((before) => [record, ...before].slice(0, MOST_ARRIVED));
      },
      [key, follow],
    ),
  );
  const known = pages.data?.pages.flatMap(({ records }) => records) ?? [];
  const seen = new Set(known.map(keyOf));
  const wanted = fromKey(key);
  const fresh = arrived.filter((record) => !seen.has(keyOf(record)) && recordFits(record, wanted));
  const searched = pages.data?.pages.reduce((sum, page) => sum + page.searched, 0) ?? 0;
  return { pages, records: [...fresh, ...known], fresh: fresh.length, searched };
}

/** More than a screen shows: what is seen first does not wait for what is not. */
const FIRST_PAGE = 50;
const PAGE = 200;
const MOST_ARRIVED = 2000;

function fromKey(key: string): RecordFilter {
  const [run, event, principal, search] = key.split('\n').map((text) => (text === '' ? undefined : text));
  return { run, event, principal, search };
}

/** Tells records apart. */
export function keyOf({ run, seq }: ListedRecord): string {
  return `${run ?? ''} ${seq}`;
}
