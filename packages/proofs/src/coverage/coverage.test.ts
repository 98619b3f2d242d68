import type { JsonObject, Workflow } from '@phasegate/core/model';
import { graphOf } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { ADA, BOB, phases, result, workflowOf } from '../../../core/src/engine/fixtures/walks.ts';
import { type Recorder, record } from '../replay/fixtures/recorder.ts';
import type { ChainRecord } from '../replay/recordedSteps.ts';
import { coverables } from './coverables.ts';
import {
  type Coverage,
  type CoverageRecording,
  coverageCount,
  coverageOf,
  startCoverage,
} from './coverage.ts';
import { markCoverage } from './coverageMarks.ts';

describe('phases and ways', () => {
  test('a walk shows the phases it entered and completed, and the ways between them', () => {
    const workflow = workflowOf(phases(3));
    const walk = record(workflow);
    done(walk);

    expect(seen(walk)).toEqual([
      'phase `1`: enters it 1',
      'phase `1`: completes it 1',
      'way `1` → `2`: goes this way 1',
      'phase `2`: enters it 1',
    ]);
  });

  test.each<[boolean, string]>([
    [true, 'way `1` → the end (result.good === true): goes this way 1'],
    [false, 'way `1` → `1` (else): goes this way 1'],
  ])('a condition has two ways, and %s takes one of them', (good, way) => {
    const next = { condition: 'result.good === true', onTrue: null, onFalse: 1, maxIterations: 2 };
    const walk = record(workflowOf([{ id: 1, next }]));
    done(walk, { good });

    expect(seen(walk).filter((line) => line.startsWith('way'))).toEqual([way]);
  });

  test('both answers of a condition that lead to the same phase are told apart', () => {
    const next = { condition: 'result.good === true', onTrue: 2, onFalse: 2 };
    const walk = record(workflowOf([{ id: 1, next }, { id: 2 }]));
    done(walk, { good: false });

    expect(seen(walk)).toContain('way `1` → `2` (else): goes this way 1');
    expect(seen(walk)).not.toContain('way `1` → `2` (result.good === true): goes this way 1');
  });

  test('a condition that is a function is told by what was found', () => {
    const next = { condition: { ref: 'next/a', source: 'isGood' }, onTrue: 2, onFalse: 2 };
    const workflow = workflowOf([{ id: 1, next }, { id: 2 }], { code: 'c', module: 'm.ts' });
    const walk = record(workflow);
    walk.submit(
      { kind: 'complete', phase: 1, evidence: {} },
      { answer: (look) => (look.kind === 'condition' ? { ok: true, value: false } : result('passed')) },
    );

    expect(seen(walk).filter((line) => line.startsWith('way'))).toEqual([
      'way `1` → `2` (else): goes this way 1',
    ]);
  });

  test('an exhausted loop goes the way for that, also where it leads to the same place', () => {
    const next = {
      condition: 'result.good === true',
      onTrue: null,
      onFalse: 1,
      maxIterations: 1,
      onExhausted: null,
    };
    const walk = record(workflowOf([{ id: 1, next }]));
    done(walk, { good: false });
    done(walk, { good: false });

    expect(seen(walk).filter((line) => line.startsWith('way'))).toEqual([
      'way `1` → `1` (else): goes this way 1',
      'way `1` → the end (exhausted): goes this way 1',
    ]);
  });

  test('of two ways back to the same phase the one that was gone, while the loop may go on', () => {
    const next = { outcomes: { ok: null, iterate: 1, fail: 1 }, maxIterations: 2, onExhausted: null };
    const walk = record(workflowOf([{ id: 1, next }]));
    walk.submit({ kind: 'complete', phase: 1, evidence: {}, outcome: 'iterate' });

    expect(seen(walk).filter((line) => line.startsWith('way'))).toEqual([
      'way `1` → `1` (iterate): goes this way 1',
    ]);
  });

  test.each<['ok' | 'fail', string]>([
    ['fail', 'way `1` → `2` (fail): goes this way 1'],
    ['ok', 'way `1` → `2` (else): goes this way 1'],
  ])(
    'the outcome %s goes its way, or that of all others, also where they lead to the same phase',
    (outcome, way) => {
      const next = { outcomes: { fail: 2, iterate: 2, _default: 2 } };
      const walk = record(workflowOf([{ id: 1, next }, { id: 2 }]));
      walk.submit({ kind: 'complete', phase: 1, evidence: {}, outcome, reason: 'because' });

      expect(seen(walk).filter((line) => line.startsWith('way'))).toEqual([way]);
    },
  );
});

