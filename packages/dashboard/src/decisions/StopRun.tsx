import { useState } from 'react';
import { ActForm } from './ActForm.tsx';

/** The way to end a run for good. */
export function StopRun({ run }: { readonly run: string }) {
  const [reason, setReason] = useState('');
  return (
    <details className="card">
      <summary>Stop this run</summary>
      <ActForm
        name="Stop the run"
        danger
        actOf={() =>
          reason.trim() === ''
            ? null
            : { path: `/runs/${encodeURIComponent(run)}/stop`, body: { reason: reason.trim() } }
        }
      >
        <p className="small soft">It ends for good, and what its agent holds is dead at once.</p>
        <label>
          Why
          <textarea
            value={reason}
            maxLength={8000}
            required
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
      </ActForm>
    </details>
  );
}
