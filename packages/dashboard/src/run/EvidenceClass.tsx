import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';

/** What an answer rests on: the agent's word, or what the engine looked at. */
export function EvidenceClass({ name }: { readonly name: string }) {
  const tone = name === 'verified' ? 'green' : name === 'observed' ? 'blue' : 'amber';
  return <Tag tone={tone} text={name} />;
}

/** What the engine ran, how far that can be trusted, its receipt, and what it lacks. */
export function ProvenLine({
  proven,
}: {
  readonly proven: {
    readonly phase?: string | number;
    readonly check: string;
    readonly class: string;
    readonly receipt?: string | null;
    readonly lack?: string | null;
  };
}) {
  const { phase, check, receipt = null, lack = null } = proven;
  return (
    <>
      <span className="row">
        <EvidenceClass name={proven.class} />
        <Words text={check} most={400} />
        {phase !== undefined && (
          <span className="small soft">
            in phase <Words text={String(phase)} />
          </span>
        )}
        {receipt !== null && (
          <span className="small soft">
            receipt <span className="mono">{receipt.slice(0, 80)}</span>
          </span>
        )}
      </span>
      {lack !== null && (
        <span className="small soft">
          not verified, because <Words text={lack} most={600} />
        </span>
      )}
    </>
  );
}
