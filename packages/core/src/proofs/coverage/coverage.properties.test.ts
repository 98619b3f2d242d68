import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Act, anyActs, anyWorkflow } from '../../engine/fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from '../../engine/fixtures/handovers.ts';
import { result } from '../../engine/fixtures/walks.ts';
import type { Workflow } from '../../model/workflow.ts';
import { type Recorder, record } from '../replay/fixtures/recorder.ts';
import { coverables } from './coverables.ts';
import { coverageByKind, startCoverage } from './coverage.ts';
import { coverageHits } from './coverageHits.ts';

describe('for any workflow and any walk', () => {
  test('all that is seen is something that can be, and every completed phase was left one way', () => {
    fc.assert(
      fc.property(anyWorkflow, anyActs, (workflow, acts) => {
        const walk = walkOf(workflow, acts);
        const known = coverables(workflow).map(({ id }) => id);
        const { hits } = coverageHits(workflow, walk.records());

        expect(known).toEqual(expect.arrayContaining([...new Set(hits)]));
        expect(new Set(known).size).toBe(known.length);
        expect(hits.filter((id) => id.startsWith('["transition"'))).toHaveLength(waysGone(walk));
      }),
      { numRuns: 500 },
    );
  });

  test('the same where items are worked on side by side', () => {
    fc.assert(
      fc.property(anySharedWorkflow, anySharing, (workflow, turns) => {
        const walk = record(workflow, { params: { areas: ['a', 'b'] } });
        for (const { principal, make, answer } of turns) {
          const run = walk.run();
          walk.submit(make(run), { principal: principal(run), shown: 'seen', answer: () => result(answer) });
        }
        const known = coverables(workflow).map(({ id }) => id);

        expect(known).toEqual(
          expect.arrayContaining([...new Set(coverageHits(workflow, walk.records()).hits)]),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('more walks never show less, and never more than there is', () => {
    fc.assert(
      fc.property(anyWorkflow, fc.array(anyActs, { maxLength: 4 }), (workflow, walks) => {
        const tally = startCoverage({ workflow, hash: 'h' });
        let before = coverageByKind(tally.result());
        walks.forEach((acts, index) => {
          const source = index % 2 === 0 ? 'tests' : 'runs';
          tally.add({ source, workflow, records: walkOf(workflow, acts).records() });
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
      { numRuns: 200 },
    );
  });
});

function walkOf(workflow: Workflow, acts: readonly Act[]): Recorder {
  const walk = record(workflow);
  for (const act of acts) {
    let asked = 0;
    walk.submit(act.make(walk.run()), {
      principal: act.principal,
      shown: 'seen',
      answer: () => result(act.answers[asked++ % act.answers.length] ?? 'passed'),
    });
  }
  return walk;
}

/** Completed phases, and stops by an option. */
function waysGone(walk: Recorder): number {
  const events = walk.records().map(({ event }) => event);
  return events.filter(
    (event, index) =>
      event === 'phase_completed' || (event === 'run_stopped' && events[index - 1] === 'gate_decided'),
  ).length;
}
