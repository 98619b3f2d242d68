import type { Run } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mapQuery, sessionQuery } from '../api/queries.ts';
import { Words } from '../parts/Said.tsx';
import { ActForm } from './ActForm.tsx';

/** The way past a phase that nobody can complete: an admin's, and told as that wherever the run is shown from then on. */
export function BreakGlass({ run }: { readonly run: Run }) {
  const role = useQuery(sessionQuery).data?.role;
  const [open, setOpen] = useState(false);
  if (role !== 'admin') return null;
  return (
    <details className="card" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Break the glass</summary>
      {open && <Override run={run} />}
    </details>
  );
}

function Override({ run }: { readonly run: Run }) {
  const map = useQuery(mapQuery(run.run)).data;
  // What it is about stays what was on the screen when it was opened.
  const [epoch] = useState(run.epoch);
  const [chosen, setChosen] = useState<string | null>(null);
  const [reason, setReason] = useState('');
  const ways = map?.ways ?? [];
  const only = ways.length === 1 ? ways[0] : undefined;
  const to = only === undefined ? ways.find((way) => keyOf(way) === chosen) : only;
  const nameOf = (way: string | number | null) =>
    way === null ? 'the end of the run' : (map?.nodes.find(({ id }) => id === way)?.name ?? String(way));
  const actOf = () => {
    if (to === undefined || reason.trim() === '' || epoch !== run.epoch) return null;
    const body = { reason: reason.trim(), to, epoch };
    return { path: `/runs/${encodeURIComponent(run.run)}/override`, body };
  };
  return (
    <ActForm name="Override this phase" danger actOf={actOf}>
      <p className="small">
        Leads the run past phase <Words text={run.phase_name ?? String(run.phase)} />, whatever its evidence,
        its checks or its gate say. The phase is not completed and nothing is approved by it: from now on the
        run is shown as overridden, with your name and reason, which you sign.
      </p>
      {epoch !== run.epoch && (
        <p className="note" data-tone="red" role="alert">
          The run has moved since you opened this. Close it, look again, and open it anew.
        </p>
      )}
      {only === undefined ? (
        <fieldset>
          <legend>It goes on at</legend>
          {ways.map((way) => (
            <label key={keyOf(way)} className="choice">
              <input
                type="radio"
                name="way"
                checked={chosen === keyOf(way)}
                onChange={() => setChosen(keyOf(way))}
              />
              <Words text={nameOf(way)} />
            </label>
          ))}
        </fieldset>
      ) : (
        <p className="small">
          It goes on at <Words text={nameOf(only)} />.
        </p>
      )}
      <label>
        Why it cannot wait
        <textarea
          value={reason}
          maxLength={8000}
          required
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </ActForm>
  );
}

/** A phase may be called anything, also `null`. */
function keyOf(way: string | number | null): string {
  return JSON.stringify(way);
}
