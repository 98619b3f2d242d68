import type { Command } from '@phasegate/core/engine';
import type { PhaseDraft, Workflow, WorkflowDraft } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { ADA, BOB, result } from '../../../core/src/engine/fixtures/walks.ts';
import { type Answer, type Recorder, record, workflowFrom } from './fixtures/recorder.ts';
import type { Replaying, ReplayReport } from './replayReport.ts';
import { replayRun } from './replayRun.ts';

test('handlers, conditions and functions serve again while their code is the same', async () => {
  const walk = record(workflowFrom(CODE('h1')));
  walk.submit({ kind: 'complete', phase: 'A', evidence: {} }, { answer: codeAnswer });

  expect(walk.run().phase).toBe('B');
  expect((await replay(walk, walk.run().workflow)).counts).toMatchObject({ same: 2 });
});

describe('a changed workflow', () => {
  test('with a postcondition that the evidence lacks refuses what passed, and says why', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: { size: 1 } });
    walk.submit({ kind: 'complete', phase: 'B', evidence: { size: 9 } });
    const post = { check: 'believed', with: { least: 5 }, message: 'too small' };
    const changed = workflowFrom(
      withPhases({ A: { postconditions: [post] }, B: { postconditions: [post] } }),
    );

    const report = await replay(walk, changed);

    expect(report.steps).toMatchObject([
      {
        kind: 'now_refused',
        seq: 2,
        phase: 'A',
        asked: 'complete `A`',
        was: { verdict: 'allowed', leads: 'phase `B`' },
        would: { verdict: 'refused', leads: 'phase `A`' },
        reason: 'check_failed: too small (1 is less than 5)',
      },
    ]);
    expect(report.counts).toMatchObject({ now_refused: 1, same: 2, unknown: 0 });
  });

  test('with a check that looks at the world is unknown where nobody looked, and never the same', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const changed = workflowFrom(
      withPhases({ A: { postconditions: [{ check: 'asked', label: 'tests_pass' }] } }),
    );

    const { steps, counts } = await replay(walk, changed);

    expect(steps).toMatchObject([
      { kind: 'unknown', reason: 'nobody looked then at the check `tests_pass` (asked)', would: null },
    ]);
    expect(counts.same).toBe(1);
  });

  test('what is refused without the answer nobody has is refused', async () => {
    const walk = record(workflowFrom(withPhases({ A: { fields: [{ name: 'size', type: 'int' }] } })));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    walk.submit({ kind: 'complete', phase: 'A', evidence: { size: 1 } });
    const believed = { check: 'believed', with: { least: 5 }, message: 'too small' };
    const changed = workflowFrom(
      withPhases({
        A: { fields: [{ name: 'size', type: 'int' }], postconditions: [{ check: 'asked' }, believed] },
      }),
    );

    const { steps, counts } = await replay(walk, changed);

    expect(counts).toMatchObject({ now_refused: 1, unknown: 0, same: 2 });
    expect(steps[0]).toMatchObject({ kind: 'now_refused', seq: 3 });
  });

  test('keeps what was found where it asks the same, wherever it asks it', async () => {
    const ask = (label: string, more = {}) => ({ check: 'asked', label, with: { argv: ['test'] }, ...more });
    const walk = record(workflowFrom(withPhases({ A: { postconditions: [ask('red')] } })));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} }, { answer: () => result('failed', 'exit 1') });
    const moved = workflowFrom(withPhases({ A: { gates: [{ blockers: [ask('renamed')] }] } }));
    const other = workflowFrom(
      withPhases({ A: { postconditions: [{ ...ask('red'), with: { argv: ['lint'] } }] } }),
    );

    expect((await replay(walk, moved)).steps).toMatchObject([
      { kind: 'other_reason', would: { blockers: [{ code: 'check_failed' }] } },
    ]);
    expect((await replay(walk, other)).steps).toMatchObject([{ kind: 'unknown' }]);
  });

  test('that asks twice what then had two answers does not choose one', async () => {
    const ask = { check: 'asked', with: { argv: ['test'] } };
    const walk = record(
      workflowFrom(withPhases({ A: { postconditions: [ask], gates: [{ blockers: [ask] }] } })),
    );
    let asked = 0;
    walk.submit(
      { kind: 'complete', phase: 'A', evidence: {} },
      { answer: () => result(asked++ === 0 ? 'passed' : 'failed', 'flaky') },
    );
    const changed = workflowFrom(withPhases({ B: { preconditions: [ask] } }));

    expect((await replay(walk, changed)).steps).toMatchObject([{ kind: 'unknown', seq: 2 }]);
  });

  test('that drops a field lets pass what was refused for it', async () => {
    const walk = record(workflowFrom(withPhases({ A: { fields: [{ name: 'size', type: 'int' }] } })));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });

    const { steps } = await replay(walk, workflowFrom(PLAIN));

    expect(steps).toMatchObject([
      { kind: 'now_allowed', reason: expect.stringMatching(/^was refused: incomplete_checkpoint: .*size/) },
    ]);
  });

  test('that forbids a tool refuses its calls, and only those of who holds the run', async () => {
    const walk = record(workflowFrom(withPhases({ A: { allowedTools: ['bash', 'fetch'] } })));
    walk.useTool({ tool: 'bash', input: { command: 'ls' } });
    walk.useTool({ tool: 'fetch', input: {} });
    walk.useTool({ tool: 'bash', input: { command: 'ls' } }, BOB);
    const changed = workflowFrom(withPhases({ A: { allowedTools: ['fetch'], forbiddenTools: ['bash'] } }));

    const { steps, counts } = await replay(walk, changed);

    expect(steps).toMatchObject([
      {
        kind: 'now_refused',
        seq: 2,
        asked: 'use `bash` on `ls`',
        reason: 'tool_forbidden: `bash` is forbidden in phase `A`',
      },
    ]);
    expect(counts.same).toBe(3);
  });

  test('with another route leads elsewhere, and with a gate to a human', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    walk.submit({ kind: 'complete', phase: 'B', evidence: {} });
    const changed = workflowFrom(
      withPhases({ A: { next: { outcomes: { ok: 'C', fail: 'B' } } }, B: { gates: [GATE] } }),
    );

    const { steps } = await replay(walk, changed);

    expect(steps).toMatchObject([
      { kind: 'other_way', reason: 'led to phase `B`, would lead to phase `C`' },
      { kind: 'other_way', reason: 'led to phase `C`, would lead to gate `go#1` behind phase `B`' },
    ]);
  });

  test('without a phase or a gate has no answer to what was asked there', async () => {
    const walk = record(workflowFrom(withPhases({ B: { gates: [GATE], allowedTools: ['bash'] } })));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    walk.useTool({ tool: 'bash', input: { command: 'ls' } });
    walk.submit({ kind: 'complete', phase: 'B', evidence: {} });
    walk.submit(CHOICE('Yes', 'go#1'), { principal: ADA });
    const noPhase = workflowFrom({ id: 'w', phases: [{ id: 'A', next: { to: 'C' } }, { id: 'C' }] });
    const noGate = workflowFrom(withPhases({ B: { allowedTools: ['bash'] } }));

    expect((await replay(walk, noPhase)).steps.map(({ kind, seq }) => [seq, kind])).toEqual([
      [2, 'other_way'],
      [3, 'phase_gone'],
      [4, 'phase_gone'],
      [5, 'phase_gone'],
    ]);
    expect((await replay(walk, noGate)).steps).toMatchObject([
      { seq: 4, kind: 'other_way', reason: 'led to gate `go#1` behind phase `B`, would lead to phase `C`' },
      { seq: 5, kind: 'gate_gone', reason: 'no human decides behind phase `B` any more' },
    ]);
  });

  test('judges a choice as the human was shown it then, by its own options and approvers', async () => {
    const gate = (more: object) => ({ ...GATE, human: { ...GATE.human, ...more } });
    const walk = record(workflowFrom(withPhases({ A: { gates: [gate({ approvers: ['cara'] })] } })));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    walk.submit(CHOICE('Yes', 'go#1'), { principal: ADA });
    walk.submit(CHOICE('Yes', 'go#1'), { principal: ADA, shown: 'another card' });
    walk.submit(CHOICE('Yes', 'go#1'), { principal: { kind: 'human', name: 'cara' } });
    const anyone = workflowFrom(withPhases({ A: { gates: [gate({ prompt: 'Another?' })] } }));
    const renamed = workflowFrom(
      withPhases({ A: { gates: [gate({ options: [{ label: 'Go' }], approvers: ['cara'] })] } }),
    );

    expect((await replay(walk, anyone)).steps).toMatchObject([
      { kind: 'now_allowed', seq: 3, by: ADA, reason: expect.stringContaining('not_an_approver') },
      { kind: 'now_allowed', seq: 4, by: ADA },
    ]);
    expect((await replay(walk, renamed)).steps.map(({ kind, seq }) => [seq, kind])).toEqual([
      [5, 'now_refused'],
    ]);
  });

  test('with other code has no answers of functions, handlers and conditions', async () => {
    const walk = record(workflowFrom(CODE('h1')));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} }, { answer: codeAnswer });

    const { steps } = await replay(walk, workflowFrom(CODE('h2')));

    expect(steps).toMatchObject([{ kind: 'unknown', reason: OTHER_CODE }]);
  });

  test('is asked whether the run could start: params, preconditions and entry', async () => {
    const params = { size: { type: 'integer', default: 3 }, mode: { type: 'string' } };
    const walk = record(workflowFrom({ ...PLAIN, params }), { params: { mode: 'slow' } });
    const start = async (more: Partial<WorkflowDraft>) =>
      (await replay(walk, workflowFrom({ ...PLAIN, params, ...more }))).steps;

    expect(await start({ params: { mode: { type: 'string' } } })).toEqual([]);
    expect(await start({ params: { ...params, deep: { type: 'boolean', default: true } } })).toEqual([]);
    expect(await start({ params: { mode: { type: 'string', choices: ['fast'] } } })).toMatchObject([
      { kind: 'now_refused', asked: 'start the run', reason: expect.stringMatching(/^param_invalid.*mode/) },
    ]);
    expect(await start({ params: { ...params, who: { type: 'string', required: true } } })).toMatchObject([
      { kind: 'now_refused' },
    ]);
    expect(await start({ phases: [{ ...FIRST, preconditions: [{ check: 'asked' }] }] })).toMatchObject([
      { kind: 'unknown' },
    ]);
    expect(await start({ phases: [{ id: 'Z', next: { to: 'A' } }, FIRST] })).toMatchObject([
      { kind: 'other_way', reason: 'led to phase `A`, would lead to phase `Z`' },
    ]);
  });

  test('has its own params with their defaults in a run that had none of them', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const skipping = withPhases({ A: { next: { condition: 'params.short', onTrue: 'C', onFalse: 'B' } } });
    const params = { short: { type: 'boolean', default: true } };

    expect((await replay(walk, workflowFrom({ ...skipping, params }))).steps).toMatchObject([
      { kind: 'other_way', reason: 'led to phase `B`, would lead to phase `C`' },
    ]);
  });

  test('that is permissive lets through what it would refuse, which is a flip all the same', async () => {
    const walk = record(workflowFrom({ ...PLAIN, enforcement: { mode: 'permissive' } }));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const strictly = withPhases({ A: { fields: [{ name: 'size', type: 'int' }] } });
    const changed = workflowFrom({ ...strictly, enforcement: { mode: 'permissive' } });

    expect((await replay(walk, changed)).steps).toMatchObject([
      { kind: 'now_refused', would: { verdict: 'let_through', leads: 'phase `B`' } },
    ]);
  });

  test('that makes a phase parallel asks for its items', async () => {
    const walk = record(workflowFrom({ ...PLAIN, params: { areas: { type: 'list' } } }), {
      params: { areas: ['x', 'y'] },
    });
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const changed = workflowFrom({
      ...withPhases({ A: { parallel: { key: 'areas' } } }),
      params: { areas: { type: 'list' } },
    });

    expect((await replay(walk, changed)).steps).toMatchObject([
      { kind: 'now_refused', reason: expect.stringMatching(/^item_required/) },
    ]);
  });
});

