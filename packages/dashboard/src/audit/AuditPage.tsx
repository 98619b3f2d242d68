import type { AuditReport } from '@phasegate/wire';
import { useCallback, useState } from 'react';
import { addressOf, askSlowly } from '../api/ask.ts';
import { Words } from '../parts/Said.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { RecordRows } from '../records/RecordRows.tsx';
import type { RecordFilter } from '../records/recordFits.ts';
import { useRecordList } from '../records/useRecordList.ts';

const KINDS: readonly (readonly [string, string | undefined])[] = [
  ['Everything', undefined],
  [
    'Decisions',
    'gate_opened,gate_decided,gate_timed_out,gate_closed,phase_overridden,question_answered,run_resumed,run_stopped,fence_settled',
  ],
  ['Refusals', 'phase_refused,command_refused,token_refused,credential_failed,start_refused'],
  ['Tool calls', 'tool_judged,tool_executed,hook_reported,hook_forged'],
  [
    'People and trust',
    'human_added,human_removed,passphrase_changed,workflow_trusted,signed_in,signed_out,agent_added,agent_removed',
  ],
];

/** The record of everything: searched, followed, verified and taken along. */
export function AuditPage() {
  const [filter, setFilter] = useState<RecordFilter>({});
  const [words, setWords] = useState('');
  const [principal, setPrincipal] = useState('');
  const [follow, setFollow] = useState(true);
  return (
    <>
      <header className="head row spread">
        <div className="stack tight">
          <h1>Audit</h1>
          <p className="soft">
            Everything that happened, newest first. Verify finds what was changed or is missing.
          </p>
        </div>
        <a className="button" href={addressOf('/audit/export')} download>
          Export all
        </a>
      </header>
      <Verify />
      <form
        className="field-row"
        onSubmit={(event) => {
          event.preventDefault();
          setFilter((before) => ({
            ...before,
            search: words.trim() === '' ? undefined : words.trim(),
            principal: principal.trim() === '' ? undefined : principal.trim(),
          }));
        }}
      >
        <label>
          Words in a record
          <input
            type="search"
            value={words}
            maxLength={256}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
        <label>
          By (such as agent:ada)
          <input value={principal} maxLength={256} onChange={(event) => setPrincipal(event.target.value)} />
        </label>
        <button type="submit">Search</button>
      </form>
      <fieldset className="row" aria-label="Kind">
        {KINDS.map(([name, event]) => (
          <button
            key={name}
            type="button"
            className="chip"
            aria-pressed={filter.event === event}
            onClick={() => setFilter((before) => ({ ...before, event }))}
          >
            {name}
          </button>
        ))}
        <label className="row plain-label">
          <input type="checkbox" checked={follow} onChange={(event) => setFollow(event.target.checked)} />
          Follow
        </label>
      </fieldset>
      <Records key={JSON.stringify(filter)} filter={filter} follow={follow} />
    </>
  );
}

function Records({ filter, follow }: { readonly filter: RecordFilter; readonly follow: boolean }) {
  const { pages, records, searched } = useRecordList(filter, follow);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  if (pages.error !== null) return <ProblemNote error={pages.error} again={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Waiting what="the records" />;
  return (
    <>
      {records.length > 0 && (
        <div className="card grid">
          <RecordRows records={records} more={hasNextPage ? more : null} showRun />
        </div>
      )}
      {records.length === 0 && !hasNextPage && (
        <div className="card">
          <Empty title="No record is like that" />
        </div>
      )}
      <p className="row small soft" role="status">
        {`${searched.toLocaleString('en')} records were looked through.`}
        {hasNextPage && (
          <button type="button" className="chip" disabled={isFetchingNextPage} onClick={more}>
            {isFetchingNextPage ? 'Looking …' : 'Look further back'}
          </button>
        )}
      </p>
    </>
  );
}

function Verify() {
  const [busy, setBusy] = useState(false);
  const [report, setReport] = useState<AuditReport | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const verify = async () => {
    setBusy(true);
    setProblem(null);
    try {
      setReport(await askSlowly<AuditReport>('/audit/verify'));
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="card row spread" aria-label="Verify the audit">
      <div className="stack tight" role="status">
        {report === null && <p>Every chain, seal and the signed head can be recomputed here.</p>}
        {report?.ok === true && (
          <p className="note" data-tone="green">
            {`The audit verifies: ${report.records.toLocaleString('en')} records of ${report.runs.toLocaleString('en')} runs.`}
            {report.overridden !== undefined &&
              ` Humans overrode ${report.overridden === 1 ? 'one phase' : `${report.overridden} phases`}.`}
          </p>
        )}
        {report?.ok === false && (
          <div className="note stack tight" data-tone="red">
            <strong>The audit is broken</strong>
            <ul>
              {report.findings.map(({ kind, run, seq, message }) => (
                <li key={`${kind} ${run} ${seq} ${message}`}>
                  {`${kind}, ${run ?? 'project'}${seq === null ? '' : ` #${seq}`}: `}
                  <Words text={message} />
                </li>
              ))}
            </ul>
          </div>
        )}
        {problem !== null && <ProblemNote error={problem} />}
      </div>
      <button type="button" disabled={busy} onClick={() => void verify()}>
        {busy ? 'Verifying …' : 'Verify'}
      </button>
    </section>
  );
}
