import type { WorkflowPage as Page, PhaseRecord } from '@phasegate/wire/watching';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { ask } from '../api/ask.ts';
import { plainText } from '../parts/plainText.ts';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { Scope } from '../run/PhaseWork.tsx';
import { PhasePlots } from './PhasePlots.tsx';

const PhaseGraph = lazy(() =>
  import('../graph/PhaseGraph.tsx').then((found) => ({ default: found.PhaseGraph })),
);

/** One workflow: its graph, its phases, what is wrong with it, and how its runs fare. */
export function WorkflowPage() {
  const { workflow: id } = useParams({ from: '/workflows/$workflow' });
  const path = `/workflows/${encodeURIComponent(id)}`;
  const page = useQuery({
    queryKey: ['project', path],
    queryFn: ({ signal }) => ask<Page>(path, {}, signal),
  });
  const record = useQuery({
    queryKey: ['record', path],
    queryFn: ({ signal }) =>
      ask<{ readonly runs: number; readonly phases: readonly PhaseRecord[] }>(`${path}/record`, {}, signal),
  });
  if (page.error !== null) return <ProblemNote error={page.error} again={() => void page.refetch()} />;
  if (page.data === undefined) return <Waiting what="the workflow" />;
  const { title, description, format, path: file, nodes, edges } = page.data;
  return (
    <>
      <header className="head">
        <p className="small">
          <Link to="/workflows">Workflows</Link>{' '}
          <span className="soft">
            / <Words text={id} />
          </span>
        </p>
        <h1>
          <Words text={title} most={160} />
        </h1>
        <p className="row small soft">
          <span className="mono">
            <Words text={file} />
          </span>
          <Tag plain text={format} />
          <Link to="/" search={{ workflow: id }}>
            its runs
          </Link>
        </p>
        {description !== '' && (
          <p>
            <Words text={description} most={600} />
          </p>
        )}
      </header>
      <Problems page={page.data} />
      {nodes.length > 0 && (
        <section className="card" aria-label="The phases and how they lead to each other">
          <Suspense fallback={<Waiting what="the graph" />}>
            <PhaseGraph nodes={nodes} edges={edges} />
          </Suspense>
        </section>
      )}
      <section className="card stack" aria-labelledby="fare">
        <h2 id="fare">How its runs fare</h2>
        {record.error !== null && <ProblemNote error={record.error} again={() => void record.refetch()} />}
        {record.data === undefined && record.error === null && <Waiting what="the record" />}
        {record.data?.runs === 0 && <Empty title="It was never run" />}
        {record.data !== undefined && record.data.runs > 0 && (
          <PhasePlots runs={record.data.runs} phases={inOrder(record.data.phases, page.data)} />
        )}
      </section>
      <section className="stack" aria-label="Phases">
        {page.data.phases.map((phase) => (
          <article key={String(phase.id)} className="card stack tight">
            <header className="row spread">
              <h2>
                <Words text={phase.name} />
              </h2>
              <span className="row">
                {phase.human && <Tag tone="amber" text="a human decides" />}
                {phase.tasks > 0 && <Tag plain text={`${phase.tasks} tasks`} />}
              </span>
            </header>
            <Scope scope={phase} />
            {phase.evidence.length > 0 && (
              <p className="small soft">
                asks for <code>{plainText(phase.evidence.join(', '))}</code>
              </p>
            )}
          </article>
        ))}
      </section>
    </>
  );
}

function Problems({ page }: { readonly page: Page }) {
  if (page.unaccepted) {
    return (
      <p className="note" data-tone="amber">
        This workflow is code that no human has accepted, so it was read and not run. Look at it, then accept
        it with <code>{`phasegate trust ${page.id}`}</code>.
      </p>
    );
  }
  if (page.problems.length === 0) return null;
  return (
    <section className="note stack tight" data-tone="red" aria-label="Problems">
      <h2>{page.problems.length === 1 ? 'One problem' : `${page.problems.length} problems`}</h2>
      <ul className="stack tight">
        {page.problems.map(({ file, line, column, message }) => (
          <li key={`${file}:${line}:${column}:${message}`}>
            <code>{plainText(`${file}:${line}:${column}`)}</code> <Words text={message} most={500} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** As the workflow has them; those of older versions last. */
function inOrder(records: readonly PhaseRecord[], { phases }: Page): readonly PhaseRecord[] {
  const place = (phase: PhaseRecord['phase']) => {
    const at = phases.findIndex(({ id }) => id === phase);
    return at === -1 ? phases.length : at;
  };
  return [...records].sort((one, other) => place(one.phase) - place(other.phase));
}
