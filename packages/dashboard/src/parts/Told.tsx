import { type ReactNode, useEffect, useState } from 'react';
import { Problem } from '../api/ask.ts';
import { plainText } from './plainText.ts';

/** What went wrong, and a way on. */
export function ProblemNote({
  error,
  again,
  ofAct = false,
}: {
  readonly error: unknown;
  readonly again?: (() => void) | undefined;
  /** Of an act, what is refused may be its proof: the session may well stand. */
  readonly ofAct?: boolean;
}) {
  const problem = error instanceof Problem ? error : null;
  if (problem?.status === 401 && !ofAct) return <SignedOut />;
  const message = problem?.message ?? (error instanceof Error ? error.message : String(error));
  return (
    <div className="note stack tight" data-tone="red" role="alert">
      <strong>{plainText(message)}</strong>
      {problem?.hint != null && <p>{plainText(problem.hint)}</p>}
      {problem?.blockers.map(({ code, message: why, next_action }) => (
        <p key={code + why}>
          {plainText(why)}
          {next_action !== undefined && <span className="soft"> — next: {plainText(next_action)}</span>}
        </p>
      ))}
      {again !== undefined && (
        <p>
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

/** The session is over. */
export function SignedOut() {
  return (
    <div className="note stack tight" data-tone="amber" role="alert">
      <strong>Your session has ended</strong>
      <p>It was signed out, revoked, unused for twelve hours, or the server was started again.</p>
      <p>
        <a className="button" href="/sign-in">
          Sign in again
        </a>
      </p>
    </div>
  );
}

/** Something is on its way; said only where it takes long enough to wonder. */
export function Waiting({ what }: { readonly what: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 4000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="empty" role="status">
      {late ? `Still waiting for the server to answer with ${what} …` : `Loading ${what} …`}
    </p>
  );
}

/** Nothing is there, why, and what could be done. */
export function Empty({
  title,
  page = false,
  children,
}: {
  readonly title: string;
  /** Whether there is nothing else on the page. */
  readonly page?: boolean;
  readonly children?: ReactNode;
}) {
  return (
    <div className="empty">
      {page ? <h1>{title}</h1> : <strong>{title}</strong>}
      {children}
    </div>
  );
}
