import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { anyActs, anyWorkflow } from '../../../core/src/engine/fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from '../../../core/src/engine/fixtures/handovers.ts';
import { type Recorder, shared, walked } from '../replay/fixtures/recorder.ts';
import { coverables } from './coverables.ts';
import { coverageByKind, startCoverage } from './coverage.ts';
import { coverageHits } from './coverageHits.ts';

describe('for any workflow and any walk', () => {
  test('all that is seen is something that can be, and every completed phase was left one way', () => {
    fc.assert(
      fc.property(anyWorkflow, anyActs, (workflow, acts) => {
        const walk = walked(workflow, acts);
        const known = coverables(workflow).map(({ id }) => id);
        const { hits } = coverageHits(workflow, walk.records());

        expect(known).toEqual(expect.arrayContaining([...new Set(hits)]));
        expect(new Set(known).size).toBe(known.length);
        expect(hits.filter((id) => id.startsWith('["transition"'))).toHaveLength(waysGone(walk));
      }),
      { numRuns: cases({ quick: 100, full: 2500 }) },
    );
  });

  test('the same where items are worked on side by side', () => {
    fc.assert(
      fc.property(anySharedWorkflow, anySharing, (workflow, turns) => {
        const walk = shared(workflow, turns);
        const known = coverables(workflow).map(({ id }) => id);

        expect(known).toEqual(
          expect.arrayContaining([...new Set(coverageHits(workflow, walk.records()).hits)]),
        );
      }),
      { numRuns: cases({ quick: 40, full: 1000 }) },
    );
  });

  test('more walks never show less, and never more than there is', () => {
    fc.assert(
      fc.property(anyWorkflow, fc.array(anyActs, { maxLength: 4 }), (workflow, walks) => {
        const tally = startCoverage({ workflow, hash: 'h' });
        let before = coverageByKind(tally.result());
        walks.forEach((acts, index) => {
          const source = index % 2 === 0 ? 'tests' : 'runs';
          tally.add({ source, workflow, records: walked(workflow, acts).records() });
          const after = coverageByKind(tally.result());
          after.forEach((row, at) => {
            const less = before[at] as (typeof before)[number];
            expect(row.total).toBe(less.total);
            for (const count of ['seen', 'tests', 'runs'] as const) {
              expect(row[count]).toBeGreaterThanOrEqual(less[count]);
              expect(row[count]).toBeLessThanOrEqual(row.total);
            }
          });
          before = after;
        });
      }),
      { numRuns: cases({ quick: 40, full: 1000 }) },
    );
  });
});

/** Completed phases, and stops by an option. */
/** An override tests nothing of a workflow, so it counts as no way. */
function waysGone(walk: Recorder): number {
  const events = walk.records().map(({ event }) => event);
  const overridden = events.filter((event) => event === 'phase_overridden').length;
  const left = events.filter(
    (event, index) =>
      event === 'phase_completed' || (event === 'run_stopped' && events[index - 1] === 'gate_decided'),
  ).length;
  return left - overridden;
}
