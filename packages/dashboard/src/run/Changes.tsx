import type { FenceDiff, FenceState, Run } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { ask, Problem } from '../api/ask.ts';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';

const DiffText = lazy(() => import('../diff/DiffText.tsx').then((found) => ({ default: found.DiffText })));

/** What was changed in the workspace since the phase was entered, held against what it may write. */
export function Changes({ run }: { readonly run: Pick<Run, 'run' | 'phase'> }) {
  const path = `/runs/${encodeURIComponent(run.run)}/fence`;
  const ended = run.phase === null;
  const fence = useQuery({
    queryKey: ['run', run.run, 'fence'],
    queryFn: ({ signal }) => ask<FenceState>(path, {}, signal),
    enabled: !ended,
  });
  const outside = fence.data?.outside ?? [];
  const diff = useQuery({
    queryKey: ['run', run.run, 'fence', 'diff', fence.data?.shown],
    queryFn: ({ signal }) => ask<FenceDiff>(`${path}/diff`, {}, signal),
    enabled: outside.length > 0,
  });
  if (ended) {
    return (
      <Empty title="The run has ended">
        <p>The workspace is compared while a phase is worked on.</p>
      </Empty>
    );
  }
  if (fence.error instanceof Problem && fence.error.code === 'fence_failed') {
    return (
      <Empty title="Nothing can be compared here">
        <p>{fence.error.message}</p>
      </Empty>
    );
  }
  if (fence.error !== null) return <ProblemNote error={fence.error} again={() => void fence.refetch()} />;
  if (fence.data === undefined) return <Waiting what="what was changed" />;
  const { writes, problem, inside, noticed, notes } = fence.data;
  return (
    <div className="stack">
      <section className="card stack tight" aria-label="Changes against the scope">
        {problem !== null && (
          <p className="note" data-tone="red">
            <Words text={problem} />
          </p>
        )}
        <p className="row">
          <Tag tone={outside.length === 0 ? 'green' : 'red'} text={`${outside.length} outside the scope`} />
          <Tag tone="grey" text={`${inside} inside`} />
          <span className="soft small">
            {writes.length === 0
              ? 'this phase may write nothing'
              : `this phase may write ${writes.join(', ')}`}
          </span>
        </p>
        <PathList paths={outside} />
        {noticed.length > 0 && (
          <>
            <h3>On record, and not in the way</h3>
            <PathList paths={noticed} />
          </>
        )}
        {notes.map((note) => (
          <p key={note} className="small soft">
            <Words text={note} />
          </p>
        ))}
      </section>
      {diff.data !== undefined && (
        <section className="card" aria-labelledby="diff">
          <h2 id="diff">How they differ</h2>
          <Suspense fallback={<Waiting what="the difference" />}>
            <DiffText text={diff.data.diff} />
          </Suspense>
          {diff.data.truncated && (
            <p className="small soft">There is more; `phasegate fence RUN --diff` has all of it.</p>
          )}
        </section>
      )}
    </div>
  );
}

/** Paths with what became of each. */
export function PathList({ paths }: { readonly paths: FenceState['outside'] }) {
  return (
    <ul className="stack tight">
      {paths.map(({ path, how, by }) => (
        <li key={path} className="row">
          <Tag tone={how === 'removed' ? 'red' : how === 'added' ? 'green' : 'amber'} text={how} />
          <span className="mono">
            <Words text={path} />
          </span>
          {by !== null && (
            <span className="small soft">
              by <Words text={by} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
