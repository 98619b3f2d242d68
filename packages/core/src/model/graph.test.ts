import { describe, expect, test } from 'vitest';
import { graphOf, type RunPlace } from './graph.ts';
import type { HumanGate, Phase, PhaseId, Route, Target, Workflow } from './workflow.ts';

describe('the graph of a workflow', () => {
  test('has a node for every phase in order, and one for the end', () => {
    const graph = graphOf(workflowOf([phase('PLAN'), phase('TDD', { next: to(null) })]));

    expect(graph.nodes.map(({ id, number, kind, entry }) => ({ id, number, kind, entry }))).toEqual([
      { id: 'PLAN', number: 1, kind: 'phase', entry: true },
      { id: 'TDD', number: 2, kind: 'phase', entry: false },
      { id: null, number: null, kind: 'end', entry: false },
    ]);
    expect(graph.edges).toEqual([
      { from: 'PLAN', to: 'TDD', label: '', human: false, back: false, max: null },
      { from: 'TDD', to: null, label: '', human: false, back: false, max: null },
    ]);
  });

  test('says which condition leads where, and how often a way back may be taken [S4.7]', () => {
    const graph = graphOf(
      workflowOf([
        phase('writer'),
        phase('review', { next: when('result.decision === "approved"', null, 'writer', 3) }),
      ]),
    );

    expect(graph.edges.slice(1)).toEqual([
      {
        from: 'review',
        to: null,
        label: 'result.decision === "approved"',
        human: false,
        back: false,
        max: null,
      },
      { from: 'review', to: 'writer', label: 'else', human: false, back: true, max: 3 },
    ]);
  });

  test('shows outcomes, the way for all others and the way of an exhausted loop [S4.7]', () => {
    const next: Route = {
      kind: 'outcomes',
      map: { ok: null, iterate: 'A' },
      otherwise: 'B',
      maxIterations: 2,
      onExhausted: 'B',
    };
    const graph = graphOf(workflowOf([phase('A', { next }), phase('B', { next: to(null) })]));

    expect(graph.edges.map(({ to, label, back, max }) => ({ to, label, back, max }))).toEqual([
      { to: null, label: 'ok', back: false, max: null },
      { to: 'A', label: 'iterate', back: true, max: 2 },
      { to: 'B', label: 'else', back: false, max: null },
      { to: 'B', label: 'exhausted', back: false, max: null },
      { to: null, label: '', back: false, max: null },
    ]);
  });

  test('draws a human gate by its options, and the route only for options that name no phase', () => {
    const humanGate = gate([
      { label: 'Approve' },
      { label: 'Redo', next: 'A' },
      { label: 'Reject', next: null },
    ]);
    const graph = graphOf(
      workflowOf([phase('A'), phase('B', { humanGate, next: when('result.good', null, 'A', 1) })]),
    );

    expect(graph.nodes[1]).toMatchObject({ human: true, gate: 'ship' });
    expect(graph.edges.filter(({ from }) => from === 'B')).toEqual([
      { from: 'B', to: 'A', label: 'Redo', human: true, back: true, max: null },
      { from: 'B', to: null, label: 'Reject', human: true, back: false, max: null },
      { from: 'B', to: null, label: 'Approve: result.good', human: true, back: false, max: null },
      { from: 'B', to: 'A', label: 'Approve: else', human: true, back: true, max: 1 },
    ]);
  });

  test('shows that reporting failure passes a human gate by', () => {
    const next: Route = { kind: 'outcomes', map: { ok: null, fail: 'A' }, maxIterations: null };
    const answered = gate([{ label: 'Approve', next: null }]);
    const following = gate([{ label: 'Approve' }]);

    for (const humanGate of [answered, following]) {
      const graph = graphOf(workflowOf([phase('A'), phase('B', { humanGate, next })]));
      const ways = graph.edges.filter(({ from }) => from === 'B').map(({ to, human }) => ({ to, human }));
      expect(ways).toEqual([
        { to: null, human: true },
        { to: 'A', human: false },
      ]);
    }
  });

  test('names blockers and the human gate behind a phase, and the items of a parallel one', () => {
    const blocker = {
      id: 'A/blockers/0',
      use: 'x',
      label: 'tests_are_failing',
      with: {},
      message: '',
      needs: 'claimed',
    } as const;
    const graph = graphOf(
      workflowOf([
        phase('A', { blockers: [blocker], humanGate: gate([{ label: 'Go' }]), parallel: { key: 'areas' } }),
      ]),
    );

    expect(graph.nodes[0]).toMatchObject({ gate: 'tests_are_failing, ship', parallel: 'areas' });
  });

  test('shows what a phase asks for, and whether the engine looks for itself', () => {
    const check = { id: 'A/x/0', use: 'x', label: 'said', with: {}, message: '', needs: 'claimed' } as const;
    const evidence = {
      fields: [{ name: 'count', type: 'int', rule: 'positive', description: '' }],
      artifacts: [{ type: 'report', description: '', schema: null }],
    } as unknown as Phase['evidence'];
    const graph = graphOf(
      workflowOf([
        phase('A', {
          evidence,
          postconditions: [check, { ...check, label: 'warned', severity: 'warning' }],
          blockers: [
            { ...check, label: 'demanded', needs: 'verified' },
            { ...check, label: 'looked', recheck: true },
          ],
        }),
      ]),
    );

    expect(graph.nodes[0]).toMatchObject({
      evidence: ['count', 'report'],
      checks: [
        { label: 'said', class: 'claimed', warns: false },
        { label: 'warned', class: 'claimed', warns: true },
        { label: 'demanded', class: 'verified', warns: false },
        { label: 'looked', class: 'verified', warns: false },
      ],
    });
    expect(graph.nodes[1]).toMatchObject({ kind: 'end', evidence: [], checks: [] });
  });

  test('has no end where nothing ends', () => {
    const graph = graphOf(workflowOf([phase('A', { next: to('A') })]));

    expect(graph.nodes.map(({ id }) => id)).toEqual(['A']);
    expect(graph.edges).toMatchObject([{ from: 'A', to: 'A', back: true }]);
  });

  test('keeps a phase number of zero and the ids as they were written [C2]', () => {
    const graph = graphOf(workflowOf([phase(0), phase(1, { next: to(null) })]));

    expect(graph.entry).toBe(0);
    expect(graph.nodes[0]).toMatchObject({ id: 0, number: 0, entry: true });
    expect(graph.edges[0]).toMatchObject({ from: 0, to: 1 });
  });
});

