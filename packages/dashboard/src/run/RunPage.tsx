import type { Run } from '@phasegate/wire';
import type { RunMap } from '@phasegate/wire/watching';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Problem } from '../api/ask.ts';
import { mapQuery, runQuery } from '../api/queries.ts';
import { Age } from '../parts/Age.tsx';
import { Overridden, OverriddenTag } from '../parts/Overridden.tsx';
import { Said, Words } from '../parts/Said.tsx';
import { Status, Tag } from '../parts/Status.tsx';
import { Tabs } from '../parts/Tabs.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { Changes } from './Changes.tsx';
import { Evidence } from './Evidence.tsx';
import { Needed } from './Needed.tsx';
import { PhaseWork } from './PhaseWork.tsx';
import { Timeline } from './Timeline.tsx';

const PhaseGraph = lazy(() =>
  import('../graph/PhaseGraph.tsx').then((found) => ({ default: found.PhaseGraph })),
);

const TABS = ['Overview', 'Evidence', 'Timeline', 'Tool calls', 'Changes'] as const;

/** All there is to see of one run. */
export function RunPage() {
  const { run: id } = useParams({ from: '/runs/$run' });
  // Of another run nothing is open that was open of this one.
  return <OneRun key={id} id={id} />;
}

function OneRun({ id }: { readonly id: string }) {
  const run = useQuery(runQuery(id));
  const [tab, setTab] = useState<(typeof TABS)[number]>('Overview');
  if (run.error !== null) return <NoRun id={id} error={run.error} again={() => void run.refetch()} />;
  if (run.data === undefined) return <Waiting what="the run" />;
  return (
    <>
      <Head run={run.data} />
      <Overridden overrides={run.data.overrides} />
      <Needed run={run.data} />
      <Tabs names={TABS} chosen={tab} choose={setTab}>
        {tab === 'Overview' && <Overview run={run.data} />}
        {tab === 'Evidence' && <Evidence id={id} />}
        {tab === 'Timeline' && <Timeline key="all" run={id} />}
        {tab === 'Tool calls' && <Timeline key="calls" run={id} events={CALLS} />}
        {tab === 'Changes' && <Changes run={run.data} />}
      </Tabs>
    </>
  );
}

const CALLS = 'tool_judged,tool_executed,hook_reported,hook_forged';

function Head({ run }: { readonly run: Run }) {
  const about = run.goal ?? run.target;
  return (
    <header className="head">
      <p className="small">
        <Link to="/">Runs</Link>{' '}
        <span className="soft">
          / <Words text={run.workflow} />
        </span>
      </p>
      <h1>{about === null ? `Run ${run.run}` : <Words text={about} most={160} />}</h1>
      <div className="row">
        <Status status={run.status} />
        <OverriddenTag times={run.overrides?.length} />
        <span className="mono small">{run.run}</span>
        {run.goal_by !== undefined && (
          <span className="small soft">
            goal by <Words text={run.goal_by} />
          </span>
        )}
        {!run.trusted && <Tag tone="amber" text="workflow accepted by nobody" />}
        {run.mode === 'permissive' && <Tag tone="amber" text="permissive: nothing is blocked" />}
      </div>
    </header>
  );
}

function Overview({ run }: { readonly run: Run }) {
  const map = useQuery(mapQuery(run.run));
  const marks = useMemo(() => marksOf(run, map.data), [run, map.data]);
  return (
    <div className="stack">
      <section className="card" aria-label="Phases">
        {map.error !== null && <ProblemNote error={map.error} again={() => void map.refetch()} />}
        {map.data === undefined ? (
          <Waiting what="the phases" />
        ) : (
          <Suspense fallback={<Waiting what="the graph" />}>
            <PhaseGraph nodes={map.data.nodes} edges={map.data.edges} marks={marks} />
          </Suspense>
        )}
      </section>
      <div className="columns">
        <PhaseWork run={run} map={map.data} />
        <Facts run={run} />
      </div>
    </div>
  );
}

/** What the phase a run is in has come to: its items, or what stands in its way. */
function marksOf(run: Run, map: RunMap | undefined): ReadonlyMap<string | number, string> {
  if (run.phase === null) return new Map();
  const items = map?.items ?? [];
  const done = items.filter(({ status }) => status === 'completed').length;
  const words = [
    ...(items.length === 0 ? [] : [`${done} of ${items.length} items`]),
    ...(run.attempts === 0 ? [] : [`refused ${run.attempts === 1 ? 'once' : `${run.attempts} times`}`]),
    ...((run.violations ?? []).length === 0 ? [] : ['fence']),
  ];
  return words.length === 0 ? new Map() : new Map([[run.phase, words.join(', ')]]);
}

function Facts({ run }: { readonly run: Run }) {
  const { completed, total } = run.progress;
  return (
    <section className="card" aria-labelledby="facts">
      <h2 id="facts">About this run</h2>
      <dl className="facts">
        <dt>Workflow</dt>
        <dd>
          <Link to="/workflows/$workflow" params={{ workflow: run.workflow }}>
            <Words text={run.title} />
          </Link>
        </dd>
        {run.target !== null && (
          <>
            <dt>Target</dt>
            <dd>
              <Words text={run.target} />
            </dd>
          </>
        )}
        <dt>Agent</dt>
        <dd>{run.holder === null ? 'nobody holds it' : <Words text={run.holder} />}</dd>
        <dt>Ring</dt>
        <dd>{RINGS[run.ring] ?? run.ring}</dd>
        <dt>Progress</dt>
        <dd>{`${completed} of ${total} phases`}</dd>
        <dt>Started</dt>
        <dd>
          <Age at={run.started_at} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Age at={run.updated_at} />
        </dd>
        {run.folder !== undefined && (
          <>
            <dt>Folder</dt>
            <dd className="mono">
              <Words text={run.folder} />
            </dd>
          </>
        )}
      </dl>
      {Object.keys(run.params).length > 0 && (
        <details>
          <summary>Parameters</summary>
          <Said text={JSON.stringify(run.params, null, 2)} />
        </details>
      )}
    </section>
  );
}

const RINGS: Readonly<Record<string, string>> = {
  served: 'served: held in what Phasegate serves',
  hooked: 'hooked: its client asks before each tool',
  sandboxed: 'sandboxed: behind walls of the system',
  isolated: 'isolated: the engine is another user',
};

function NoRun({
  id,
  error,
  again,
}: {
  readonly id: string;
  readonly error: unknown;
  readonly again: () => void;
}) {
  if (error instanceof Problem && error.code === 'run_archived') {
    return (
      <Empty page title="This run was archived">
        <p>
          <Words text={error.message} most={600} />
        </p>
        <p className="soft">{error.hint}</p>
        <Link to="/" className="button">
          All runs
        </Link>
      </Empty>
    );
  }
  if (!(error instanceof Problem) || error.status !== 404) return <ProblemNote error={error} again={again} />;
  return (
    <Empty page title="There is no such run">
      <p>
        No run of this project is called <code>{id.slice(0, 80)}</code>. It may have been archived, or its
        address was cut.
      </p>
      <p className="soft">{error.hint ?? error.message}</p>
      <Link to="/" className="button">
        All runs
      </Link>
    </Empty>
  );
}
