import type { GateCard } from '@phasegate/wire';
import { lazy, Suspense, useMemo } from 'react';
import { Waiting } from '../parts/Told.tsx';
import { changedSections } from './changedSections.ts';

const DiffFiles = lazy(() => import('../diff/DiffFiles.tsx').then((found) => ({ default: found.DiffFiles })));

/** What is to be decided is another than what a human began to read: what became of it, and the way to the new one. */
export function CardMoved({
  seen,
  now,
  take,
}: {
  readonly seen: GateCard;
  readonly now: GateCard;
  readonly take: () => void;
}) {
  const sections = useMemo(() => changedSections(seen.card, now.card), [seen, now]);
  return (
    <div className="card stack tight">
      <div className="note stack tight" data-tone="red" role="alert">
        <strong>What is to be decided has changed since you began to read</strong>
        <p>A decision on what you see below would be refused. This is what became of the card:</p>
        <p>
          <button type="button" onClick={take}>
            Show what it is now
          </button>
        </p>
      </div>
      <Suspense fallback={<Waiting what="what changed" />}>
        <DiffFiles files={sections} />
      </Suspense>
    </div>
  );
}
