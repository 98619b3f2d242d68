import type { Gate, GateCard, Run } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../api/ask.ts';
import { sessionQuery } from '../api/queries.ts';
import { Age } from '../parts/Age.tsx';
import { plainText } from '../parts/plainText.ts';
import { Coded, Said, Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { ProblemNote, Waiting } from '../parts/Told.tsx';
import { ActForm } from './ActForm.tsx';
import { BreakGlass } from './BreakGlass.tsx';
import { CardMoved } from './CardMoved.tsx';
import { GateCardView } from './GateCardView.tsx';
import { StopRun } from './StopRun.tsx';

/**
 * A gate: exactly what is approved, and the choice. What a human began to read stays on the screen; where it is
 * another by now, that is said, and nothing is decided about what was not seen.
 */
export function DecideGate({ run, gate }: { readonly run: Run; readonly gate: Gate }) {
  const card = useQuery({
    queryKey: ['run', run.run, 'gate'],
    queryFn: ({ signal }) => ask<GateCard>(`/runs/${encodeURIComponent(run.run)}/gate`, {}, signal),
  });
  const [seen, setSeen] = useState<GateCard | null>(null);
  const shown = seen ?? card.data ?? null;
  if (seen === null && card.data !== undefined) setSeen(card.data);
  if (shown === null) {
    if (card.error !== null) return <ProblemNote error={card.error} again={() => void card.refetch()} />;
    return <Waiting what="what is to be decided" />;
  }
  const now = card.data ?? shown;
  return (
    <>
      {now.shown !== shown.shown && <CardMoved seen={shown} now={now} take={() => setSeen(now)} />}
      <p className="narrow-only">
        <button type="button" onClick={() => document.getElementById('question')?.scrollIntoView()}>
          Go to your decision
        </button>
      </p>
      <div className="columns">
        <GateCardView run={run.run} card={shown.card} shown={shown.shown} />
        <div className="stack sticky">
          <Choice run={run} gate={gate} card={shown} />
          <StopRun run={run.run} />
          <BreakGlass run={run} />
        </div>
      </div>
    </>
  );
}

interface Option {
  readonly label: string;
  readonly requires_input: boolean;
  readonly way?: string;
  readonly approves?: boolean | null;
}

function Choice({ run, gate, card }: { readonly run: Run; readonly gate: Gate; readonly card: GateCard }) {
  const [label, setLabel] = useState<string | null>(null);
  const [input, setInput] = useState('');
  const options = (Array.isArray(card.card.options) ? card.card.options : gate.options) as readonly Option[];
  const chosen = options.find((option) => option.label === label);
  const actOf = () => {
    if (chosen === undefined) return null;
    if (chosen.requires_input && input.trim() === '') return null;
    const words = input.trim() === '' ? {} : { input: input.trim() };
    return {
      path: `/runs/${encodeURIComponent(run.run)}/decisions`,
      body: { gate: card.gate, option: chosen.label, shown: card.shown, ...words },
    };
  };
  return (
    <section className="card stack" aria-labelledby="question">
      <h2 id="question">Your decision</h2>
      <Said text={gate.prompt} />
      <Others gate={gate} />
      <ActForm
        actOf={actOf}
        name={chosen === undefined ? 'Decide' : `Decide: ${plainText(chosen.label.slice(0, 40))}`}
      >
        <fieldset>
          <legend>Options</legend>
          {options.map((option) => (
            <label key={option.label} className="choice">
              <input
                type="radio"
                name="option"
                checked={label === option.label}
                onChange={() => setLabel(option.label)}
              />
              <span className="two-lines">
                <span className="row">
                  <strong>
                    <Words text={option.label} />
                  </strong>
                  {option.approves === true && <Tag tone="green" text="approves" />}
                  {option.approves === false && <Tag tone="red" text="does not approve" />}
                </span>
                {option.way !== undefined && (
                  <span className="small soft wrap">
                    <Coded text={`→ ${option.way}`} />
                  </span>
                )}
              </span>
            </label>
          ))}
        </fieldset>
        {chosen !== undefined && (
          <label>
            {chosen.requires_input ? 'What you want instead (needed)' : 'A word to go with it (if you like)'}
            <textarea
              value={input}
              maxLength={8000}
              required={chosen.requires_input}
              onChange={(event) => setInput(event.target.value)}
            />
          </label>
        )}
      </ActForm>
      <p className="small soft">
        Signed with your decision: the hash of this card, <code>{card.shown.slice(0, 16)}…</code>
      </p>
    </section>
  );
}

function Others({ gate }: { readonly gate: Gate }) {
  const name = useQuery(sessionQuery).data?.name;
  const { approvers = [], quorum = 1, votes = [], excluded = [], expires_at } = gate;
  const barred = name !== undefined && approvers.length > 0 && !approvers.includes(name);
  return (
    <dl className="facts">
      {approvers.length > 0 && (
        <>
          <dt>May decide</dt>
          <dd>
            <Words text={approvers.join(', ')} most={600} />
          </dd>
        </>
      )}
      {quorum > 1 && (
        <>
          <dt>Must agree</dt>
          <dd>{`${quorum} humans, ${votes.length} so far`}</dd>
        </>
      )}
      {votes.map(({ by, option }) => (
        <VoteLine key={by} by={by} option={option} />
      ))}
      {expires_at !== null && (
        <>
          <dt>Closes</dt>
          <dd>
            <Age at={expires_at} />
          </dd>
        </>
      )}
      {excluded.length > 0 && (
        <>
          <dt>Does not count</dt>
          <dd>
            the yes of <Words text={excluded.join(', ')} />, as it is their own work
          </dd>
        </>
      )}
      {barred && (
        <>
          <dt>You</dt>
          <dd>are not among those who may decide here</dd>
        </>
      )}
    </dl>
  );
}

function VoteLine({ by, option }: { readonly by: string; readonly option: string }) {
  return (
    <>
      <dt>
        <Words text={by} />
      </dt>
      <dd>
        <Words text={option} />
      </dd>
    </>
  );
}
