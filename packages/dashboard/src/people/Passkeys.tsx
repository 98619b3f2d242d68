import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { canUsePasskeys, type ListedPasskey, makePasskey, passkeysQuery } from '../api/passkeys.ts';
import { sessionQuery } from '../api/queries.ts';
import { ActForm } from '../decisions/ActForm.tsx';
import { Age } from '../parts/Age.tsx';
import { Words } from '../parts/Said.tsx';
import { ProblemNote, Waiting } from '../parts/Told.tsx';

/** The passkeys: one's own and, for an admin, everybody's; and how to make one. */
export function Passkeys() {
  const list = useQuery(passkeysQuery);
  const me = useQuery(sessionQuery).data;
  const [chosen, setChosen] = useState<ListedPasskey | null>(null);
  const passkeys = list.data?.passkeys ?? [];
  return (
    <section className="card stack" aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <p className="small soft">
        A passkey proves each act instead of the passphrase. It signs that one act, for pages of this address
        and no other.
      </p>
      {list.error !== null && <ProblemNote error={list.error} again={() => void list.refetch()} />}
      {list.data === undefined && list.error === null && <Waiting what="the passkeys" />}
      {list.data !== undefined && passkeys.length === 0 && <p className="small">There is none yet.</p>}
      <ul className="stack tight">
        {passkeys.map((passkey) => (
          <li key={passkey.id} className="row spread">
            <span className="row">
              <strong>
                <Words text={passkey.label} />
              </strong>
              <span className="small soft">
                of <Words text={passkey.human} />, for {passkey.origin}, added <Age at={passkey.added_at} />
              </span>
            </span>
            <button type="button" className="chip danger" onClick={() => setChosen(passkey)}>
              Remove<span className="unseen">{` the passkey ${passkey.label} of ${passkey.human}`}</span>
            </button>
          </li>
        ))}
      </ul>
      {chosen !== null && (
        <ActForm
          key={chosen.id}
          name={`Remove ${chosen.label}`}
          danger
          done={() => setChosen(null)}
          actOf={() => ({ path: `/passkeys/${encodeURIComponent(chosen.id)}`, method: 'DELETE', body: {} })}
        >
          <p className="small">
            What it signed stays signed; its votes at gates that are still open are void.
          </p>
        </ActForm>
      )}
      {list.data !== undefined && me?.role !== undefined && (
        <NewPasskey origin={list.data.origin} problem={list.data.problem} />
      )}
    </section>
  );
}

function NewPasskey({
  origin,
  problem,
}: {
  readonly origin: string | null;
  readonly problem: string | undefined;
}) {
  if (origin === null) {
    return (
      <p className="note" data-tone="amber">
        Here each act is proven by the passphrase: <Words text={problem ?? 'passkeys need a name'} />
      </p>
    );
  }
  if (origin !== location.origin) {
    return (
      <p className="note" data-tone="amber">
        Passkeys need a name, so at {location.host} each act is proven by the passphrase. They work at{' '}
        <a href={`${origin}/sign-in`} rel="noreferrer">
          {origin}
        </a>
        , where you sign in once more.
      </p>
    );
  }
  if (!canUsePasskeys()) return <p className="note">This browser cannot use passkeys here.</p>;
  return <RegisterPasskey />;
}

/** The browser makes it first, and then it is registered by an act with the passphrase. */
function RegisterPasskey() {
  const client = useQueryClient();
  const [label, setLabel] = useState('');
  const [made, setMade] = useState<Readonly<Record<string, unknown>> | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const make = async () => {
    setProblem(null);
    try {
      setMade(await makePasskey());
    } catch (error) {
      setProblem(error);
    }
  };
  const done = async () => {
    setMade(null);
    setLabel('');
    await client.invalidateQueries();
  };
  return (
    <div className="stack tight">
      <h3>Add a passkey</h3>
      <label>
        What you call it
        <input
          value={label}
          maxLength={64}
          placeholder="laptop, phone, security key …"
          onChange={(event) => setLabel(event.target.value)}
        />
      </label>
      {made === null ? (
        <button type="button" disabled={label.trim() === ''} onClick={() => void make()}>
          Make a passkey
        </button>
      ) : (
        <ActForm
          name="Register it"
          passphraseFor="A passkey counts because the key behind your passphrase signs it, so this needs the passphrase."
          done={() => void done()}
          actOf={() =>
            label.trim() === '' ? null : { path: '/passkeys', body: { ...made, label: label.trim() } }
          }
        />
      )}
      {problem !== null && <ProblemNote error={problem} ofAct />}
    </div>
  );
}
