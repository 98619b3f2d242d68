import type { FenceDiff, FenceState, Run } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { ask, Problem } from '../api/ask.ts';
import { filesFromGit } from '../diff/fileDiff.ts';
import { plainText } from '../parts/plainText.ts';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';

const DiffFiles = lazy(() => import('../diff/DiffFiles.tsx').then((found) => ({ default: found.DiffFiles })));

/** What was changed in the workspace since the phase was entered, held against what it may write. */
export function Changes({
  run,
  which = 'all',
}: {
  readonly run: Pick<Run, 'run' | 'phase' | 'gate'>;
  /** What is shown line by line: all that changed, or what is outside the scope. */
  readonly which?: 'all' | 'outside';
}) {
  const path = `/runs/${encodeURIComponent(run.run)}/fence`;
  const ended = run.phase === null;
  const fence = useQuery({
    queryKey: ['run', run.run, 'fence'],
    queryFn: ({ signal }) => ask<FenceState>(path, {}, signal),
    enabled: !ended,
  });
  const outside = fence.data?.outside ?? [];
  const changed = outside.length + (which === 'outside' ? 0 : (fence.data?.inside ?? 0));
  const diff = useQuery({
    queryKey: ['run', run.run, 'fence', 'diff', which],
    queryFn: ({ signal }) =>
      ask<FenceDiff>(`${path}/diff`, which === 'outside' ? {} : { paths: '.' }, signal),
    enabled: changed > 0,
  });
  const { notes: untold, files } = useMemo(() => filesFromGit(diff.data?.diff ?? ''), [diff.data]);
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
  const { writes, problem, inside, noticed, notes, more } = fence.data;
  const beyond = new Set(outside.map((one) => one.path));
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
              : plainText(`this phase may write ${writes.join(', ')}`)}
          </span>
        </p>
        <PathList paths={outside} />
        {more > 0 && (
          <p className="small soft">{`And ${more.toLocaleString('en')} more outside the scope.`}</p>
        )}
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
      {diff.error !== null && <ProblemNote error={diff.error} again={() => void diff.refetch()} />}
      {diff.data !== undefined && (
        <section className="card stack" aria-labelledby="diff">
          <h2 id="diff">{run.gate === null ? 'How they differ' : 'How they differ now'}</h2>
          {run.gate !== null && (
            <p className="small soft">
              This is the workspace as it is now. What is approved at the gate is what was measured when it
              opened: <GateLink run={run.run} />
            </p>
          )}
          {untold.map((note) => (
            <p key={note} className="small soft">
              <Words text={note} />
            </p>
          ))}
          <Suspense fallback={<Waiting what="the difference" />}>
            <DiffFiles files={files.map((file) => ({ ...file, outside: beyond.has(file.path) }))} />
          </Suspense>
          {diff.data.truncated && (
            <p className="small soft">
              There is more: <code>{`phasegate fence ${run.run} --diff`}</code> has all of it.
            </p>
          )}
        </section>
      )}
    </div>
  );
}

function GateLink({ run }: { readonly run: string }) {
  return (
    <Link to="/decisions/$run" params={{ run }}>
      what is to be decided
    </Link>
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
