import type { InboxItem } from '@phasegate/wire/watching';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { sessionQuery } from '../api/queries.ts';
import { useInbox } from '../api/useInbox.ts';
import { Age } from '../parts/Age.tsx';
import { OverriddenTag } from '../parts/Overridden.tsx';
import { Coded, Words } from '../parts/Said.tsx';
import { Tag, type Tone } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';

/** What calls for a human, in a word and a colour. */
export const KINDS: Readonly<Record<InboxItem['kind'], { readonly name: string; readonly tone: Tone }>> = {
  gate: { name: 'Gate', tone: 'amber' },
  questions: { name: 'Question', tone: 'blue' },
  escalation: { name: 'Escalation', tone: 'red' },
  fence: { name: 'Fence', tone: 'red' },
};

/** All that waits for a human across runs, the oldest first. */
export function InboxPage() {
  const { pages: inbox, items } = useInbox({ all: true });
  const name = useQuery(sessionQuery).data?.name;
  const [kind, setKind] = useState<InboxItem['kind'] | null>(null);
  const [words, setWords] = useState('');
  const shown = items.filter((item) => (kind === null || item.kind === kind) && holds(item, words));
  return (
    <>
      <header className="head">
        <h1>Decisions</h1>
        <p className="soft">Gates, questions, escalations and changes outside a scope, the oldest first.</p>
      </header>
      {inbox.error !== null && <ProblemNote error={inbox.error} again={() => void inbox.refetch()} />}
      {inbox.data === undefined && inbox.error === null && <Waiting what="what waits" />}
      {items.length > MANY && (
        <label className="search">
          <span className="unseen">Search what waits</span>
          <input
            type="search"
            placeholder="Search goal, question, workflow, run or agent"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
      )}
      {items.length > 0 && (
        <fieldset className="row" aria-label="Kind">
          <button type="button" className="chip" aria-pressed={kind === null} onClick={() => setKind(null)}>
            All <span className="soft">{items.length}</span>
          </button>
          {(Object.keys(KINDS) as InboxItem['kind'][]).map((one) => (
            <button
              key={one}
              type="button"
              className="chip"
              aria-pressed={kind === one}
              onClick={() => setKind(one)}
            >
              {KINDS[one].name}
              <span className="soft">{items.filter((item) => item.kind === one).length}</span>
            </button>
          ))}
        </fieldset>
      )}
      {items.length > 0 && shown.length === 0 && <p className="soft">None of what waits is like that.</p>}
      {inbox.data !== undefined && !inbox.hasNextPage && items.length === 0 && (
        <div className="card">
          <Empty title="Nothing waits for you">
            <p>When a run reaches a gate, an agent asks or something goes wrong, it appears here at once.</p>
          </Empty>
        </div>
      )}
      <ul className="stack tight">
        {shown.map((item) => (
          <li key={item.run}>
            <Item item={item} name={name} />
          </li>
        ))}
      </ul>
      {inbox.hasNextPage && (
        <p className="row soft">
          {inbox.isFetchingNextPage ? 'Looking through newer runs …' : 'Newer runs were not looked through.'}
          <button
            type="button"
            className="chip"
            disabled={inbox.isFetching}
            onClick={() => void inbox.fetchNextPage()}
          >
            Look further
          </button>
        </p>
      )}
    </>
  );
}

/** Beyond a screen they are searched: one agent can have hundreds wait, and others' must be found among them. */
const MANY = 8;

function holds(item: InboxItem, words: string): boolean {
  const { goal, goal_by, target, text, workflow, run, holder } = item;
  const wanted = words.trim().toLowerCase();
  return [goal, goal_by, target, text, workflow, run, holder].some((one) =>
    (one ?? '').toLowerCase().includes(wanted),
  );
}

function Item({ item, name }: { readonly item: InboxItem; readonly name: string | undefined }) {
  const { kind, text, run, workflow, goal, target, since, expires_at, quorum, votes, approvers } = item;
  const about = goal ?? target;
  const mine = name !== undefined && (approvers.length === 0 || approvers.includes(name));
  const voted = votes.some(({ by }) => by === name);
  return (
    <Link to="/decisions/$run" params={{ run }} className="card inbox-item">
      <span className="row spread">
        <span className="row">
          <Tag tone={KINDS[kind].tone} text={KINDS[kind].name} />
          <OverriddenTag times={item.overridden} />
          <strong>{about === null ? `Run ${run}` : <Words text={about} most={120} />}</strong>
        </span>
        <span className="small soft">
          <Age at={since} />
        </span>
      </span>
      <span className="inbox-text">
        {kind === 'escalation' || kind === 'fence' ? (
          <Coded text={text} most={280} />
        ) : (
          <Words text={text} most={280} />
        )}
      </span>
      <span className="row small soft">
        <Words text={workflow} />
        {item.phase !== null && (
          <span>
            phase <Words text={String(item.phase)} />
          </span>
        )}
        <span className="mono">{run}</span>
        {item.goal_by !== undefined && (
          <span>
            goal by <Words text={item.goal_by} />
          </span>
        )}
        {quorum > 1 && <Tag plain text={`${votes.length} of ${quorum} have agreed`} />}
        {voted && <Tag plain text="you have decided" />}
        {!mine && <Tag plain text={`for ${approvers.join(', ')}`} />}
        {expires_at !== null && (
          <span>
            closes <Age at={expires_at} />
          </span>
        )}
      </span>
    </Link>
  );
}
