import type { Overridden as Override } from '@phasegate/wire';
import { Age } from './Age.tsx';
import { Words } from './Said.tsx';
import { Tag } from './Status.tsx';

/** That a human led a run past phases, in a word beside its status. */
export function OverriddenTag({ times }: { readonly times: number | undefined }) {
  if (times === undefined || times === 0) return null;
  return <Tag tone="red" text={times === 1 ? 'overridden' : `overridden ×${times}`} />;
}

/** Which phases those are, by whom and why. */
export function Overridden({ overrides = [] }: { readonly overrides?: readonly Override[] | undefined }) {
  if (overrides.length === 0) return null;
  return (
    <section className="note stack tight" data-tone="red" aria-label="Overridden phases">
      <strong>
        {overrides.length === 1
          ? 'A human led this run past a phase, which nobody completed'
          : `Humans led this run past ${overrides.length} phases, which nobody completed`}
      </strong>
      <ul className="stack tight">
        {overrides.map(({ phase, to, reason, by, at }) => (
          <li key={`${phase} ${at}`}>
            <Words text={String(phase)} /> → {to === null ? 'the end' : <Words text={String(to)} />}, by{' '}
            <Words text={by} />, <Age at={at} />: <Words text={reason} most={1000} />
          </li>
        ))}
      </ul>
    </section>
  );
}
