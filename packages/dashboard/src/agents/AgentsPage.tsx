import type { AgentList, Lease } from '@phasegate/wire';
import type { Activity, AgentActivity } from '@phasegate/wire/watching';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ask } from '../api/ask.ts';
import { Age } from '../parts/Age.tsx';
import { Coded, Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { RecordRows } from '../records/RecordRows.tsx';
import { useRecordList } from '../records/useRecordList.ts';

/** Who holds what, what they do as they do it, and what they were denied. */
export function AgentsPage() {
  const list = useQuery({
    queryKey: ['runs', 'agents'],
    queryFn: ({ signal }) => ask<AgentList>('/agents', {}, signal),
  });
  const activity = useQuery({
    queryKey: ['activity'],
    queryFn: ({ signal }) => ask<Activity>('/state/activity', {}, signal),
    refetchInterval: 5000,
  });
  if (list.error !== null) return <ProblemNote error={list.error} again={() => void list.refetch()} />;
  if (list.data === undefined) return <Waiting what="the agents" />;
  const { agents, leases } = list.data;
  const acts = activity.data?.agents ?? [];
  const names = [
    ...new Set([
      ...leases.map(({ agent }) => agent),
      ...agents.map(({ name }) => name),
      ...acts.map(({ agent }) => agent),
    ]),
  ];
  return (
    <>
      <header className="head">
        <h1>Agents</h1>
        <p className="soft">
          Who holds which run, what they do as they do it, and what the rules denied them.
        </p>
      </header>
      <div className="card scroll-x">
        {names.length === 0 ? (
          <Empty title="No agent has been seen here">
            <p>
              Agents on this machine need no key. For others, make one with{' '}
              <code>phasegate agents add NAME</code>.
            </p>
          </Empty>
        ) : (
          <table>
            <thead>
              <tr>
                <th scope="col">Agent</th>
                <th scope="col">Holds</th>
                <th scope="col">Calls</th>
                <th scope="col">Denied</th>
                <th scope="col">Last seen</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <AgentRow
                  key={name}
                  name={name}
                  keyed={agents.some((agent) => agent.name === name)}
                  leases={leases.filter(({ agent }) => agent === name)}
                  acts={acts.find(({ agent }) => agent === name)}
                />
              ))}
            </tbody>
          </table>
        )}
      </div>
      <Denials activity={activity.data} />
      <section className="stack" aria-labelledby="calls">
        <h2 id="calls">Calls as they come</h2>
        <Calls />
      </section>
    </>
  );
}

function AgentRow({
  name,
  keyed,
  leases,
  acts,
}: {
  readonly name: string;
  readonly keyed: boolean;
  readonly leases: readonly Lease[];
  readonly acts: AgentActivity | undefined;
}) {
  return (
    <tr>
      <th scope="row">
        <span className="row">
          <Words text={name} />
          {keyed && <Tag plain text="has a key" />}
        </span>
      </th>
      <td>
        {leases.length === 0 && <span className="soft">nothing</span>}
        <ul className="stack tight">
          {leases.map(({ run, item, expires_at }) => (
            <li key={`${run} ${item}`} className="row">
              <Link to="/runs/$run" params={{ run }} className="mono small">
                {run}
              </Link>
              {item !== null && (
                <span className="small">
                  item <Words text={item} />
                </span>
              )}
              <span className="small soft">
                lease ends <Age at={expires_at} />
              </span>
            </li>
          ))}
        </ul>
      </td>
      <td>{acts?.calls ?? 0}</td>
      <td>{acts !== undefined && acts.denied > 0 ? <Tag tone="red" text={String(acts.denied)} /> : 0}</td>
      <td className="small">{acts === undefined ? '—' : <Age at={acts.last_at} />}</td>
    </tr>
  );
}

function Denials({ activity }: { readonly activity: Activity | undefined }) {
  if (activity === undefined) return null;
  return (
    <section className="card stack" aria-labelledby="denials">
      <h2 id="denials">Denied, by rule</h2>
      {activity.denials.length === 0 ? (
        <p className="soft">{`Nothing was denied in the newest ${activity.searched} records.`}</p>
      ) : (
        <div className="scroll-x">
          <table>
            <thead>
              <tr>
                <th scope="col">Times</th>
                <th scope="col">Rule</th>
                <th scope="col">Tool</th>
                <th scope="col">The newest</th>
                <th scope="col">Agents</th>
                <th scope="col">Last</th>
              </tr>
            </thead>
            <tbody>
              {activity.denials.map((denial) => (
                <tr key={`${denial.code} ${denial.tool}`}>
                  <td>{denial.times}</td>
                  <td>
                    <code>{denial.code}</code>
                  </td>
                  <td>
                    <Words text={denial.tool} />
                  </td>
                  <td>
                    <Coded text={denial.message} most={200} />
                  </td>
                  <td>
                    <Words text={denial.agents.join(', ')} />
                  </td>
                  <td className="small">
                    <Age at={denial.last_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Calls() {
  const { pages, records } = useRecordList({ event: 'tool_judged,tool_executed,hook_reported,hook_forged' });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  if (pages.error !== null) return <ProblemNote error={pages.error} again={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Waiting what="the calls" />;
  if (records.length === 0) {
    return (
      <div className="card">
        <Empty title="No call was judged yet" />
      </div>
    );
  }
  return (
    <div className="card grid">
      <RecordRows records={records} more={hasNextPage ? more : null} showRun />
    </div>
  );
}
