import { lazy, Suspense, useId } from 'react';
import { Waiting } from '../parts/Told.tsx';

const DiffText = lazy(() => import('../diff/DiffText.tsx').then((found) => ({ default: found.DiffText })));

/** A difference that is part of what is approved. */
export function CardDiff({
  name,
  text,
  note,
}: {
  readonly name: string;
  readonly text: string;
  readonly note: string | null;
}) {
  const id = useId();
  return (
    <section className="card stack" aria-labelledby={id}>
      <h2 id={id}>{name === 'diff' ? 'What the phase changed' : name.replaceAll('_', ' ')}</h2>
      {note !== null && <p className="small soft">{note}</p>}
      <Suspense fallback={<Waiting what="the difference" />}>
        <DiffText text={text} />
      </Suspense>
    </section>
  );
}
