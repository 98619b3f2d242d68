import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { act } from '../api/ask.ts';
import { assertAct, useOwnPasskeys } from '../api/passkeys.ts';
import { sessionQuery } from '../api/queries.ts';
import { ProblemNote } from '../parts/Told.tsx';
import type { Act } from './act.ts';

/**
 * Something a human does. Being signed in is not enough: each act carries a fresh proof, which is kept nowhere and gone
 * when the act is done.
 */
export function ActForm({
  actOf,
  name,
  danger = false,
  passphraseFor,
  done,
  children,
}: {
  /** What is to be done now; null while something is missing. */
  readonly actOf: () => Act | null;
  readonly name: string;
  readonly danger?: boolean;
  /** Why this act needs the passphrase, also of one who has a passkey; left out where a passkey proves it. */
  readonly passphraseFor?: string;
  readonly done?: (answer: unknown) => void;
  readonly children?: ReactNode;
}) {
  const id = useId();
  const client = useQueryClient();
  const session = useQuery(sessionQuery).data;
  const passkeys = useOwnPasskeys();
  const [typing, setTyping] = useState(false);
  const byPasskey = passkeys.here && !typing && passphraseFor === undefined;
  const [passphrase, setPassphrase] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const ready = actOf() !== null;

  async function carryOut(): Promise<void> {
    const what = actOf();
    if (what === null) return;
    setBusy(true);
    setProblem(null);
    try {
      const proof = byPasskey ? { passkey: await assertAct(what) } : { passphrase };
      const answer = await act(what.path, { ...what.body, ...proof }, what.method);
      setPassphrase('');
      done?.(answer);
      await client.invalidateQueries();
    } catch (error) {
      setProblem(error);
      // What was refused may have changed meanwhile: it is looked at again.
      void client.invalidateQueries();
    } finally {
      setBusy(false);
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void carryOut();
  };

  if (session !== undefined && !session.can_decide) return <NobodyDecides role={session.role} />;
  return (
    <form className="stack tight" onSubmit={submit}>
      {children}
      {passphraseFor !== undefined && passkeys.here && <p className="small soft">{passphraseFor}</p>}
      <div className="field-row">
        {!byPasskey && (
          <label htmlFor={`${id}-passphrase`}>
            {`Passphrase of ${session?.name ?? '…'}`}
            <input
              id={`${id}-passphrase`}
              type="password"
              autoComplete="current-password"
              maxLength={1024}
              required
              value={passphrase}
              onChange={(event) => setPassphrase(event.target.value)}
            />
          </label>
        )}
        <button
          type="submit"
          className={danger ? 'danger' : 'main-act'}
          disabled={!ready || busy || (!byPasskey && passphrase === '')}
        >
          {busy ? 'Working …' : name}
        </button>
        {passkeys.here && passphraseFor === undefined && (
          <button type="button" className="chip" onClick={() => setTyping(!typing)}>
            {typing ? 'Use a passkey' : 'Use the passphrase'}
          </button>
        )}
      </div>
      {byPasskey && <p className="small soft">Your passkey signs this act and nothing else.</p>}
      {passkeys.elsewhere !== null && (
        <p className="small soft">
          Your passkeys work at{' '}
          <a href={`${passkeys.elsewhere}/sign-in`} rel="noreferrer">
            {passkeys.elsewhere}
          </a>
          ; here it is the passphrase.
        </p>
      )}
      {problem !== null && <ProblemNote error={problem} ofAct />}
    </form>
  );
}

function NobodyDecides({ role }: { readonly role: string | undefined }) {
  if (role === 'viewer') {
    return <p className="note">Your role is viewer: you may look, and others decide.</p>;
  }
  return (
    <p className="note" data-tone="amber">
      This session belongs to nobody in particular, so it decides nothing. Set a human up with{' '}
      <code>phasegate humans add NAME</code>, then <Link to="/people">sign in</Link> with the passphrase.
    </p>
  );
}
