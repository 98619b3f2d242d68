import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { addressOf } from '../api/ask.ts';
import { sessionQuery } from '../api/queries.ts';
import { useInbox } from '../api/useInbox.ts';
import { plainText } from '../parts/plainText.ts';
import { ProblemNote, SignedOut } from '../parts/Told.tsx';
import { type ICONS, Icon } from './icons.tsx';
import { useLiveState } from './live.tsx';
import { chooseTheme, chosenTheme, nextTheme } from './theme.ts';

const PLACES: readonly { readonly to: string; readonly name: string; readonly icon: keyof typeof ICONS }[] = [
  { to: '/', name: 'Runs', icon: 'runs' },
  { to: '/decisions', name: 'Decisions', icon: 'decisions' },
  { to: '/workflows', name: 'Workflows', icon: 'workflows' },
  { to: '/agents', name: 'Agents', icon: 'agents' },
  { to: '/audit', name: 'Audit', icon: 'audit' },
  { to: '/people', name: 'People', icon: 'people' },
];

/** What is around every page: where one can go, who is signed in, and whether what is shown is live. */
export function Frame() {
  const live = useLiveState();
  const session = useQuery(sessionQuery);
  useMovedFocus();
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={focusMain}>
        Skip to the content
      </button>
      <header className="side">
        <Link to="/" className="brand">
          <Mark />
          Phasegate
        </Link>
        <Places />
        <div className="side-foot">
          <span className="live" data-state={live} role="status">
            {LIVE_WORDS[live]}
          </span>
          <span className="wide-only">
            {'Signed in as '}
            <strong>{plainText(session.data?.name ?? '…')}</strong>
            {session.data?.role === undefined ? '' : `, ${session.data.role}`}
          </span>
          <span className="row">
            <ThemeButton />
            <form method="post" action={signOutAddress()}>
              <button type="submit" className="chip">
                Sign out
              </button>
            </form>
          </span>
        </div>
      </header>
      <main className="main stack" id="content" tabIndex={-1}>
        {live === 'ended' && <SignedOut />}
        {session.error !== null && live !== 'ended' && (
          <ProblemNote error={session.error} again={() => void session.refetch()} />
        )}
        <Outlet />
      </main>
    </div>
  );
}

const LIVE_WORDS = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Connection lost, trying again',
  ended: 'Signed out',
} as const;

function Places() {
  const { items, pages } = useInbox({ all: false });
  const waiting = items.length;
  return (
    <nav className="nav" aria-label="Pages">
      <ul>
        {PLACES.map(({ to, name, icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/' }}>
              <Icon name={icon} />
              {name}
              {icon === 'decisions' && waiting > 0 && (
                <span className="count">
                  {pages.hasNextPage ? `${waiting}+` : waiting}
                  <span className="unseen"> waiting for a human</span>
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(chosenTheme);
  const change = () => {
    const next = nextTheme(theme);
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" className="chip" onClick={change} title="Light, dark, or as your system says">
      <span className="unseen">Colours: </span>
      {theme === 'system' ? 'Auto' : theme === 'dark' ? 'Dark' : 'Light'}
    </button>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1f4fd8" />
      <path
        d="M9 25V11a7 7 0 0 1 14 0v14M16 25V15"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
      />
    </svg>
  );
}

function signOutAddress(): string {
  return addressOf('').replace(/api\/v1$/, 'sign-out');
}

function focusMain(): void {
  document.getElementById('content')?.focus();
}

/** Who reads by ear, or goes by keyboard, is at the new page when it is shown. */
function useMovedFocus(): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    document.getElementById('content')?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
}
