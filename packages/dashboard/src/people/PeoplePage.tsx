import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { act, ask } from '../api/ask.ts';
import { sessionQuery } from '../api/queries.ts';
import type { Role } from '../api/session.ts';
import { ActForm } from '../decisions/ActForm.tsx';
import { Age } from '../parts/Age.tsx';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { ProblemNote, Waiting } from '../parts/Told.tsx';
import { Passkeys } from './Passkeys.tsx';

interface ListedHuman {
  readonly name: string;
  readonly role: Role;
  readonly added_at: string;
}

interface ListedSession {
  readonly id: string;
  readonly name: string;
  readonly carrier: 'cookie' | 'bearer';
  readonly made_at: string;
  readonly used_at: string;
  readonly expires_at: string;
  readonly current: boolean;
}

/** Who may do what here, and who is signed in where. */
export function PeoplePage() {
  const humans = useQuery({
    queryKey: ['project', 'humans'],
    queryFn: ({ signal }) => ask<{ readonly humans: readonly ListedHuman[] }>('/humans', {}, signal),
  });
  const me = useQuery(sessionQuery).data;
  return (
    <>
      <header className="head">
        <h1>People</h1>
        <p className="soft">Who may look, decide and look after this project, and who is signed in where.</p>
      </header>
      <section className="card stack" aria-labelledby="humans">
        <h2 id="humans">Humans</h2>
        {humans.error !== null && <ProblemNote error={humans.error} again={() => void humans.refetch()} />}
        {humans.data?.humans.length === 0 && (
          <p className="note" data-tone="amber">
            Nobody is set up yet, so nothing can be decided. In a terminal of the project:{' '}
            <code>phasegate humans add NAME</code>
          </p>
        )}
        {humans.data !== undefined && humans.data.humans.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Role</th>
                <th scope="col">Since</th>
              </tr>
            </thead>
            <tbody>
              {humans.data.humans.map(({ name, role, added_at }) => (
                <tr key={name}>
                  <th scope="row">
                    <Words text={name} /> {name === me?.name && <span className="soft">(you)</span>}
                  </th>
                  <td>
                    <Tag plain text={role} /> <span className="small soft">{MAY[role]}</span>
                  </td>
                  <td className="small">
                    <Age at={added_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p className="small soft">
          Humans are added and removed in a terminal, where a passphrase is typed and never sent:{' '}
          <code>phasegate humans add NAME --role viewer|approver|admin</code>
        </p>
      </section>
      <Passkeys />
      <Sessions me={me?.name} />
    </>
  );
}

const MAY: Readonly<Record<Role, string>> = {
  viewer: 'looks',
  approver: 'also decides, answers, resumes, stops',
  admin: 'also looks after humans, agents, trust, keys',
};

function Sessions({ me }: { readonly me: string | undefined }) {
  const client = useQueryClient();
  const sessions = useQuery({
    queryKey: ['project', 'sessions'],
    queryFn: ({ signal }) => ask<{ readonly sessions: readonly ListedSession[] }>('/sessions', {}, signal),
  });
  const [chosen, setChosen] = useState<ListedSession | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const end = async (session: ListedSession) => {
    if (session.name !== me) return setChosen(session);
    try {
      await act(`/sessions/${session.id}`, {}, 'DELETE');
      await client.invalidateQueries();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <section className="card stack" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      {sessions.error !== null && (
        <ProblemNote error={sessions.error} again={() => void sessions.refetch()} />
      )}
      {sessions.data === undefined && sessions.error === null && <Waiting what="the sessions" />}
      {problem !== null && <ProblemNote error={problem} />}
      <ul className="stack tight">
        {sessions.data?.sessions.map((session) => (
          <li key={session.id} className="row spread">
            <span className="row">
              <strong>
                <Words text={session.name} />
              </strong>
              <Tag plain text={session.carrier === 'cookie' ? 'browser' : 'program'} />
              {session.current && <Tag tone="green" text="this one" />}
              <span className="small soft">
                signed in <Age at={session.made_at} />, used <Age at={session.used_at} />
              </span>
            </span>
            <button type="button" className="chip danger" onClick={() => void end(session)}>
              End<span className="unseen">{` the session of ${session.name}`}</span>
            </button>
          </li>
        ))}
      </ul>
      {chosen !== null && (
        <ActForm
          name={`End the session of ${chosen.name}`}
          danger
          done={() => setChosen(null)}
          actOf={() => ({ path: `/sessions/${chosen.id}`, method: 'DELETE', body: {} })}
        >
          <p className="small">It is somebody else’s, so this needs a proof of you.</p>
        </ActForm>
      )}
    </section>
  );
}
