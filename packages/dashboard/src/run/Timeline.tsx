import { useCallback } from 'react';
import { addressOf } from '../api/ask.ts';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { RecordRows } from '../records/RecordRows.tsx';
import { useRecordList } from '../records/useRecordList.ts';

/** What happened to a run, newest first and as it happens; or only some kinds of events. */
export function Timeline({ run, events }: { readonly run: string; readonly events?: string }) {
  const { pages, records } = useRecordList({ run, event: events });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  if (pages.error !== null) return <ProblemNote error={pages.error} again={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Waiting what="what happened" />;
  if (records.length === 0) {
    return events === undefined ? (
      <Empty title="Nothing has happened yet" />
    ) : (
      <Empty title="No tool call was judged yet">
        <p>Calls that go through Phasegate, or that a client asks about by its hooks, are listed here.</p>
      </Empty>
    );
  }
  return (
    <div className="stack tight">
      <p className="row small soft">
        Newest first.
        <a href={addressOf('/audit/export', { run })} download>
          Take the record of this run along
        </a>
      </p>
      <div className="card grid">
        <RecordRows records={records} more={hasNextPage ? more : null} showRun={false} />
      </div>
    </div>
  );
}
