import type { WorkflowLine } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { workflowsQuery } from '../api/queries.ts';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';

/** Every workflow of the project, with what is wrong with it. */
export function WorkflowsPage() {
  const list = useQuery(workflowsQuery);
  return (
    <>
      <header className="head">
        <h1>Workflows</h1>
        <p className="soft">
          Every definition found in this project. A run keeps the version it was started with.
        </p>
      </header>
      {list.error !== null && <ProblemNote error={list.error} again={() => void list.refetch()} />}
      {list.data === undefined && list.error === null && <Waiting what="the workflows" />}
      {list.data?.workflows.length === 0 && (
        <div className="card">
          <Empty title="No workflow was found">
            <p>
              Make one in the project with <code>phasegate init --template tdd</code>.
            </p>
          </Empty>
        </div>
      )}
      <ul className="tiles">
        {list.data?.workflows.map((workflow) => (
          <li key={workflow.id}>
            <Tile workflow={workflow} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Tile({ workflow }: { readonly workflow: WorkflowLine }) {
  const { id, title, description, phases, dynamic, problem } = workflow;
  return (
    <Link to="/workflows/$workflow" params={{ workflow: id }} className="card tile">
      <span className="row spread">
        <strong>
          <Words text={title} most={120} />
        </strong>
        {problem === undefined ? <Tag tone="green" text="valid" /> : <Tag tone="red" text="has problems" />}
      </span>
      {description !== undefined && description !== '' && (
        <span className="soft">
          <Words text={description} most={200} />
        </span>
      )}
      {problem !== undefined && (
        <span className="small">
          <Words text={problem} most={240} />
        </span>
      )}
      <span className="row small soft">
        <span className="mono">
          <Words text={id} />
        </span>
        <span>{phases === null ? 'phases are made by code' : `${phases} phases`}</span>
        {dynamic === true && <span>made from a source</span>}
      </span>
    </Link>
  );
}
