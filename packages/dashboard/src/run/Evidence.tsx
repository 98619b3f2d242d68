import type { MapCompletion, RunMap } from '@phasegate/wire/watching';
import { useQuery } from '@tanstack/react-query';
import { addressOf } from '../api/ask.ts';
import { mapQuery } from '../api/queries.ts';
import { Age } from '../parts/Age.tsx';
import { Said, Words } from '../parts/Said.tsx';
import { OutcomeTag, Tag } from '../parts/Status.tsx';
import { Empty, ProblemNote, Waiting } from '../parts/Told.tsx';
import { EvidenceClass, ProvenLine } from './EvidenceClass.tsx';

/** What was handed in, phase by phase, with what the engine looked at for itself, and who decided what. */
export function Evidence({ id }: { readonly id: string }) {
  const map = useQuery(mapQuery(id));
  if (map.error !== null) return <ProblemNote error={map.error} again={() => void map.refetch()} />;
  if (map.data === undefined) return <Waiting what="the evidence" />;
  const { completions, decisions } = map.data;
  if (completions.length === 0) {
    return (
      <Empty title="No phase is completed yet">
        <p>When the agent completes a phase, what it handed in is shown here.</p>
      </Empty>
    );
  }
  return (
    <div className="stack">
      {decisions.length > 0 && (
        <section className="card" aria-labelledby="decided">
          <h2 id="decided">Decided by humans</h2>
          <ul className="stack tight">
            {decisions.map(({ gate, option, input, by, at }) => (
              <li key={gate + by} className="row">
                <strong>
                  <Words text={option} />
                </strong>
                <span className="soft">
                  at gate <Words text={gate} />, by <Words text={by} />, <Age at={at} />
                </span>
                {input !== null && <Words text={`“${input}”`} most={2000} />}
              </li>
            ))}
          </ul>
        </section>
      )}
      {completions.toReversed().map((one) => (
        <Completed key={`${one.phase} ${one.visit}`} id={id} completion={one} map={map.data} />
      ))}
    </div>
  );
}

interface Shown {
  readonly id: string;
  readonly completion: MapCompletion;
  readonly map: RunMap;
}

function Completed({ id, completion, map }: Shown) {
  const { phase, visit, outcome, by, at, evidence, word, left_out, warnings, approved, proven } = completion;
  const checks = map.nodes.find(({ id }) => id === phase)?.checks ?? [];
  const entries = Object.entries(evidence);
  return (
    <article className="card stack">
      <header className="row spread">
        <h2>
          <Words text={String(phase)} />
          {visit > 1 && <span className="soft">{`, visit ${visit}`}</span>}
        </h2>
        <span className="row small soft">
          <OutcomeTag outcome={outcome} />
          {approved && <Tag tone="green" text="approved by a human" />}
          {outcome === 'overridden' ? 'by ' : 'handed in by '}
          <Words text={by} />, <Age at={at} />
        </span>
      </header>
      {outcome === 'overridden' && (
        <p className="note" data-tone="red">
          Overridden: <Words text={by} /> led the run past this phase. It was not completed, nothing of it was
          checked and nothing is approved by it.
        </p>
      )}
      {proven.length > 0 && (
        <div className="stack tight">
          <h3>Run by the engine to find out</h3>
          <ul className="stack tight">
            {proven.map((one) => (
              <li key={one.check} className="stack tight">
                <ProvenLine proven={one} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {outcome !== 'overridden' && checks.length > 0 && (
        <div className="stack tight">
          <h3>Looked at before it was accepted</h3>
          <ul className="row">
            {checks.map((check) => (
              <li key={check.label} className="row">
                <EvidenceClass name={check.class} />
                <span className="small">
                  <Words text={check.label} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="stack tight">
        <h3 className="row">
          Handed in <EvidenceClass name="claimed" />
        </h3>
        {entries.length === 0 && left_out === undefined && <p className="soft">Nothing was asked for.</p>}
        {entries.map(([name, value]) => (
          <div key={name} className="stack tight">
            <p className="mono small">
              <Words text={name} />
            </p>
            <Said text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
          </div>
        ))}
        {left_out?.map(({ of, name, sha256, size }) => (
          <div key={`${of} ${name ?? ''}`} className="stack tight">
            <p className="mono small">
              <Words text={name ?? (of === 'word' ? 'words beside the evidence' : 'all of it')} />
            </p>
            <p className="soft">
              {`Too large to be shown here: ${size.toLocaleString('en')} characters, SHA-256 `}
              <code>{sha256}</code>
              {'. It is in '}
              <a href={addressOf('/audit/export', { run: id })} download>
                the records of the run
              </a>
              .
            </p>
          </div>
        ))}
        {word !== undefined && <Said text={JSON.stringify(word, null, 2)} />}
      </div>
      {warnings.map((text) => (
        <p key={text} className="note" data-tone="amber">
          <Words text={text} most={1000} />
        </p>
      ))}
    </article>
  );
}