describe('what is on record', () => {
  test('of another version, or not at all, is not decided again, and the version is named', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const records = walk.records().map((one, index) => {
      const { recorded: _, ...data } = one.data as { readonly recorded: object };
      return { ...one, data: index === 0 ? data : { ...data, recorded: { version: 7 } } };
    });

    const report = await replayRun({ ...LOOKING, run: walk.run(), records, changed: walk.run().workflow });

    expect(report.otherVersions).toEqual(['7']);
    expect(report.counts).toMatchObject({ unrecorded: 2, same: 0 });
  });

  test('and is not what its own workflow gives is unknown: the change is not to blame', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const drifted = workflowFrom(withPhases({ A: { fields: [{ name: 'size', type: 'int' }] } }));
    const run = { ...walk.run(), workflow: drifted };

    const { steps } = await replayRun({ ...LOOKING, run, records: walk.records(), changed: drifted });

    expect(steps).toMatchObject([{ kind: 'unknown', seq: 2, was: null }]);
  });

  test('must lead to the run as it stands', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const strange = walk
      .records()
      .map((one) => (one.seq === 2 ? { ...one, event: 'phase_teleported' } : one));
    const { workflow } = walk.run();
    const replaying = { ...LOOKING, run: walk.run(), changed: workflow };

    await expect(replayRun({ ...replaying, records: strange })).rejects.toMatchObject({
      code: 'audit_broken',
    });
    await expect(replayRun({ ...replaying, records: [] })).rejects.toMatchObject({ code: 'audit_broken' });
  });

  test('before a migration is held against the workflow of that time only', async () => {
    const walk = record(workflowFrom(PLAIN));
    walk.submit({ kind: 'complete', phase: 'A', evidence: {} });
    const startedWith = walk.run().workflow;
    const next = workflowFrom(withPhases({ B: { instructions: 'otherwise' } }));
    const migrate: Command = {
      kind: 'migrate',
      workflow: next,
      workflowHash: 'h2',
      trusted: true,
      proof: { reachable: true, trace: [] },
    };
    expect(walk.submit(migrate, { principal: ADA }).verdict.allowed).toBe(true);
    walk.submit({ kind: 'complete', phase: 'B', evidence: {} });
    const replaying = { ...LOOKING, run: walk.run(), records: walk.records(), changed: next };

    expect((await replayRun(replaying)).counts).toMatchObject({ unrecorded: 2, same: 1 });
    expect((await replayRun({ ...replaying, startedWith })).counts).toMatchObject({ unrecorded: 0, same: 3 });
  });
});

