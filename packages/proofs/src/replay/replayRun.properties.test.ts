import type { Workflow } from '@phasegate/core/model';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { anyActs, anyWorkflow } from '../../../core/src/engine/fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from '../../../core/src/engine/fixtures/handovers.ts';
import { type Recorder, shared, walked } from './fixtures/recorder.ts';
import { FLIPS, type ReplayedStep, type ReplayReport } from './replayReport.ts';
import { replayRun } from './replayRun.ts';

describe('under its own workflow', () => {
  test.each(['strict', 'permissive'] as const)('no decision of any %s walk flips', async (mode) => {
    await fc.assert(
      fc.asyncProperty(anyWorkflow, anyActs, async (drawn, acts) => {
        const workflow = { ...drawn, enforcement: { ...drawn.enforcement, mode } };
        const walk = walked(workflow, acts);
        walk.useTool({ tool: 'bash', input: { command: 'ls' } });

        expectNothing(await replay(walk, workflow));
      }),
      { numRuns: cases({ quick: 40, full: 1000 }) },
    );
  });

  test('no decision flips where agents share a run item by item', async () => {
    await fc.assert(
      fc.asyncProperty(anySharedWorkflow, anySharing, async (workflow, turns) => {
        const walk = shared(workflow, turns);

        expectNothing(await replay(walk, workflow));
      }),
      { numRuns: cases({ quick: 30, full: 750 }) },
    );
  });
});

test('under any other workflow every decision comes to something, and nothing breaks', async () => {
  await fc.assert(
    fc.asyncProperty(anyWorkflow, anyWorkflow, anyActs, async (workflow, other, acts) => {
      const walk = walked(workflow, acts);

      const { decisions, counts, steps } = await replay(walk, other);

      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(decisions);
      for (const { kind, reason } of steps) {
        expect(kind).not.toBe('same');
        expect(reason.length).toBeGreaterThan(5);
      }
    }),
    { numRuns: cases({ quick: 60, full: 1500 }) },
  );
});

/** Every check of these walks looks at the world. */
function replay(walk: Recorder, changed: Workflow): Promise<ReplayReport> {
  return replayRun({
    run: walk.run(),
    records: walk.records(),
    changed,
    reads: () => 'workspace',
    look: () => Promise.reject(new Error('nothing can be asked again')),
  });
}

function expectNothing({ steps, counts, decisions }: ReplayReport): void {
  expect(steps.map(({ kind, asked, reason }: ReplayedStep) => ({ kind, asked, reason }))).toEqual([]);
  expect(counts.same).toBe(decisions);
  for (const flip of FLIPS) expect(counts[flip]).toBe(0);
}
