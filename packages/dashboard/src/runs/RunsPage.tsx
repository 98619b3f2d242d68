import { RUN_STATUSES } from '@phasegate/core/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { countsQuery, type RunFilter, workflowsQuery } from '../api/queries.ts';
import { plainText } from '../parts/plainText.ts';
import { filterFrom } from './filterFrom.ts';
import { RunList } from './RunList.tsx';

/** Every run, live: narrowed by status and words, gone through by keyboard. */
export function RunsPage() {
  const filter = filterFrom(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (next: RunFilter) =>
    void navigate({ to: '/', search: { ...filter, ...next }, replace: true });
  const counts = useQuery(countsQuery).data?.runs;
  const all = counts === undefined ? undefined : Object.values(counts).reduce((sum, one) => sum + one, 0);
  const known = filter.status === undefined ? all : counts?.[filter.status];
  return (
    <>
      <header className="head">
        <h1>Runs</h1>
        <p className="soft">
          {all === undefined
            ? 'Every run of this project.'
            : `${all.toLocaleString('en')} ${all === 1 ? 'run' : 'runs'} in this project.`}{' '}
          <span className="wide-only">
            Keys: <kbd>/</kbd> search, <kbd>↑</kbd> <kbd>↓</kbd> or <kbd>k</kbd> <kbd>j</kbd> move,{' '}
            <kbd>Enter</kbd> open.
          </span>
        </p>
      </header>
      <div className="row">
        <SearchField value={filter.q ?? ''} change={(q) => change({ q: q === '' ? undefined : q })} />
        <WorkflowField value={filter.workflow} change={(workflow) => change({ workflow })} />
      </div>
      <fieldset className="row" aria-label="Status">
        <StatusChip
          name="All"
          count={all}
          on={filter.status === undefined}
          choose={() => change({ status: undefined })}
        />
        {RUN_STATUSES.map((status) => (
          <StatusChip
            key={status}
            name={`${status.slice(0, 1).toUpperCase()}${status.slice(1)}`}
            count={counts?.[status]}
            on={filter.status === status}
            choose={() => change({ status })}
          />
        ))}
      </fieldset>
      <RunList
        filter={filter}
        total={filter.q === undefined && filter.workflow === undefined ? known : undefined}
      />
    </>
  );
}

/** Those of the project, and the one that is chosen, which may be there no more. */
function WorkflowField({
  value,
  change,
}: {
  readonly value: string | undefined;
  readonly change: (workflow: string | undefined) => void;
}) {
  // Asked for when somebody is about to choose: the first view needs none of it.
  const [wanted, setWanted] = useState(false);
  const list = useQuery({ ...workflowsQuery, enabled: wanted }).data?.workflows.map(({ id }) => id) ?? [];
  const known = [...new Set([...list, ...(value === undefined ? [] : [value])])];
  return (
    <label className="chosen">
      <span className="unseen">Workflow</span>
      <select
        value={value ?? ''}
        onFocus={() => setWanted(true)}
        onPointerEnter={() => setWanted(true)}
        onChange={(event) => change(event.target.value === '' ? undefined : event.target.value)}
      >
        <option value="">All workflows</option>
        {known.map((id) => (
          <option key={id} value={id}>
            {plainText(id).slice(0, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}

function StatusChip({
  name,
  count,
  on,
  choose,
}: {
  readonly name: string;
  readonly count: number | undefined;
  readonly on: boolean;
  readonly choose: () => void;
}) {
  return (
    <button type="button" className="chip" aria-pressed={on} onClick={choose}>
      {name}
      {count !== undefined && <span className="soft">{count.toLocaleString('en')}</span>}
    </button>
  );
}

function SearchField({ value, change }: { readonly value: string; readonly change: (text: string) => void }) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const settled = useDeferredValue(text);
  const latest = useRef(change);
  latest.current = change;
  useEffect(() => {
    if (settled === value) return;
    const timer = setTimeout(() => latest.current(settled.trim()), 250);
    return () => clearTimeout(timer);
  }, [settled, value]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  return (
    <label className="search">
      <span className="unseen">Search runs</span>
      <input
        ref={field}
        type="search"
        placeholder="Search run, goal, workflow, target, agent or phase"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
