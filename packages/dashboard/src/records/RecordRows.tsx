import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { Age } from '../parts/Age.tsx';
import { Coded, Said, Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { describeRecord } from './describeRecord.ts';
import { keyOf, type ListedRecord } from './useRecordList.ts';

/** Records one below the other, as many as fit the screen; each can be opened. */
export function RecordRows({
  records,
  more,
  showRun,
}: {
  readonly records: readonly ListedRecord[];
  /** Asks for what comes behind the last; null where that is all. */
  readonly more: (() => void) | null;
  readonly showRun: boolean;
}) {
  const body = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const rows = useVirtualizer({
    count: records.length,
    getScrollElement: () => body.current,
    estimateSize: () => 58,
    getItemKey: (index) => keyOf(records[index] as ListedRecord),
    overscan: 12,
  });
  const items = rows.getVirtualItems();
  const atEnd = (items.at(-1)?.index ?? -1) >= records.length - 5;
  useEffect(() => {
    if (atEnd) more?.();
  }, [atEnd, more]);
  const toggle = (key: string) =>
    setOpened(
      (before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key]),
    );
  return (
    <section ref={body} className="grid-body records" aria-label="Records, newest first">
      <div style={{ height: rows.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const record = records[index] as ListedRecord;
          return (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className="record"
              style={{ transform: `translateY(${start}px)` }}
            >
              <RecordRow
                record={record}
                showRun={showRun}
                open={opened.has(keyOf(record))}
                toggle={() => toggle(keyOf(record))}
              />
            </div>
          );
        })}
      </div>
    </section>
  );
}

function RecordRow({
  record,
  showRun,
  open,
  toggle,
}: {
  readonly record: ListedRecord;
  readonly showRun: boolean;
  readonly open: boolean;
  readonly toggle: () => void;
}) {
  const { title, tone, detail } = describeRecord(record);
  return (
    <>
      <div className="row spread nowrap">
        <span className="row">
          <Tag tone={tone} text={record.event.replaceAll('_', ' ')} />
          <strong>
            <Words text={title} most={160} />
          </strong>
          <span className="small soft">
            <Words text={record.principal} />
          </span>
          {showRun && record.run !== null && (
            <Link to="/runs/$run" params={{ run: record.run }} className="mono small">
              {record.run}
            </Link>
          )}
        </span>
        <span className="row nowrap small soft">
          <Age at={record.time} />
          <button type="button" className="chip" aria-expanded={open} onClick={toggle}>
            {open ? 'Less' : 'More'}
            <span className="unseen"> of record {record.seq}</span>
          </button>
        </span>
      </div>
      {detail !== null && detail !== '' && (
        <p className="small detail">
          <Coded text={detail} most={240} />
        </p>
      )}
      {open && (
        <div className="stack tight">
          <Said text={JSON.stringify(record.data, null, 2)} />
          <p className="small soft mono">{`record ${record.seq}, ${record.time}, hash ${record.hash.slice(0, 16)}…`}</p>
        </div>
      )}
    </>
  );
}