describe('with a run', () => {
  const workflow = workflowOf([phase('A'), phase('B'), phase('C', { next: to(null) })]);
  const statuses = (run: RunPlace) => graphOf(workflow, run).nodes.map((node) => node.status);

  test('every node says where the run stands with it', () => {
    expect(statuses(runAt('active', 'B', ['A']))).toEqual(['completed', 'current', 'ahead', 'ahead']);
    expect(statuses(runAt('queued', 'A'))).toEqual(['current', 'ahead', 'ahead', 'ahead']);
    expect(statuses(runAt('waiting', 'B', ['A']))).toEqual(['completed', 'waiting', 'ahead', 'ahead']);
    expect(statuses(runAt('escalated', 'B', ['A']))).toEqual(['completed', 'escalated', 'ahead', 'ahead']);
    expect(statuses(runAt('completed', null, ['A', 'B', 'C']))).toEqual(Array(4).fill('completed'));
  });

  test('a phase that is visited again is current, not completed', () => {
    expect(statuses(runAt('active', 'A', ['A', 'B']))).toEqual(['current', 'completed', 'ahead', 'ahead']);
  });

  test('a stopped run shows where a human ended it', () => {
    const run = { ...runAt('stopped', null, ['A']), stoppedIn: 'B' };

    expect(statuses(run)).toEqual(['completed', 'stopped', 'ahead', 'ahead']);
    expect(graphOf(workflow, run).run).toEqual({ id: 'r1', status: 'stopped', phase: null });
  });

  test('no node has a status without one', () => {
    expect(graphOf(workflow).run).toBeNull();
    expect(graphOf(workflow).nodes.map((node) => node.status)).toEqual([null, null, null, null]);
  });
});

function runAt(
  status: RunPlace['status'],
  place: PhaseId | null,
  completed: readonly PhaseId[] = [],
): RunPlace {
  return { id: 'r1', status, phase: place, completions: completed.map((id) => ({ phase: id })) };
}

type Sketch = { readonly id: PhaseId } & Partial<Phase>;

function phase(id: PhaseId, parts: Partial<Phase> = {}): Sketch {
  return { ...parts, id };
}

function workflowOf(sketches: readonly Sketch[]): Workflow {
  const phases = sketches.map(
    (sketch, index): Phase => ({
      number: typeof sketch.id === 'number' ? sketch.id : index + 1,
      name: String(sketch.id),
      description: '',
      instructions: '',
      content: null,
      sourceId: null,
      render: null,
      work: { kind: 'agent' },
      tasks: [],
      tools: { allowed: [], forbidden: [], constraints: {} },
      writes: [],
      preconditions: [],
      evidence: { fields: [], artifacts: [] },
      postconditions: [],
      blockers: [],
      humanGate: null,
      parallel: null,
      next: to(sketches[index + 1]?.id ?? null),
      ...sketch,
    }),
  );
  return {
    id: 'w',
    title: 'W',
    version: null,
    description: '',
    params: {},
    enforcement: { mode: 'strict', ring: 'served', tokenSeconds: 7200 },
    entry: phases[0]?.id ?? 'none',
    phases,
    code: null,
    module: null,
    templates: null,
  };
}

function to(target: Target): Route {
  return { kind: 'to', target };
}

function when(source: string, onTrue: Target, onFalse: Target, maxIterations: number): Route {
  const expression = { kind: 'literal', value: true, at: 0 } as const;
  return {
    kind: 'when',
    condition: { kind: 'expression', source, expression },
    onTrue,
    onFalse,
    maxIterations,
  };
}

function gate(options: readonly { readonly label: string; readonly next?: Target }[]): HumanGate {
  return {
    id: 'ship',
    prompt: 'Ship it?',
    context: [],
    options: options.map((option) => ({ ...option, requiresInput: false })),
    approvers: [],
    quorum: 1,
    timeout: null,
  };
}
