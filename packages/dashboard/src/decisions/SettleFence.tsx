import type { FenceState, Run } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../api/ask.ts';
import { Words } from '../parts/Said.tsx';
import { ProblemNote, Waiting } from '../parts/Told.tsx';
import { Changes } from '../run/Changes.tsx';
import { ActForm } from './ActForm.tsx';

const ACTIONS = [
  ['restore', 'Restore', 'make the files what they were when the phase was entered'],
  ['quarantine', 'Quarantine', 'move the files out of the workspace, where a human can look at them'],
  ['accept', 'Accept', 'let them stay as they are; needs a reason'],
] as const;

/** Files that were changed outside the scope: restored, moved aside, or accepted, each by choice. */
export function SettleFence({ run }: { readonly run: Run }) {
  const path = `/runs/${encodeURIComponent(run.run)}/fence`;
  const fence = useQuery({
    queryKey: ['run', run.run, 'fence'],
    queryFn: ({ signal }) => ask<FenceState>(path, {}, signal),
  });
  const [action, setAction] = useState<(typeof ACTIONS)[number][0]>('restore');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState('');
  if (fence.error !== null) return <ProblemNote error={fence.error} again={() => void fence.refetch()} />;
  if (fence.data === undefined) return <Waiting what="what was changed" />;
  const { outside, shown, problem, more } = fence.data;
  if (problem !== null) return <MeasureAnew run={run} path={path} shown={shown} />;
  const paths = outside.map((one) => one.path).filter((one) => !left.has(one));
  const toggle = (one: string) =>
    setLeft(
      (before) => new Set(before.has(one) ? [...before].filter((other) => other !== one) : [...before, one]),
    );
  const actOf = () => {
    if (paths.length === 0 || shown === null) return null;
    if (action === 'accept' && reason.trim() === '') return null;
    const why = reason.trim() === '' ? {} : { reason: reason.trim() };
    return { path, body: { action, paths, shown, ...why } };
  };
  return (
    <section className="stack" aria-label="Changes outside the scope">
      <Changes run={run} which="outside" />
      {outside.length > 0 && (
        <div className="card stack">
          <h2>What is to become of them</h2>
          <ActForm
            actOf={actOf}
            name={ACTIONS.find(([one]) => one === action)?.[1] ?? ''}
            done={() => {
              setLeft(new Set());
              setReason('');
            }}
          >
            {more > 0 && (
              <p className="note" data-tone="amber">
                {`${more.toLocaleString('en')} more files are outside the scope than are listed here. They are listed when these are settled.`}
              </p>
            )}
            <fieldset>
              <legend>Files</legend>
              {outside.map((one) => (
                <label key={one.path} className="choice">
                  <input type="checkbox" checked={!left.has(one.path)} onChange={() => toggle(one.path)} />
                  <span className="mono">
                    <Words text={one.path} />
                  </span>
                </label>
              ))}
            </fieldset>
            <fieldset>
              <legend>Do this with them</legend>
              {ACTIONS.map(([one, name, means]) => (
                <label key={one} className="choice">
                  <input
                    type="radio"
                    name="action"
                    checked={action === one}
                    onChange={() => setAction(one)}
                  />
                  <span>
                    <strong>{name}</strong>: {means}
                  </span>
                </label>
              ))}
            </fieldset>
            <label>
              {action === 'accept' ? 'Reason' : 'Reason (if you like)'}
              <textarea value={reason} maxLength={8000} onChange={(event) => setReason(event.target.value)} />
            </label>
          </ActForm>
        </div>
      )}
    </section>
  );
}

/** There is nothing to compare with: a human looks at the workspace, and it is measured as it is. */
function MeasureAnew({
  run,
  path,
  shown,
}: {
  readonly run: Run;
  readonly path: string;
  readonly shown: string | null;
}) {
  const [reason, setReason] = useState('');
  const actOf = () =>
    shown === null || reason.trim() === ''
      ? null
      : { path, body: { action: 'accept', paths: 'all', shown, reason: reason.trim() } };
  return (
    <section className="stack" aria-label="Changes outside the scope">
      <Changes run={run} which="outside" />
      <div className="card stack">
        <h2>Measure the workspace anew</h2>
        <p className="small">
          What the workspace was when the phase was entered is not known any more. Look at it yourself; what
          you accept is all of it as it is now.
        </p>
        <ActForm actOf={actOf} name="Accept all of it">
          <label>
            Reason
            <textarea value={reason} maxLength={8000} onChange={(event) => setReason(event.target.value)} />
          </label>
        </ActForm>
      </div>
    </section>
  );
}
