import type { PropertyDraft, Workflow } from '@phasegate/core/model';
import { defineWorkflow } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { checkWays, FLAWS, workflowOf } from './fixtures/flaws.ts';

describe('every kind of flaw', () => {
  test.each(FLAWS)('$code: $what is found with the shortest way there, and only it', (flaw) => {
    const { findings, clean, bound } = checkWays(flaw.flawed);

    const flaws = findings.filter(({ severity }) => severity === 'error');
    expect(flaws.map(({ code, trace }) => ({ code, trace }))).toEqual([
      { code: flaw.code, trace: flaw.trace },
    ]);
    expect(clean).toBe(false);
    expect(bound).toBeNull();
  });

  test.each(FLAWS)('$code: the fixed workflow is clean', ({ fixed }) => {
    expect(checkWays(fixed)).toMatchObject({ clean: true, bound: null });
  });
});

test('a way that skips the work and with it the required human gate is found [adv.H4]', () => {
  expect(codesOf('required_gate_bypassed')).toEqual(['required_gate_bypassed']);
});

test('an automatic approval that skips the other checks breaks the property that names them [adv.J10]', () => {
  expect(codesOf('property_broken')).toEqual(['property_broken']);
});

test('a gate that no compliant work can satisfy is found [adv.L4]', () => {
  expect(codesOf('unsatisfiable_gate')).toEqual(['unsatisfiable_gate']);
  expect(codesOf('contradictory_blockers')).toEqual(['contradictory_blockers']);
});

describe('what is walked', () => {
  test('attempts, escalation and a human who resumes are states of their own', () => {
    const workflow = workflowOf([
      { id: 'A', postconditions: [{ check: 'review_is_complete' }], next: { to: null } },
    ]);

    // Fresh, once failed, escalated, ended.
    expect(checkWays(workflow)).toMatchObject({ states: 4, clean: true });
  });

  test('a parallel phase is joined when all items pass, and escalated when they fail', () => {
    const workflow = workflowOf([
      { id: 'A', artifacts: [{ type: 'chapters' }] },
      { id: 'B', parallel: { key: 'chapters' }, postconditions: [{ check: 'review_is_complete' }] },
      { id: 'C' },
    ]);

    expect(checkWays(workflow)).toMatchObject({ clean: true, bound: null });
  });

  test('a quorum, a timeout and an option that stops are walked', () => {
    const human = {
      prompt: 'Good?',
      options: [{ label: 'Yes' }, { label: 'No', next: null }],
      approvers: ['ada', 'bob'],
      quorum: 2,
      timeout: { after: '1h' },
      required: true,
    };
    const workflow = workflowOf([{ id: 'A', gates: [{ id: 'ship', human }] }]);

    expect(checkWays(workflow)).toMatchObject({ clean: true, bound: null });
  });

  test('a handler that skips its work does not pass for it [adv.H4]', () => {
    const workflow = workflowOf(
      [
        {
          id: 'TESTS',
          work: { kind: 'handler', ref: 'steps/tests' },
          next: { outcomes: { ok: 'SHIP', skip: 'SHIP', fail: 'TESTS' }, maxIterations: 1 },
        },
        { id: 'SHIP' },
      ],
      { properties: [{ name: 'tested', before: ['TESTS', 'SHIP'] }] },
    );

    expect(checkWays(workflow).findings).toMatchObject([
      { code: 'property_broken', trace: ['start', 'complete `TESTS`, its handler returns `skip` → `SHIP`'] },
    ]);
  });

  test('`never` holds of what no run reaches and is broken by what one does', () => {
    const withNever = (never: readonly string[]): Workflow =>
      workflowOf(
        [
          {
            id: 'A',
            artifacts: [{ type: 'big' }],
            next: { condition: 'big === true', onTrue: 'B', onFalse: 'C' },
          },
          { id: 'B', next: { to: null } },
          { id: 'C' },
        ],
        { properties: [{ name: 'one way', never }] },
      );

    expect(checkWays(withNever(['B', 'C'])).findings).toEqual([]);
    expect(checkWays(withNever(['C'])).findings).toMatchObject([
      { code: 'property_broken', trace: ['start', 'complete `A`, its condition is false → `C`'] },
    ]);
  });
});

test('a gate is reached when it opens, whatever a human decides then', () => {
  const human = { prompt: 'Good?', options: [{ label: 'Yes' }] };
  const gated = (property: PropertyDraft): Workflow =>
    workflowOf([{ id: 'A', gates: [{ id: 'approval', human }] }, { id: 'B' }], { properties: [property] });
  const opened = { code: 'property_broken', trace: ['start', 'complete `A` → the human gate of `A`'] };

  expect(checkWays(gated({ name: 'unasked', never: ['approval'] })).findings).toMatchObject([opened]);
  expect(checkWays(gated({ name: 'late', before: ['B', 'approval'] })).findings).toMatchObject([opened]);
});

