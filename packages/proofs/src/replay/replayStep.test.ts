import type { PhaseDraft, Workflow, WorkflowDraft } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { BOB, result } from '../../../core/src/engine/fixtures/walks.ts';
import { type Recorder, record, workflowFrom } from './fixtures/recorder.ts';
import type { ReplayReport } from './replayReport.ts';
import { replayRun } from './replayRun.ts';

describe('a changed workflow', () => {
  test('that no longer takes what was only the default goes on with its own', async () => {
    const size = (most: number, standard: number) => ({
      params: { size: { type: 'integer', max: most, default: standard } },
    });
    const phases = withPhases({ A: { next: { condition: 'params.size > 5', onTrue: 'C', onFalse: 'B' } } });
    const walk = record(workflowFrom({ ...phases, ...size(50, 10) }));
    const said = record(workflowFrom({ ...phases, ...size(50, 10) }), { params: { size: 9 } });
    for (const one of [walk, said]) one.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const kinds = async (one: Recorder, draft: object) =>
      (await replay(one, workflowFrom({ ...phases, ...draft }))).steps.map(({ seq, kind }) => [seq, kind]);

    expect(await kinds(walk, size(5, 1))).toEqual([[2, 'other_way']]);
    expect(await kinds(walk, size(50, 1))).toEqual([]);
    expect(await kinds(said, size(5, 1))).toEqual([[1, 'now_refused']]);
  });

  test('that refuses for another reason and leaves the run elsewhere is a flip', async () => {
    const strictly = (more: Partial<PhaseDraft>) => withPhases({ A: { ...more } });
    const walk = record(workflowFrom(strictly({ postconditions: [{ check: 'asked' }] })));
    const answer = () => result('failed', 'exit 1');
    for (const _ of [1, 2]) walk.submit({ kind: 'complete', phase: 'A', evidence: {} }, { answer });
    expect(walk.run().status).toBe('escalated');
    const changed = workflowFrom(strictly({ fields: [{ name: 'size', type: 'int' }] }));

    expect((await replay(walk, changed)).steps).toMatchObject([
      { kind: 'other_reason', seq: 2 },
      {
        kind: 'other_way',
        seq: 3,
        reason: expect.stringMatching(
          /^led to a human in phase `A` \(attempts\), would lead to phase `A`; incomplete_checkpoint: size/,
        ),
      },
    ]);
  });

  test('that is permissive and leads elsewhere is a flip, whatever it would have refused for', async () => {
    const permissive = { enforcement: { mode: 'permissive' } } as const;
    const fields = (name: string) => [{ name, type: 'int' }];
    const walk = record(workflowFrom({ ...withPhases({ A: { fields: fields('size') } }), ...permissive }));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const elsewhere = withPhases({
      A: { fields: fields('weight'), next: { outcomes: { ok: 'C', fail: 'B' } } },
    });

    expect((await replay(walk, workflowFrom({ ...elsewhere, ...permissive }))).steps).toMatchObject([
      { kind: 'other_way', was: { verdict: 'let_through' }, would: { verdict: 'let_through' } },
    ]);
  });

  test('without a phase has nothing to say to who had no part in the run', async () => {
    const walk = record(workflowFrom(withPhases({ A: { allowedTools: ['bash'] } })));
    walk.useTool({ tool: 'bash', input: { command: 'ls' } }, BOB);
    const renamed = workflowFrom({ id: 'w', phases: [{ id: 'Z' }] });

    expect((await replay(walk, renamed)).steps.map(({ seq, kind }) => [seq, kind])).toEqual([
      [1, 'other_way'],
    ]);
  });
});

const PLAIN: WorkflowDraft = { id: 'w', phases: [{ id: 'A' }, { id: 'B' }, { id: 'C' }] };

function withPhases(changes: Readonly<Record<string, Partial<PhaseDraft>>>): WorkflowDraft {
  return { ...PLAIN, phases: PLAIN.phases.map((phase) => ({ ...phase, ...changes[String(phase.id)] })) };
}

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
