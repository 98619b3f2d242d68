import type { GateCard } from '@phasegate/wire';
import { type ReactNode, useId, useMemo } from 'react';
import { Said, Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { EvidenceClass, ProvenLine } from '../run/EvidenceClass.tsx';
import { type CardParts, cardParts } from './cardParts.ts';
import { GateDiff } from './GateDiff.tsx';

/**
 * All of a gate card, in the order in which a person judges: what is to be done, what the engine saw, what is only
 * claimed, what to beware of, what came before. A part that is not known here is shown all the same, as somebody else's
 * words: its hash is what a human signs.
 */
export function GateCardView({
  run,
  card,
  shown,
}: {
  readonly run: string;
  readonly card: GateCard['card'];
  readonly shown: string;
}) {
  const parts = useMemo(() => cardParts(card), [card]);
  const compared = parts.diff.length > 0 || parts.diffRest !== null || parts.compared;
  return (
    <div className="stack">
      <Beware parts={parts} />
      <Aim parts={parts} />
      <Seen parts={parts} />
      {compared && <GateDiff run={run} files={parts.diff} rest={parts.diffRest} />}
      <Claimed parts={parts} />
      {parts.others.map(([name, value]) => (
        <Section key={name} title={name.replaceAll('_', ' ')}>
          <Value value={value} />
        </Section>
      ))}
      <Earlier parts={parts} />
      <Section title="Small print">
        <dl className="facts small">
          {parts.small.map(([name, value]) => (
            <Fact key={name} name={name.replaceAll('_', ' ')}>
              <Words text={typeof value === 'string' ? value : JSON.stringify(value)} most={200} />
            </Fact>
          ))}
          <Fact name="hash of this card">
            <span className="mono">{shown}</span>
          </Fact>
        </dl>
      </Section>
    </div>
  );
}

function Aim({ parts }: { readonly parts: CardParts }) {
  const { goal, target, context, covered } = parts;
  return (
    <Section title="What is to be done">
      {goal === null ? (
        <p className="soft">No goal was given.</p>
      ) : (
        <div className="stack tight">
          <p className="small soft">
            in the words of <Words text={goal.by} />
          </p>
          <Said text={goal.text} />
        </div>
      )}
      {target !== null && (
        <p>
          Target: <Words text={target} />
        </p>
      )}
      {context.length > 0 && (
        <>
          <h3>What the workflow shows here</h3>
          <Entries entries={context} />
        </>
      )}
      {covered.length > 0 && (
        <>
          <h3>A yes approves as well</h3>
          <Entries entries={covered} />
        </>
      )}
    </Section>
  );
}

function Seen({ parts }: { readonly parts: CardParts }) {
  const { looked, proven, receipts, files, programs, calls } = parts;
  const nothing = [looked, proven, receipts, files, programs, calls].every((list) => list.length === 0);
  return (
    <Section title="What the engine saw for itself">
      {nothing && <p className="soft">Nothing: all that follows is claimed.</p>}
      {looked.length > 0 && (
        <ul className="stack tight">
          {looked.map(({ name, held, warns }) => (
            <li key={name} className="row">
              {held === null ? <Tag plain text="looked at" /> : <EvidenceClass name={held} />}
              <Words text={name} most={400} />
              {warns && <span className="small soft">only warns; see the warnings</span>}
              {held === null && !warns && (
                <span className="small soft">need not have held; see the warnings</span>
              )}
            </li>
          ))}
        </ul>
      )}
      <Proven proven={proven} />
      <Lines title="Tools it carried out, with receipts" lines={receipts} />
      <Lines title="Files that earlier phases changed, and calls asked for" lines={files} />
      <Lines title="Programs that ran" lines={programs} />
      <Lines title="Other calls" lines={calls} />
    </Section>
  );
}

function Proven({ proven }: Pick<CardParts, 'proven'>) {
  if (proven.length === 0) return null;
  return (
    <div className="stack tight">
      <h3>What it ran to find out</h3>
      <ul className="stack tight">
        {proven.map((one) => (
          <li key={`${one.phase} ${one.check}`} className="stack tight">
            <ProvenLine proven={one} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Claimed({ parts }: { readonly parts: CardParts }) {
  return (
    <Section title="What is only claimed">
      <p className="small soft">
        by agent <Words text={parts.submittedBy} />, outcome <Words text={parts.outcome} />
      </p>
      {parts.evidence.length === 0 ? (
        <p className="soft">No evidence was asked for.</p>
      ) : (
        <Entries entries={parts.evidence} />
      )}
      {parts.readOnly.length > 0 && (
        <p className="row small soft">
          Checks that read only this:
          {parts.readOnly.map((name) => (
            <span key={name}>
              <Words text={name} />
            </span>
          ))}
        </p>
      )}
    </Section>
  );
}

function Beware({ parts }: { readonly parts: CardParts }) {
  if (parts.warnings.length === 0) return null;
  return (
    <section className="note stack tight" data-tone="amber" aria-label="Warnings">
      <h2>Beware</h2>
      <ul className="stack tight">
        {parts.warnings.map((text) => (
          <li key={text}>
            <Words text={text} most={1000} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Earlier({ parts }: { readonly parts: CardParts }) {
  const { path, decisions, approved } = parts;
  if ([path, decisions, approved].every((list) => list.length === 0)) return null;
  return (
    <Section title="Earlier in this run">
      <Lines title="Phases" lines={path} />
      <Lines title="Decisions" lines={decisions} />
      {approved.length > 0 && (
        <div className="stack tight">
          <h3>What humans approved, which this is measured against</h3>
          <Entries entries={approved} />
        </div>
      )}
    </Section>
  );
}

function Lines({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="stack tight">
      <h3>{title}</h3>
      <ul className="said">
        {lines.map((line) => (
          <li key={line}>
            <Words text={line} most={600} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Entries({ entries }: { readonly entries: readonly (readonly [string, unknown])[] }) {
  return (
    <div className="stack tight">
      {entries.map(([name, value]) => (
        <div key={name} className="stack tight">
          <p className="mono small">
            <Words text={name} />
          </p>
          <Value value={value} />
        </div>
      ))}
    </div>
  );
}

function Value({ value }: { readonly value: unknown }) {
  return <Said text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />;
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const id = useId();
  return (
    <section className="card stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
