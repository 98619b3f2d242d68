import type { RunLine } from '@phasegate/wire';
import type { RunGlance } from '@phasegate/wire/watching';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { glanceQuery, RUNS_PER_PAGE, type RunFilter, runsQuery } from '../api/queries.ts';
import { Age } from '../parts/Age.tsx';
import { OverriddenTag } from '../parts/Overridden.tsx';
import { Words } from '../parts/Said.tsx';
import { OutcomeTag, Status, Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';

const ROW_HEIGHT = 56;
const HEADINGS = ['Status', 'Run', 'Workflow', 'Phase', 'Agent', 'Last verdict', 'Age'];

/** The list itself: as many rows as fit the screen, and pages of it as they are looked at. */
export function RunList({
  filter,
  total,
}: {
  readonly filter: RunFilter;
  readonly total: number | undefined;
}) {
  const body = useRef<HTMLDivElement>(null);
  const first = useQuery(runsQuery(filter, 0));
  const firstRows = first.data?.runs.length ?? 0;
  const guess = first.data?.next_offset == null ? firstRows : MOST_ROWS;
  const count = Math.max(total ?? guess, firstRows);
  const rows = useVirtualizer({
    count: first.data === undefined ? 0 : count,
    getScrollElement: () => body.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const items = rows.getVirtualItems();
  const lastPage = Math.floor((items.at(-1)?.index ?? 0) / RUNS_PER_PAGE);
  const firstPage = Math.min(Math.floor((items[0]?.index ?? 0) / RUNS_PER_PAGE), lastPage);
  const wanted = Array.from({ length: lastPage - firstPage + 1 }, (_, at) => firstPage + at);
  const pages = useQueries({ queries: wanted.map((page) => runsQuery(filter, page)) });
  // The first page stays until the next filter's is there; what is asked for page by page does not, and a row
  // that is gone for a moment takes the focus with it.
  const lineAt = (index: number): RunLine | undefined =>
    index < RUNS_PER_PAGE
      ? first.data?.runs[index]
      : pages[Math.floor(index / RUNS_PER_PAGE) - firstPage]?.data?.runs[index % RUNS_PER_PAGE];
  const shown = items.map(({ index }) => lineAt(index)?.run).filter((run) => run !== undefined);
  const glances = useQuery(glanceQuery(shown)).data?.runs;
  const keyOf = rowKeys();
  const glanceOf = new Map(glances?.map((glance) => [glance.run, glance]));
  useRowKeys(count, (index) => rows.scrollToIndex(index, { align: 'auto' }));

  if (first.error !== null) return <ProblemNote error={first.error} again={() => void first.refetch()} />;
  if (first.data === undefined) return <Waiting what="the runs" />;
  if (firstRows === 0) return <NoRuns filter={filter} />;
  return (
    <div className="card grid">
      <div className="grid-head run-columns wide-only" aria-hidden="true">
        {HEADINGS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <section ref={body} className="grid-body" aria-label="The runs, newest first">
        <div style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <Row
              key={keyOf(index, lineAt(index))}
              index={index}
              start={start}
              line={lineAt(index)}
              glance={glanceOf.get(lineAt(index)?.run ?? '')}
            />
          ))}
        </div>
      </section>
    </div>
  );
}

/**
 * A row is its run's, wherever it moves to: what is focused stays the same run when others come before it. Pages
 * asked for at two moments may both have a run; only the first of its rows is known by it.
 */
function rowKeys(): (index: number, line: RunLine | undefined) => string | number {
  const seen = new Set<string>();
  return (index, line) => {
    if (line === undefined || seen.has(line.run)) return index;
    seen.add(line.run);
    return line.run;
  };
}

/** A search does not say beforehand how many it finds. */
const MOST_ROWS = 1000;

function Row({
  index,
  start,
  line,
  glance,
}: {
  readonly index: number;
  readonly start: number;
  readonly line: RunLine | undefined;
  readonly glance: RunGlance | undefined;
}) {
  const place = { height: ROW_HEIGHT, transform: `translateY(${start}px)` };
  if (line === undefined) return <div className="grid-row run-columns" style={place} aria-hidden="true" />;
  const about = line.goal ?? line.target;
  return (
    <Link
      to="/runs/$run"
      params={{ run: line.run }}
      className="grid-row run-columns"
      style={place}
      data-index={index}
      data-run={line.run}
    >
      <span className="two-lines">
        <Status status={line.status} />
        <OverriddenTag times={line.overridden} />
      </span>
      <span className="two-lines">
        {about === null ? <span className="soft">no goal was given</span> : <Words text={about} />}
        <span className="mono small soft">{line.run}</span>
      </span>
      <span>
        <Words text={line.workflow} />
      </span>
      <span>
        {line.phase === null ? <span className="soft">ended</span> : <Words text={String(line.phase)} />}
      </span>
      <span className="two-lines">
        {line.holder === null ? <span className="soft">nobody</span> : <Words text={line.holder} />}
        <span className="small soft">{glance?.ring ?? ''}</span>
      </span>
      <span>
        <Verdict glance={glance} />
      </span>
      <span className="two-lines small soft">
        <Age at={line.started_at} />
        <span>
          moved <Age at={line.updated_at} />
        </span>
      </span>
    </Link>
  );
}

function Verdict({ glance }: { readonly glance: RunGlance | undefined }) {
  const last = glance?.last ?? null;
  if (last === null) return <span className="soft">—</span>;
  return (
    <span className="verdict">
      {last.allowed || last.outcome === 'refused' ? (
        <Tag tone={last.allowed ? 'green' : 'red'} text={last.allowed ? 'passed' : 'refused'} />
      ) : (
        <OutcomeTag outcome={last.outcome} />
      )}
      <span className="small soft">
        <Words text={last.text} most={80} />
      </span>
    </span>
  );
}

function NoRuns({ filter }: { readonly filter: RunFilter }) {
  const narrowed = filter.q !== undefined || filter.status !== undefined || filter.workflow !== undefined;
  if (narrowed) {
    return (
      <Empty title="No run is like that">
        <p>Nothing in this project matches what you chose.</p>
        <Link to="/" search={{}} className="button">
          Show all runs
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has been started yet">
      <p>
        Start a run in a terminal of the project, and it appears here at once:{' '}
        <code>phasegate start WORKFLOW</code>
      </p>
      <Link to="/workflows" className="button">
        See the workflows
      </Link>
    </Empty>
  );
}

/** Up and down move through the rows from anywhere on the page, and what is not on the screen comes into view. */
function useRowKeys(count: number, show: (index: number) => void): void {
  const at = useRef(-1);
  // What becomes of the row at `at` once it is drawn, where it is not: no key waits for a frame.
  const awaited = useRef<'focused' | 'opened' | null>(null);
  const latest = useRef({ count, show });
  latest.current = { count, show };
  const arrive = useRef(() => {
    const becomes = awaited.current;
    const row = becomes === null ? null : rowAt(at.current);
    if (row === null) return;
    awaited.current = null;
    row.focus({ preventScroll: true });
    if (becomes === 'opened') row.click();
  });
  useEffect(() => arrive.current());
  useEffect(() => {
    const move = (to: number) => {
      at.current = Math.max(0, Math.min(latest.current.count - 1, to));
      latest.current.show(at.current);
      awaited.current = 'focused';
      arrive.current();
    };
    const press = (event: KeyboardEvent) => {
      const focused = focusedRow();
      const leavesSearch = event.key === 'ArrowDown' && isSearch(event.target);
      if (focused === null && !leavesSearch && !isIdle(event.target)) return;
      if (event.key === 'Enter' && awaited.current !== null) {
        // The row that still has the focus is not the one that was chosen.
        event.preventDefault();
        awaited.current = 'opened';
        return;
      }
      if (leavesSearch) at.current = -1;
      if (focused !== null && awaited.current === null) at.current = focused;
      const step = STEPS[event.key];
      const to =
        step === undefined ? { Home: 0, End: latest.current.count - 1 }[event.key] : at.current + step;
      if (to === undefined) return;
      event.preventDefault();
      move(to);
    };
    // The one who has gone elsewhere meanwhile is not fetched back.
    const leave = () => {
      awaited.current = null;
    };
    addEventListener('keydown', press);
    addEventListener('focusin', leave);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener('focusin', leave);
    };
  }, []);
}

/** Whether keys mean nothing else where they are pressed. */
function isIdle(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof HTMLElement && target.id === 'content');
}

function isSearch(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === 'search';
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
};

function focusedRow(): number | null {
  const index =
    document.activeElement instanceof HTMLElement ? document.activeElement.dataset.index : undefined;
  return index === undefined ? null : Number(index);
}

function rowAt(index: number): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-index="${index}"]`);
}