describe('what cannot be walked whole is said', () => {
  const onParam = (param: object): Workflow =>
    workflowOf([{ id: 'A', next: { condition: 'params.n > 5', onTrue: 'B', onFalse: null } }, { id: 'B' }], {
      params: { n: { type: 'integer', default: 1, ...param } },
    });

  test('a param without end is taken both ways, with what to change', () => {
    const { findings, clean } = checkWays(onParam({ min: 0 }));

    expect(clean).toBe(true);
    expect(findings).toMatchObject([{ code: 'infinite_domain', severity: 'note' }]);
    expect(findings[0]?.message).toMatch(/`n`.*`choices`.*`min` and `max`/);
  });

  test('a huge product of params is cut, with what to change', () => {
    const { findings, clean } = checkWays(onParam({ min: 0, max: 1_000_000_000_000 }));

    expect(clean).toBe(true);
    expect(findings).toMatchObject([{ code: 'huge_product', severity: 'note' }]);
    expect(findings[0]?.message).toContain('fewer values');
  });

  test('params with few values are tried one by one', () => {
    expect(checkWays(onParam({ min: 0, max: 9 }))).toMatchObject({ params: ['n'], findings: [] });
    expect(checkWays(onParam({ min: 0, max: 5 })).findings).toMatchObject([{ code: 'unreachable_phase' }]);
  });

  test('a bound that is reached fails the check, and nothing is claimed of what was not seen', () => {
    const report = checkWays(onParam({ min: 0, max: 9 }), { bounds: { states: 3 } });

    expect(report).toMatchObject({ clean: false, states: 3, bound: { kind: 'states', limit: 3 } });
    expect(report.findings).toMatchObject([{ code: 'bound_reached', severity: 'error' }]);
  });
});

describe('what no engine would refuse is not taken for impossible', () => {
  const asked = (ref: string) => ({ ref, source: `${ref}()` });
  const expression = (condition: string) => ({ check: 'expression', label: condition, with: { condition } });
  const codes = (workflow: Workflow) => checkWays(workflow).findings.map(({ code }) => code);

  test('a phase is counted under its own name, also where every object has that name', () => {
    const around = (id: string) =>
      workflowOf([{ id: 'A' }, { id, next: { condition: asked('again'), onTrue: id, onFalse: null } }]);
    const { states } = checkWays(around('B'));

    expect(checkWays(around('toString'))).toMatchObject({ clean: true, states });
    expect(checkWays(around('__proto__'))).toMatchObject({ clean: true, states });
  });

  test.each([
    ['a list', 'iteration in [20, 25]'],
    ['a param', 'iteration >= params.turns'],
  ])('an iteration that is compared with %s is counted that far', (_, condition) => {
    const workflow = workflowOf(
      [{ id: 'A', next: { condition, onTrue: 'B', onFalse: 'A', maxIterations: 30 } }, { id: 'B' }],
      { params: { turns: { type: 'integer', min: 20, max: 21, required: true } } },
    );

    expect(codes(workflow)).toEqual([]);
  });

  test('in permissive mode evidence that breaks its schema and params that gate a phase out go on', () => {
    const workflow = workflowOf(
      [
        {
          id: 'A',
          onlyWhen: { mode: ['quick'] },
          artifacts: [{ type: 'review', schema: { properties: { decision: { enum: ['no'] } } } }],
          next: { condition: "review.decision === 'yes'", onTrue: 'B', onFalse: null },
        },
        { id: 'B', next: { condition: "params.mode === 'slow'", onTrue: 'C', onFalse: null } },
        { id: 'C' },
      ],
      {
        enforcement: { mode: 'permissive' },
        params: { mode: { type: 'string', choices: ['quick', 'slow'], required: true } },
      },
    );

    expect(codes(workflow)).toEqual([]);
  });

  test('what each item must be says nothing about what they are together', () => {
    const workflow = workflowOf([
      { id: 'A', artifacts: [{ type: 'review' }, { type: 'parts' }] },
      {
        id: 'B',
        parallel: { key: 'parts' },
        artifacts: [{ type: 'review' }],
        postconditions: [expression("review === 'yes'")],
        next: { condition: "artifacts.review === 'yes'", onTrue: null, onFalse: 'C' },
      },
      { id: 'C' },
    ]);

    expect(codes(workflow)).toEqual([]);
  });

  test('a value that is called `length` is not a length, and evidence that is called `params` no param', () => {
    const plank = { type: 'object', properties: { length: { type: 'number' } } };
    const workflow = workflowOf(
      [
        {
          id: 'A',
          artifacts: [{ type: 'plank', schema: plank }],
          fields: [{ name: 'params', type: 'object' }],
          postconditions: [
            expression('plank.length === 2.5'),
            expression("result.params.mode === 'slow'"),
            expression("params.mode === 'quick'"),
          ],
        },
      ],
      { params: { mode: { type: 'string', constant: 'quick', required: true } } },
    );

    expect(codes(workflow)).toEqual([]);
  });

  test('an `or` that params decide is decided, on whichever side they stand', () => {
    const workflow = (condition: string) =>
      workflowOf(
        [
          {
            id: 'A',
            fields: [{ name: 'good', type: 'bool', falseOk: true }],
            next: { condition, onTrue: null, onFalse: 'B' },
          },
          { id: 'B', next: { condition: 'params.sure', onTrue: 'C', onFalse: null } },
          { id: 'C' },
        ],
        { params: { sure: { type: 'boolean', required: true } } },
      );

    // Who is sure never gets to B, so nobody gets to C.
    expect(codes(workflow('params.sure || result.good'))).toEqual(['unreachable_phase']);
    expect(codes(workflow('result.good || params.sure'))).toEqual(['unreachable_phase']);
  });
});

