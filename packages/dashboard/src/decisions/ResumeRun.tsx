import type { Run, RunEscalation } from '@phasegate/wire';
import { useState } from 'react';
import { Age } from '../parts/Age.tsx';
import { Said, Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { ActForm } from './ActForm.tsx';

/** Why a run was handed to a human, and the way to let it go on with advice. */
export function ResumeRun({ run, escalation }: { readonly run: Run; readonly escalation: RunEscalation }) {
  const [note, setNote] = useState('');
  return (
    <section className="card stack" aria-labelledby="escalated">
      <header className="row spread">
        <h2 id="escalated">The agent cannot go on</h2>
        <span className="row small soft">
          <Tag tone="red" text={escalation.reason.replaceAll('_', ' ')} />
          <Age at={escalation.since} />
        </span>
      </header>
      <Said text={escalation.message} />
      {escalation.blockers.length > 0 && (
        <ul className="stack tight">
          {escalation.blockers.map((blocker) => (
            <li key={blocker.code + blocker.message} className="note" data-tone="red">
              <Words text={blocker.message} most={1000} />
            </li>
          ))}
        </ul>
      )}
      {run.feedback !== null && (
        <div className="stack tight">
          <h3>What the last attempt failed with</h3>
          <Said text={run.feedback} />
        </div>
      )}
      <ActForm
        name="Resume"
        actOf={() => ({
          path: `/runs/${encodeURIComponent(run.run)}/resume`,
          body: note.trim() === '' ? {} : { note: note.trim() },
        })}
      >
        <label>
          Advice for the agent (it is shown to it with the phase)
          <textarea value={note} maxLength={8000} onChange={(event) => setNote(event.target.value)} />
        </label>
        <p className="small soft">Its attempts begin at 0 again.</p>
      </ActForm>
    </section>
  );
}
