import type { Run } from '@phasegate/wire';
import type { RunMap } from '@phasegate/wire/watching';
import { Age } from '../parts/Age.tsx';
import { plainText } from '../parts/plainText.ts';
import { Said, Words } from '../parts/Said.tsx';
import { OutcomeTag, Tag } from '../parts/Status.tsx';
import { Attempts } from './Attempts.tsx';
import { EvidenceClass } from './EvidenceClass.tsx';

/** The phase a run is in: attempts and feedback, tasks, items, what it may use and write. */
export function PhaseWork({ run, map }: { readonly run: Run; readonly map: RunMap | undefined }) {
  if (run.phase === null) return <Ended run={run} map={map} />;
  const node = map?.nodes.find(({ id }) => id === run.phase);
  return (
    <section className="card stack" aria-labelledby="phase">
      <header className="row spread">
        <h2 id="phase">
          {'Phase '}
          <Words text={run.phase_name ?? String(run.phase)} />
        </h2>
        <span className="row">
          {node !== undefined && node.visits > 1 && <Tag plain text={`visit ${node.visits}`} />}
          {run.attempts > 0 && (
            <Tag tone="red" text={`${run.attempts} failed ${run.attempts === 1 ? 'attempt' : 'attempts'}`} />
          )}
        </span>
      </header>
      {run.feedback !== null && (
        <div className="stack tight">
          <h3>Why the last attempt failed</h3>
          <Said text={run.feedback} />
        </div>
      )}
      <Attempts run={run} />
      {map?.note != null && (
        <div className="stack tight">
          <h3>A human wrote to the agent</h3>
          <Said text={map.note} />
        </div>
      )}
      {map !== undefined && map.tasks.length > 0 && <TaskList tasks={map.tasks} />}
      {map !== undefined && map.items.length > 0 && <ItemTable items={map.items} />}
      {node !== undefined && node.checks.length > 0 && <CheckList node={node} />}
      {map?.scope != null && <Scope scope={map.scope} />}
      {run.phase_content !== undefined && (
        <details>
          <summary>What the agent is told to do</summary>
          <Said text={run.phase_content} />
        </details>
      )}
    </section>
  );
}

function Ended({ run, map }: { readonly run: Run; readonly map: RunMap | undefined }) {
  return (
    <section className="card stack" aria-labelledby="path">
      <h2 id="path">The way it took</h2>
      <ol className="stack tight">
        {map?.completions.map(({ phase, visit, outcome, by, at, approved }) => (
          <li key={`${phase} ${visit}`} className="row">
            <OutcomeTag outcome={outcome} />
            <strong>
              <Words text={String(phase)} />
            </strong>
            {visit > 1 && <span className="small soft">{`visit ${visit}`}</span>}
            <span className="small soft">
              by <Words text={by} />, <Age at={at} />
            </span>
            {approved && <Tag plain text="approved by a human" />}
          </li>
        ))}
      </ol>
      <Attempts run={run} />
    </section>
  );
}

function TaskList({ tasks }: Pick<RunMap, 'tasks'>) {
  return (
    <div className="stack tight">
      <h3>{`Tasks: ${tasks.filter(({ fetched }) => fetched).length} of ${tasks.length} read`}</h3>
      <ol className="stack tight">
        {tasks.map(({ number, name, fetched }) => (
          <li key={number} className="row">
            <Tag tone={fetched ? 'green' : 'grey'} text={fetched ? 'read' : 'not read'} />
            <Words text={name} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function ItemTable({ items }: Pick<RunMap, 'items'>) {
  return (
    <div className="stack tight">
      <h3>{`Items: ${items.filter(({ status }) => status === 'completed').length} of ${items.length} completed`}</h3>
      <div className="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col">Status</th>
              <th scope="col">Agent</th>
              <th scope="col">Attempts</th>
              <th scope="col">Error</th>
            </tr>
          </thead>
          <tbody>
            {items.slice(0, MOST_ITEMS).map(({ key, status, holder, attempts, error }) => (
              <tr key={key}>
                <td>
                  <Words text={key} />
                </td>
                <td>
                  <Tag
                    tone={status === 'completed' ? 'green' : status === 'failed' ? 'red' : 'grey'}
                    text={status}
                  />
                </td>
                <td>{holder === null ? '—' : <Words text={holder} />}</td>
                <td>{attempts}</td>
                <td>{error === null ? '—' : <Words text={error} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {items.length > MOST_ITEMS && (
        <p className="small soft">{`${items.length - MOST_ITEMS} more are not shown.`}</p>
      )}
    </div>
  );
}

const MOST_ITEMS = 200;

function CheckList({ node }: { readonly node: RunMap['nodes'][number] }) {
  return (
    <div className="stack tight">
      <h3>Checks that must hold</h3>
      <ul className="stack tight">
        {node.checks.map((check) => (
          <li key={check.label} className="row">
            <EvidenceClass name={check.class} />
            <Words text={check.label} />
            {check.warns && <span className="small soft">only warns</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What a phase may use and write. */
export function Scope({ scope }: { readonly scope: NonNullable<RunMap['scope']> }) {
  const list = (words: readonly string[], none: string) =>
    words.length === 0 ? <span className="soft">{none}</span> : <code>{plainText(words.join(', '))}</code>;
  return (
    <dl className="facts">
      <dt>May use</dt>
      <dd>{list(scope.allowed_tools, 'no tools')}</dd>
      {scope.forbidden_tools.length > 0 && (
        <>
          <dt>Forbidden</dt>
          <dd>{list(scope.forbidden_tools, '')}</dd>
        </>
      )}
      <dt>May write</dt>
      <dd>{list(scope.writes, 'nothing')}</dd>
    </dl>
  );
}