describe('gates and options', () => {
  const human = {
    prompt: 'Good?',
    options: [{ label: 'Yes' }, { label: 'Again', next: 1 }, { label: 'Stop', next: null }],
  };
  const gated = () => workflowOf([{ id: 1, gates: [{ id: 'ship', human }] }, { id: 2 }]);

  test.each<[string, string]>([
    ['Yes', 'way `1` → `2` (Yes): goes this way 1'],
    ['Again', 'way `1` → `1` (Again): goes this way 1'],
    ['Stop', 'way `1` → the end (Stop): goes this way 1'],
  ])('the option %s is chosen and leads its way', (option, way) => {
    const walk = record(gated());
    done(walk);
    choose(walk, option);

    const lines = seen(walk);
    expect(lines).toContain('gate `ship` of `1`: opens it 1');
    expect(lines).toContain('gate `ship` of `1`: decides there 1');
    expect(lines.filter((line) => line.startsWith('option'))).toEqual([
      `option \`${option}\` of gate \`ship\`: chooses it 1`,
    ]);
    expect(lines.filter((line) => line.startsWith('way'))).toEqual([way]);
  });

  test('a gate that only opened was not decided, nor by an agent, nor by too few', () => {
    const walk = record(
      workflowOf([{ id: 1, gates: [{ id: 'ship', human: { ...human, quorum: 2 } }] }, { id: 2 }]),
    );
    done(walk);
    choose(walk, 'Yes', BOB);
    const opened = seen(walk);
    choose(walk, 'Yes');
    const voted = seen(walk);

    expect(opened).toEqual(['phase `1`: enters it 1', 'gate `ship` of `1`: opens it 1']);
    expect(voted).toEqual([...opened, 'option `Yes` of gate `ship`: chooses it 1']);
  });
});

describe('checks', () => {
  const workflow = () =>
    workflowOf([
      {
        id: 1,
        postconditions: [{ check: 'asked', label: 'post' }],
        gates: [{ id: 'g', blockers: [{ check: 'asked', label: 'block' }] }],
      },
      { id: 2, preconditions: [{ check: 'asked', label: 'pre' }] },
    ]);

  test('have two sides, and each attempt shows one', () => {
    const walk = record(workflow());
    walk.submit({ kind: 'complete', phase: 1, evidence: {} }, { answer: failing('block') });

    expect(seen(walk).filter((line) => /condition|blocker/.test(line))).toEqual([
      'postcondition `post` of `1`: sees it hold 1',
      'blocker `block` of `1`: sees it refuse 1',
    ]);
  });

  test('a precondition that keeps an agent out refuses; one it gets past holds', () => {
    const walk = record(workflow());
    walk.submit({ kind: 'complete', phase: 1, evidence: {} }, { answer: failing('pre') });
    const out = seen(walk);
    done(walk);

    expect(out).toContain('precondition `pre` of `2`: sees it refuse 1');
    expect(out).not.toContain('phase `2`: enters it 1');
    expect(seen(walk)).toContain('precondition `pre` of `2`: sees it hold 1');
  });

  test('an answer of too weak a class refuses, though it passed', () => {
    const checks = [{ check: 'asked', label: 'post', needs: 'verified' as const }];
    const walk = record(workflowOf([{ id: 1, postconditions: checks }]));
    walk.submit(
      { kind: 'complete', phase: 1, evidence: {} },
      { answer: () => ({ status: 'passed', reason: '', class: 'claimed' }) },
    );

    expect(seen(walk)).toContain('postcondition `post` of `1`: sees it refuse 1');
    expect(seen(walk)).not.toContain('postcondition `post` of `1`: sees it hold 1');
  });

  test('a precondition that stood against a human’s choice refuses, though nothing changed', () => {
    const human = { prompt: '?', options: [{ label: 'Yes' }] };
    const walk = record(
      workflowOf([
        { id: 1, gates: [{ id: 'g', human }] },
        { id: 2, preconditions: [{ check: 'asked', label: 'pre' }] },
      ]),
    );
    done(walk);
    const wait = walk.run();
    walk.submit(decision(wait, 'Yes'), { principal: ADA, answer: failing('pre') });

    expect(walk.run().status).toBe('waiting');
    expect(seen(walk)).toContain('precondition `pre` of `2`: sees it refuse 1');
  });

  test('a refused start shows the precondition that said so, if only one can have', () => {
    const pre = (label: string, message: string) => ({ check: 'asked', label, message });
    const count = (preconditions: ReturnType<typeof pre>[], message: string) => {
      const tally = startCoverage({ workflow: workflowOf([{ id: 1, preconditions }]), hash: 'h' });
      tally.addRefusedStart('tests', [{ code: 'precondition_failed', message }]);
      return lines(tally.result());
    };

    expect(count([pre('a', 'No'), pre('b', 'Not here')], 'Not here (why)')).toEqual([
      'precondition `b` of `1`: sees it refuse 1',
    ]);
    expect(count([pre('a', 'No'), pre('b', 'No')], 'No (why)')).toEqual([]);
    expect(count([pre('a', 'No')], 'something else')).toEqual([]);
  });
});

