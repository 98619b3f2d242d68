import type { Run } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { runQuery } from '../api/queries.ts';
import { Overridden, OverriddenTag } from '../parts/Overridden.tsx';
import { Words } from '../parts/Said.tsx';
import { Status } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { AnswerQuestions } from './AnswerQuestions.tsx';
import { BreakGlass } from './BreakGlass.tsx';
import { DecideGate } from './DecideGate.tsx';
import { ResumeRun } from './ResumeRun.tsx';
import { SettleFence } from './SettleFence.tsx';
import { StopRun } from './StopRun.tsx';

/** What a human can do about one run, whatever it waits with. */
export function DecisionPage() {
  const { run: id } = useParams({ from: '/decisions/$run' });
  const run = useQuery(runQuery(id));
  if (run.error !== null) return <ProblemNote error={run.error} again={() => void run.refetch()} />;
  if (run.data === undefined) return <Waiting what="the decision" />;
  const about = run.data.goal ?? run.data.target;
  return (
    <>
      <header className="head">
        <p className="small">
          <Link to="/decisions">Decisions</Link>{' '}
          <span className="soft">
            / <Words text={run.data.workflow} /> /{' '}
            <Link to="/runs/$run" params={{ run: id }}>
              run <span className="mono">{id}</span>
            </Link>
          </span>
        </p>
        <h1>{about === null ? `Run ${id}` : <Words text={about} most={160} />}</h1>
        <div className="row">
          <Status status={run.data.status} />
          <OverriddenTag times={run.data.overrides?.length} />
          {run.data.phase !== null && (
            <span className="small soft">
              phase <Words text={String(run.data.phase)} />
            </span>
          )}
        </div>
      </header>
      <Overridden overrides={run.data.overrides} />
      <Waits run={run.data} />
    </>
  );
}

/** Keyed by what is waited with: what was typed for one decision must not be there at the next. */
function Waits({ run }: { readonly run: Run }) {
  if (run.phase === null) {
    return (
      <div className="card">
        <Empty title="The run has ended">
          <p>There is nothing to decide any more.</p>
          <Link to="/decisions" className="button">
            What else waits
          </Link>
        </Empty>
      </div>
    );
  }
  if (run.gate !== null) return <DecideGate key={run.gate.id} run={run} gate={run.gate} />;
  return (
    <div className="columns">
      <div className="stack">
        {run.status === 'waiting' && <AnswerQuestions key={run.epoch} run={run} />}
        {run.escalation !== null && <ResumeRun run={run} escalation={run.escalation} />}
        {(run.violations ?? []).length > 0 && <SettleFence run={run} />}
        {run.status === 'active' && (run.violations ?? []).length === 0 && (
          <div className="card">
            <Empty title="Nothing waits for you here">
              <p>The agent is at work.</p>
              <Link to="/decisions" className="button">
                What else waits
              </Link>
            </Empty>
          </div>
        )}
      </div>
      <div className="stack">
        <StopRun run={run.run} />
        <BreakGlass run={run} />
      </div>
    </div>
  );
}