describe('ways that end nowhere', () => {
  const human = (more: object) => [
    {
      id: 'ship',
      human: { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'No', next: null }], ...more },
    },
  ];

  test('votes that can be divided for good are a dead end, and a timeout or one voice more is a way out', () => {
    const both = { approvers: ['ada', 'bob'], quorum: 2 };
    const gated = (more: object) => checkWays(workflowOf([{ id: 'A', gates: human(more) }]));

    expect(gated(both).findings).toMatchObject([
      {
        code: 'dead_end',
        message: expect.stringMatching(/`ship`.*without 2 of them agreeing.*`timeout`/),
        trace: [
          'start',
          'complete `A` → the human gate of `A`',
          '`ada` chooses `Yes`, `bob` chooses `No` at `ship`, and nobody else may decide',
        ],
      },
    ]);
    expect(gated({ ...both, timeout: { after: '1h' } }).findings).toEqual([]);
    expect(gated({ ...both, approvers: ['ada', 'bob', 'eve'] }).findings).toEqual([]);
    expect(gated({ quorum: 2 }).findings).toEqual([]);
  });

  test('a loop whose way out leads back too is exhausted in the end', () => {
    const workflow = workflowOf(
      [
        {
          id: 'A',
          next: {
            condition: 'params.sure',
            onTrue: 'A',
            onFalse: null,
            maxIterations: 1,
            onExhausted: 'A',
          },
        },
      ],
      { params: { sure: { type: 'boolean', constant: true, required: true } } },
    );

    expect(checkWays(workflow).findings).toMatchObject([{ code: 'exhausted_loop', phases: ['A'] }]);
  });

  test('a run that is only led round is said to be, and not to be unable to leave a phase', () => {
    const round = (to: string, more: object[] = []) => [
      { id: `from ${to}`, human: { prompt: 'Where?', options: [{ label: 'On', next: to }, ...more] } },
    ];
    const workflow = workflowOf(
      [
        { id: 'A', gates: round('B') },
        { id: 'B', gates: round('A', [{ label: 'End', next: 'C' }]) },
        { id: 'C', preconditions: [{ check: 'expression', with: { condition: 'params.sure' } }] },
      ] as never,
      { params: { sure: { type: 'boolean', constant: false, required: true } } },
    );

    expect(checkWays(workflow).findings).toMatchObject([
      { code: 'unreachable_phase', phases: ['C'] },
      { code: 'dead_end', message: expect.stringContaining('never ends') },
    ]);
  });
});

test.each<[string, PropertyDraft, RegExp]>([
  [
    'unknown_name',
    { name: 'p', always: ['REVEW'] },
    /`REVEW`, which is not a phase and no human gate.*`REVIEW`/,
  ],
  ['unknown_name', { name: 'p', always: ['green'] }, /at which no human decides/],
  ['empty_property', { name: 'p', never: [] }, /names nothing/],
  ['empty_property', { name: 'p', before: ['REVIEW'] }, /names one thing/],
  ['bad_property', { name: 'p' }, /`always`, `never` and `before`/],
  ['bad_property', { name: 'p', always: ['REVIEW'], never: ['REVIEW'] }, /one of/],
])('a property that names nothing is a problem of the definition: %s', (code, property, message) => {
  const gates = { green: { blockers: [] } };
  const defined = defineWorkflow(
    { id: 'w', phases: [{ id: 'REVIEW', gates: ['green'] }], gates, properties: [property] },
    { checks: {} },
  );

  const problems = defined.ok ? [] : defined.problems;

  expect(problems).toMatchObject([{ code, severity: 'error', message: expect.stringMatching(message) }]);
});

function codesOf(code: string): readonly string[] {
  return FLAWS.filter((flaw) => flaw.code === code).flatMap(({ flawed }) =>
    checkWays(flawed).findings.flatMap(({ code: found, severity }) => (severity === 'error' ? [found] : [])),
  );
}