describe('deny rules', () => {
  const policy = { allowedTools: ['write_files'], forbiddenTools: ['bash'], writes: ['src/**'] };

  test('are shown by the calls they refuse', () => {
    const walk = record(workflowOf(phases(1, () => policy)));
    walk.useTool({ tool: 'bash', input: { command: 'ls' } });
    walk.useTool({ tool: 'grep', input: { path: 'x' } });
    walk.useTool({ tool: 'write_files', input: { path: 'docs/a' } });
    walk.useTool({ tool: 'write_files', input: { path: 'src/a' } });

    expect(seen(walk)).toEqual([
      'phase `1`: enters it 1',
      'forbidden tool `bash` in `1`: runs into it 1',
      'a tool that is not listed in `1`: runs into it 1',
      'the write scope in `1`: runs into it 1',
    ]);
  });

  test('are not shown by the call of an agent that does not hold the run', () => {
    const walk = record(workflowOf(phases(1, () => policy)));
    walk.useTool({ tool: 'bash', input: { command: 'ls' } }, BOB);

    expect(seen(walk)).toEqual(['phase `1`: enters it 1']);
  });
});

describe('which runs count', () => {
  const workflow = workflowOf(phases(2));

  test('those of another version are left out and counted, unless all are wanted', () => {
    const other = record(workflow, { workflowHash: 'other' });
    const recordings = [{ source: 'runs' as const, workflow, records: other.records() }];

    const one = coverageOf({ workflow, hash: 'h' }, recordings);
    const all = coverageOf({ workflow, hash: 'h', allVersions: true }, recordings);

    expect(one).toMatchObject({ counted: { runs: 0 }, otherVersions: { tests: 0, runs: 1 } });
    expect(coverageCount(one.elements).seen).toBe(0);
    expect(all).toMatchObject({ counted: { runs: 1 }, otherVersions: { runs: 0 } });
    expect(coverageCount(all.elements)).toMatchObject({ seen: 1, runs: 1, tests: 0 });
  });

  test('of a migrated run what it did under this version, by the rules it had then', () => {
    const longer = workflowOf(phases(3));
    const walk = record(workflow, { workflowHash: 'old' });
    done(walk);
    walk.submit(
      {
        kind: 'migrate',
        workflow: longer,
        workflowHash: 'h',
        trusted: true,
        proof: { reachable: true, trace: [] },
      },
      { principal: ADA },
    );
    const before = coverageOf({ workflow: longer, hash: 'h' }, [source(workflow, walk)]);
    done(walk);
    const after = coverageOf({ workflow: longer, hash: 'h' }, [source(workflow, walk)]);

    expect(before).toMatchObject({ counted: { tests: 0 }, otherVersions: { tests: 1 } });
    expect(after).toMatchObject({ counted: { tests: 1 }, otherVersions: { tests: 0 } });
    expect(lines(after)).toEqual([
      'phase `2`: completes it 1',
      'way `2` → `3`: goes this way 1',
      'phase `3`: enters it 1',
    ]);
  });

  test('what another version has and this one has not is no part of it', () => {
    const longer = workflowOf(phases(4));
    const walk = record(longer, { workflowHash: 'other' });
    for (let phase = 0; phase < 4; phase++) done(walk);

    const { elements } = coverageOf({ workflow, hash: 'h', allVersions: true }, [
      { source: 'runs', workflow: longer, records: walk.records() },
    ]);

    expect(elements.map(({ id }) => id)).toEqual(coverables(workflow).map(({ id }) => id));
  });

  test.each<[string, readonly ChainRecord[]]>([
    ['no records', []],
    ['a chain without its beginning', record(workflow).records().slice(1)],
    ['events that do not fit', [...record(workflow).records(), broken('gate_decided')]],
  ])('%s is not a run, and shows nothing', (_, records) => {
    const { unreadable, elements } = coverageOf({ workflow, hash: 'h', allVersions: true }, [
      { source: 'tests', workflow, records },
    ]);

    expect(unreadable).toEqual({ tests: 1, runs: 0 });
    expect(coverageCount(elements).seen).toBe(0);
  });

  test('phases that a source makes are those of the runs seen', () => {
    const templates = { phase: '[PHASE]', task: '[TASK]' };
    const dynamic = (count: number) => ({ ...workflowOf(phases(count)), templates });
    const walk = record(dynamic(3), { workflowHash: 'made' });
    done(walk);

    const coverage = coverageOf({ workflow: dynamic(1), hash: 'h' }, [
      { source: 'tests', workflow: dynamic(3), records: walk.records() },
    ]);

    expect(coverage).toMatchObject({ dynamic: true, counted: { tests: 1 } });
    expect(new Set(coverage.elements.map(({ phase }) => phase))).toEqual(new Set([1, 2, 3]));
    expect(coverage.elements.map(({ name }) => name)).not.toContain('way `1` → the end');
  });
});

