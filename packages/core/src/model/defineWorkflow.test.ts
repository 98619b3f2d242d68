import { describe, expect, test } from 'vitest';
import { defineWorkflow, readPhaseId } from './defineWorkflow.ts';
import type { PhaseDraft, WorkflowDraft } from './draft.ts';

const known = {
  checks: {
    asked: {
      parameters: {
        type: 'object',
        additionalProperties: false,
        properties: { minimum: { type: 'number' } },
      },
      class: 'claimed' as const,
    },
    expression: {
      parameters: { type: 'object', required: ['condition'] },
      class: 'claimed' as const,
      conditions: ['condition'],
    },
  },
};

const MISTAKES: readonly [string, readonly Partial<PhaseDraft>[], Partial<WorkflowDraft>][] = [
  ['unknown_phase', [{}], { entry: 'Z' }],
  ['unknown_phase', [{ next: { to: 'Z' } }, {}], {}],
  ['no_end', [{ next: { to: 'A' } }], {}],
  ['unreachable_phase', [{ next: { to: null } }, {}], {}],
  ['no_phases', [], {}],
  ['duplicate_phase', [{ id: 'A' }, { id: 'A' }], {}],
  ['bad_id', [{}], { id: 'no spaces' }],
  ['unknown_check', [{ postconditions: [{ check: 'askd' }] }], {}],
  ['bad_parameter', [{ postconditions: [{ check: 'asked', with: { minimum: 'one' } }] }], {}],
  ['unsatisfiable', [{ postconditions: [{ check: 'asked', needs: 'verified' }] }], {}],
  ['unknown_gate', [{ gates: ['red'] }], {}],
  ['unknown_check', [{}], { gates: { red: { blockers: [{ check: 'askd' }] } } }],
  ['unknown_schema', [{ artifacts: [{ type: 'plan', schema: 'pln' }] }], { schemas: { plan: true } }],
  ['bad_schema', [{}], { schemas: { plan: { type: 'objekt' } } }],
  ['bad_schema', [{ artifacts: [{ type: 'plan', schema: { type: 'objekt' } }] }], {}],
  ['bad_value', [{ artifacts: [{ type: 'plan', verify: { expect: 'green' } }] }], {}],
  ['bad_parameter', [{ postconditions: [{ check: 'asked', verify: true }] }], {}],
  ['not_enforceable', [{}], { enforcement: { ring: 'hooked+isolated' } }],
  ['duplicate_evidence', [{ artifacts: [{ type: 'plan' }, { type: 'plan' }] }], {}],
  ['unknown_tool', [{ allowedTools: ['teleport'] }], {}],
  ['unknown_tool', [{}], { tools: { reading: ['raed_files'] } }],
  ['bad_group', [{}], { tools: { bash: ['grep'] } }],
  ['bad_glob', [{ writes: ['/etc/**'] }], {}],
  ['bad_glob', [{ writes: ['../**'] }], {}],
  ['guarded_path', [{ writes: ['agent_workflow.yaml'] }], {}],
  ['guarded_path', [{ writes: ['.phasegate/**'] }], {}],
  ['guarded_path', [{ writes: ['.mcp.json'] }], {}],
  ['guarded_path', [{ writes: ['packages/*/.mcp.json'] }], {}],
  ['guarded_path', [{ writes: ['packages/a/.codex/**'] }], {}],
  ['guarded_path', [{ writes: ['workflows/release/**'] }], {}],
  ['guarded_path', [{ toolConstraints: { write_files: { allowed: ['.git/hooks/*'] } } }], {}],
  ['bad_pattern', [{ toolConstraints: { bash: { allowed: ['npm run test:*'] } } }], {}],
  ['bad_condition', [{ next: { condition: 'result.ok ===', onTrue: null, onFalse: null } }], {}],
  ['unknown_path', [{ next: { condition: 'reslt.ok === true', onTrue: null, onFalse: null } }], {}],
  [
    'unknown_path',
    [{ next: { condition: 'params.mod === 1', onTrue: null, onFalse: null } }],
    { params: { mode: {} } },
  ],
  [
    'unknown_path',
    [
      {
        fields: [{ name: 'plan', type: 'str' }],
        next: { condition: 'result.plann === "x"', onTrue: null, onFalse: null },
      },
    ],
    {},
  ],
  [
    'unknown_path',
    [{}, { preconditions: [{ check: 'expression', with: { condition: 'result.ok === true' } }] }],
    {},
  ],
  [
    'unknown_path',
    [
      {},
      {
        artifacts: [{ type: 'plan' }],
        preconditions: [{ check: 'expression', with: { condition: 'plan.ok === true' } }],
      },
    ],
    {},
  ],
  [
    'unknown_path',
    [{ postconditions: [{ check: 'expression', with: { condition: 'item.name === "x"' } }] }],
    {},
  ],
  [
    'unknown_path',
    [
      {
        artifacts: [
          {
            type: 'review',
            schema: { type: 'object', properties: { decision: {} }, additionalProperties: false },
          },
        ],
        next: { condition: 'review.decison === "x"', onTrue: null, onFalse: null },
      },
    ],
    {},
  ],
  ['unknown_outcome', [{ next: { outcomes: { okay: null } as never } }], {}],
  ['no_outcomes', [{ next: { outcomes: {} } }], {}],
  ['bad_value', [{ next: { outcomes: { ok: null }, maxIterations: 0 } }], {}],
  ['no_options', [{ gates: [{ human: { prompt: '?', options: [] } }] }], {}],
  [
    'duplicate_option',
    [{ gates: [{ human: { prompt: '?', options: [{ label: 'Y' }, { label: 'Y' }] } }] }],
    {},
  ],
  ['unknown_phase', [{ gates: [{ human: { prompt: '?', options: [{ label: 'Y', next: 'Z' }] } }] }], {}],
  [
    'two_human_gates',
    [
      {
        gates: [
          { human: { prompt: '?', options: [{ label: 'Y' }] } },
          { human: { prompt: '?', options: [{ label: 'Y' }] } },
        ],
      },
    ],
    {},
  ],
  [
    'unsatisfiable',
    [{ gates: [{ human: { prompt: '?', options: [{ label: 'Y' }], approvers: ['ada'], quorum: 2 } }] }],
    {},
  ],
  [
    'unsatisfiable',
    [
      {
        gates: [{ human: { prompt: '?', options: [{ label: 'Y' }], approvers: ['ada', 'ada'], quorum: 2 } }],
      },
    ],
    {},
  ],
  [
    'bad_duration',
    [{ gates: [{ human: { prompt: '?', options: [{ label: 'Y' }], timeout: { after: 30 as never } } }] }],
    {},
  ],
  [
    'bad_duration',
    [{ gates: [{ human: { prompt: '?', options: [{ label: 'Y' }], timeout: { after: 'soon' } } }] }],
    {},
  ],
  [
    'bad_value',
    [
      {
        gates: [
          { human: { prompt: '?', options: [{ label: 'Y' }], timeout: { after: '1h', then: 'approve' } } },
        ],
      },
    ],
    {},
  ],
  [
    'way_around_gate',
    [
      {
        gates: [{ human: { prompt: '?', options: [{ label: 'Y' }] } }],
        next: { outcomes: { ok: 'B', fail: 'B' } },
      },
      {},
    ],
    {},
  ],
  // `fail` three times and the exhausted loop lead to B with no human.
  [
    'way_around_gate',
    [
      {
        gates: [{ human: { prompt: '?', options: [{ label: 'Y' }] } }],
        next: { outcomes: { ok: 'B', fail: 'A' }, maxIterations: 2, onExhausted: 'B' },
      },
      {},
    ],
    {},
  ],
  // Where a list without items leads is behind the gate too.
  [
    'way_around_gate',
    [
      {
        gates: [{ human: { prompt: '?', options: [{ label: 'Y' }] } }],
        parallel: { key: 'state.list', onEmpty: 'C' },
        next: { outcomes: { ok: 'B', fail: 'C' } },
      },
      {},
      {},
    ],
    {},
  ],
  ['bad_type', [{}], { params: { mode: { type: 'strng' } } }],
  ['bad_default', [{}], { params: { mode: { choices: ['a'], default: 'b' } } }],
  ['bad_domain', [{}], { params: { n: { min: 3, max: 1 } } }],
  ['bad_domain', [{}], { params: { n: { choices: [] } } }],
  ['bad_path', [{ parallel: { key: 'a b' } }], {}],
];