const OTHER_CODE = 'other code than now answered then for the handler `a/run`';
const FIRST: PhaseDraft = { id: 'A' };
const PLAIN: WorkflowDraft = { id: 'w', phases: [FIRST, { id: 'B' }, { id: 'C' }] };
const GATE = { id: 'go', human: { prompt: 'Go?', options: [{ label: 'Yes' }] } };

const CHOICE = (option: string, gate: string): Command => ({
  kind: 'decide',
  gate,
  option,
  shown: 'the card',
  signature: 's',
});

const CODE = (code: string): WorkflowDraft => ({
  id: 'w',
  code,
  module: 'w.ts',
  phases: [
    {
      id: 'A',
      work: { kind: 'handler', ref: 'a/run' },
      postconditions: [{ ref: 'a/post' }],
      next: { condition: { ref: 'a/next', source: 'next' }, onTrue: 'B', onFalse: null },
    },
    { id: 'B' },
  ],
});

const codeAnswer: Answer = (look) => {
  if (look.kind === 'handler') return { ok: true, outcome: 'ok', state: { worked: true } };
  if (look.kind === 'condition') return { ok: true, value: true };
  return result('passed');
};

/** `asked` looks at the workspace; `believed` reads its subject, here whether `size` is large enough. */
const LOOKING: Pick<Replaying, 'reads' | 'look'> = {
  reads: (use) => (use === 'asked' ? 'workspace' : use === 'believed' ? 'subject' : 'both'),
  look: async (look) => {
    if (look.kind !== 'check') throw new Error('only checks are asked again');
    const { size } = look.subject.scope.result as { readonly size: number };
    const { least } = look.check.with as { readonly least: number };
    const found = size >= least ? result('passed') : result('failed', `${size} is less than ${least}`);
    return { kind: 'check', result: { ...found, class: 'claimed' } };
  },
};

function withPhases(changes: Readonly<Record<string, Partial<PhaseDraft>>>): WorkflowDraft {
  return { ...PLAIN, phases: PLAIN.phases.map((phase) => ({ ...phase, ...changes[String(phase.id)] })) };
}

function replay(walk: Recorder, changed: Workflow): Promise<ReplayReport> {
  return replayRun({ ...LOOKING, run: walk.run(), records: walk.records(), changed });
}