test('a graph is marked with how often each node and edge was seen, and what stands in them', () => {
  const policy = { allowedTools: ['grep'], postconditions: [{ check: 'asked' }] };
  const workflow = workflowOf(phases(3, () => policy));
  const walk = record(workflow);
  done(walk);
  const coverage = coverageOf({ workflow, hash: 'h' }, [
    { source: 'tests', workflow, records: walk.records() },
    { source: 'runs', workflow, records: record(workflow).records() },
  ]);

  const { nodes, edges, coverage: whole } = markCoverage(graphOf(workflow), workflow, coverage);

  expect(nodes.map((node) => [node.id, node.coverage?.tests, node.coverage?.runs])).toEqual([
    [1, 1, 1],
    [2, 1, 0],
    [3, 0, 0],
    [null, 0, 0],
  ]);
  expect(edges.map((edge) => edge.coverage)).toEqual([
    { tests: 1, runs: 0 },
    { tests: 0, runs: 0 },
    { tests: 0, runs: 0 },
  ]);
  expect(nodes[0]?.coverage?.parts).toEqual([
    { what: 'postconditions', seen: 1, total: 2 },
    { what: 'deny rules', seen: 0, total: 1 },
  ]);
  expect(whole).toEqual(coverageCount(coverage.elements));
});

function source(workflow: Workflow, walk: Recorder): CoverageRecording {
  return { source: 'tests', workflow, records: walk.records() };
}

function seen(walk: Recorder): readonly string[] {
  const { workflow } = walk.run();
  return lines(coverageOf({ workflow, hash: 'h' }, [{ source: 'tests', workflow, records: walk.records() }]));
}

function lines({ elements }: Coverage): readonly string[] {
  return elements
    .filter(({ tests }) => tests > 0)
    .map(({ name, verb, tests }) => `${name}: ${verb} ${tests}`);
}

function done(walk: Recorder, evidence: JsonObject = {}): void {
  walk.submit({ kind: 'complete', phase: walk.run().phase ?? 1, evidence });
}

function choose(walk: Recorder, option: string, principal = ADA): void {
  walk.submit(decision(walk.run(), option), { principal });
}

function decision(run: ReturnType<Recorder['run']>, option: string) {
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : 'none';
  return { kind: 'decide', gate, option, shown: 'seen', signature: 's' } as const;
}

function failing(label: string) {
  return (look: { readonly kind: string; readonly check?: { readonly label: string } }) =>
    result(look.check?.label === label ? 'failed' : 'passed');
}

function broken(event: string): ChainRecord {
  return { seq: 2, time: '2026-11-15T12:00:00.000Z', principal: 'human:ada', event, data: {} };
}
