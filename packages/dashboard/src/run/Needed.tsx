import type { Run } from '@phasegate/wire';
import { Link } from '@tanstack/react-router';
import { Age } from '../parts/Age.tsx';
import { Words } from '../parts/Said.tsx';

/** What the run needs next, and whose turn it is. */
export function Needed({ run }: { readonly run: Run }) {
  const told = toldOf(run);
  return (
    <section className="note row spread" data-tone={told.tone} aria-label="What is needed next">
      <div>
        <strong>
          <Words text={told.title} />
        </strong>
        {told.text !== null && (
          <p>
            <Words text={told.text} most={600} />
          </p>
        )}
        {run.gate?.expires_at != null && (
          <p className="small">
            The gate closes <Age at={run.gate.expires_at} />.
          </p>
        )}
      </div>
      {told.decide && (
        <Link to="/decisions/$run" params={{ run: run.run }} className="button">
          {run.gate === null ? 'Look into it' : 'Decide'}
        </Link>
      )}
    </section>
  );
}

interface ToldNext {
  readonly tone: string;
  readonly title: string;
  readonly text: string | null;
  readonly decide: boolean;
}

function toldOf(run: Run): ToldNext {
  const { gate, escalation, questions, violations = [], waits_for } = run;
  if (gate !== null)
    return { tone: 'amber', title: 'A human decides at this gate', text: gate.prompt, decide: true };
  if (escalation !== null)
    return { tone: 'red', title: 'A human must step in', text: escalation.message, decide: true };
  if (run.status === 'waiting') {
    const text = questions.map((question) => question.text).join(' · ');
    return { tone: 'amber', title: 'The agent asks, and waits for the answer', text, decide: true };
  }
  if (violations.length > 0) {
    const text = violations.map(({ path, how }) => `${path} (${how})`).join(', ');
    return { tone: 'red', title: 'Files were changed outside the scope of the phase', text, decide: true };
  }
  if (run.status === 'queued') {
    const text =
      waits_for === undefined ? null : `It waits for run ${waits_for.run}, which has the workspace.`;
    return { tone: 'grey', title: 'Waiting for an agent to claim it', text, decide: false };
  }
  if (run.status === 'completed') return { tone: 'green', title: 'Completed', text: null, decide: false };
  if (run.status === 'stopped') return { tone: 'grey', title: 'Stopped', text: run.reason, decide: false };
  const turn = run.holder === null ? 'An agent' : `Agent ${run.holder}`;
  return { tone: 'blue', title: `${turn} works on phase ${run.phase}`, text: null, decide: false };
}
