import type { Inbox } from '@phasegate/wire/watching';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask } from './ask.ts';

/** So many pages are asked for without being told to. */
const BY_ITSELF = 10;

/** All that waits for a human, the oldest first: page by page, the first one only unless the rest is wanted. */
export function useInbox({ all }: { readonly all: boolean }) {
  const pages = useInfiniteQuery({
    queryKey: ['inbox'],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => ask<Inbox>('/state/inbox', { skip: pageParam || undefined }, signal),
    getNextPageParam: ({ next_skip }) => next_skip,
  });
  const { hasNextPage, isFetching, fetchNextPage, isError } = pages;
  const goesOn = all && hasNextPage && !isFetching && !isError && (pages.data?.pages.length ?? 0) < BY_ITSELF;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  // A run that moves between two answers may be in both.
  const items = [
    ...new Map(
      pages.data?.pages.flatMap((page) => page.items.map((item) => [item.run, item] as const)),
    ).values(),
  ];
  return { pages, items };
}
