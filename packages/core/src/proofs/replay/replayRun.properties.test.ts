import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Act, anyActs, anyWorkflow } from '../../engine/fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from '../../engine/fixtures/handovers.ts';
import { result } from '../../engine/fixtures/walks.ts';
import type { Workflow } from '../../model/workflow.ts';
import { type Recorder, record } from './fixtures/recorder.ts';
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
      { numRuns: 200 },
    );
  });

  test('no decision flips where agents share a run item by item', async () => {
    await fc.assert(
      fc.asyncProperty(anySharedWorkflow, anySharing, async (workflow, turns) => {
        const walk = record(workflow, { params: { areas: ['a', 'b'] } });
        for (const { principal, make, answer } of turns) {
          const run = walk.run();
          walk.submit(make(run), { principal: principal(run), shown: 'seen', answer: () => result(answer) });
        }

        expectNothing(await replay(walk, workflow));
      }),
      { numRuns: 150 },
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
    { numRuns: 300 },
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

function walked(workflow: Workflow, acts: readonly Act[]): Recorder {
  const walk = record(workflow);
  for (const act of acts) {
    let asked = 0;
    walk.submit(act.make(walk.run()), {
      principal: act.principal,
      shown: 'seen',
      answer: () => result(act.answers[asked++ % act.answers.length] ?? 'passed', 'why'),
    });
  }
  return walk;
}

function expectNothing({ steps, counts, decisions }: ReplayReport): void {
  expect(steps.map(({ kind, asked, reason }: ReplayedStep) => ({ kind, asked, reason }))).toEqual([]);
  expect(counts.same).toBe(decisions);
  for (const flip of FLIPS) expect(counts[flip]).toBe(0);
}
