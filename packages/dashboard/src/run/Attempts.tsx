import type { Run } from '@phasegate/wire';
import { Age } from '../parts/Age.tsx';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { describeRecord } from '../records/describeRecord.ts';
import { keyOf, useRecordList } from '../records/useRecordList.ts';

const MOST = 20;

/** Every attempt at the phases of a run that was refused, the newest first, with what its agent was told. */
export function Attempts({ run }: { readonly run: Pick<Run, 'run'> }) {
  const { records, pages } = useRecordList({ run: run.run, event: 'phase_refused' });
  if (records.length === 0) return null;
  const more = records.length - MOST;
  return (
    <details className="stack tight">
      <summary>{`Refused attempts: ${records.length}${pages.hasNextPage ? ' or more' : ''}`}</summary>
      <ol className="stack tight">
        {records.slice(0, MOST).map((record) => {
          const { title, detail } = describeRecord(record);
          return (
            <li key={keyOf(record)} className="stack tight">
              <span className="row small">
                <Tag tone="red" text="refused" />
                <Words text={title} />
                <span className="soft">
                  by <Words text={record.principal} />, <Age at={record.time} />
                </span>
              </span>
              {detail !== null && (
                <span className="small soft">
                  <Words text={detail} most={600} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {more > 0 && <p className="small soft">{`${more} more are on the timeline.`}</p>}
    </details>
  );
}