describe('a definition', () => {
  test('that is sound becomes frozen data [S4.34 S4.59]', () => {
    const defined = define([{ id: 'A' }, { id: 'B' }]);

    expect(defined).toMatchObject({
      ok: true,
      workflow: {
        entry: 'A',
        phases: [
          { id: 'A', number: 1 },
          { id: 'B', number: 2 },
        ],
      },
    });
    if (!defined.ok) return;
    expect(() => Object.assign(defined.workflow.phases[0] as object, { id: 'Z' })).toThrow(TypeError);
  });

  test('numbers its phases by id where all ids are integers, else by position [C2]', () => {
    expect(numbers([{ id: 0 }, { id: 1 }])).toEqual([0, 1]);
    expect(numbers([{ id: 0 }, { id: '1A' }])).toEqual([1, 2]);
    expect([readPhaseId('0'), readPhaseId('12'), readPhaseId('1A'), readPhaseId('01')]).toEqual([
      0,
      12,
      '1A',
      '01',
    ]);
  });

  test('leaves `next` out: the following phase, after the last the end [S3.65]', () => {
    const defined = define([{ id: 'A' }, { id: 'B' }]);

    expect(defined.ok && defined.workflow.phases.map((phase) => phase.next)).toEqual([
      { kind: 'to', target: 'B' },
      { kind: 'to', target: null },
    ]);
  });

  test.each(MISTAKES)(
    'with `%s` is refused, naming the place: %j [S3.78 S4.20 S4.21 S4.22 S4.23 S4.25 S4.61 S4.62 C19]',
    (code, phases, more) => {
      const defined = define(phases, more);

      expect(defined.ok).toBe(false);
      if (defined.ok) return;
      const found = defined.problems.find((problem) => problem.code === code);
      expect(found, JSON.stringify(defined.problems)).toBeDefined();
      expect(found?.message).toMatch(/^[^A-Z].*[^.]$/s);
    },
  );

  test('reports all its problems at once, with suggestions', () => {
    const defined = define(
      [
        { id: 'PLAN', allowedTools: ['read_file'], next: { to: 'TDDD' } },
        { id: 'TDD', gates: ['rde'], postconditions: [{ check: 'aksed' }] },
      ],
      { gates: { red: {} } },
    );

    expect(defined.ok ? [] : defined.problems.map((problem) => problem.message)).toEqual([
      'phase `PLAN` leads to `TDDD`, which is not defined (did you mean `TDD`?)',
      'there is no tool or group `read_file` (did you mean `read_files`?)',
      'there is no gate `rde` (did you mean `red`?)',
      'there is no check `aksed` (did you mean `asked`?)',
    ]);
  });

  test('notes what is allowed and perhaps not meant', () => {
    const defined = define([
      {
        id: 'A',
        allowedTools: ['write_files'],
        next: { condition: 'result.ok === true', onTrue: 'B', onFalse: 'A' },
      },
      { id: 'B', next: { outcomes: { ok: null, skip: null } } },
    ]);

    expect(defined.ok && defined.notes.map((note) => note.code)).toEqual([
      'no_write_scope',
      'unreachable_outcome',
      'unbounded_loop',
    ]);
  });

  test('resolves groups, and takes the write scope from the constraints of writing tools', () => {
    const defined = define(
      [
        {
          id: 'A',
          allowedTools: ['reading', 'write_files'],
          toolConstraints: { write_files: { allowed: ['docs/**'] } },
        },
      ],
      { tools: { reading: ['read_files', 'grep'] } },
    );

    expect(defined).toMatchObject({
      ok: true,
      workflow: {
        phases: [{ tools: { allowed: ['read_files', 'grep', 'write_files'] }, writes: ['docs/**'] }],
      },
    });
  });

  test('a wide scope is allowed; the guarded files are simply not in it', () => {
    expect(define([{ id: 'A', writes: ['**', '**/*.md', 'src/**'] }]).ok).toBe(true);
  });
});

function define(phases: readonly Partial<PhaseDraft>[], more: Partial<WorkflowDraft> = {}) {
  const named = phases.map((phase, index) => ({ id: String.fromCharCode(65 + index), ...phase }));
  return defineWorkflow({ id: 'tested', phases: named, ...more }, known);
}

function numbers(phases: readonly PhaseDraft[]): readonly number[] | false {
  const defined = define(phases);
  return defined.ok && defined.workflow.phases.map((phase) => phase.number);
}

test.each(['\ud800', '\udfff x'])('half of a surrogate pair is no character of a workflow: %j', (half) => {
  const phases = [{ id: 'A', instructions: 'x', next: null }];
  const drafts = [
    { id: 'w', phases: [{ id: `A${half}`, next: null }] },
    { id: 'w', title: half, phases },
    { id: 'w', phases, params: { [half]: { type: 'string' } } },
  ] as never[];
  for (const draft of drafts) {
    const defined = defineWorkflow(draft, known);
    expect(defined.ok ? [] : defined.problems.map(({ message }) => message).join()).toContain(
      'surrogate pair',
    );
  }
});

test('a draft that was corrected is judged by what it is now', () => {
  const fields = [{ name: 'done', type: 'boolean' }];
  const next = { condition: 'result.rating === 1', onTrue: null, onFalse: null };
  const draft: WorkflowDraft = { id: 'x', phases: [{ id: 'A', fields, next }] };
  const codes = () => {
    const defined = defineWorkflow(draft, known);
    return defined.ok ? [] : defined.problems.map(({ code }) => code);
  };
  expect(codes()).toEqual(['unknown_path']);

  fields.push({ name: 'rating', type: 'integer' });
  expect(codes()).toEqual([]);
});
