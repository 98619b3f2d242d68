import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { defineWorkflow } from '../model/defineWorkflow.ts';
import type { PhaseDraft, WorkflowDraft } from '../model/draft.ts';
import { answerFor } from './fixtures/answerFor.ts';
import { ADA, complete, KNOWN, result, started, submit, workflowOf } from './fixtures/walks.ts';
import type { Run } from './run.ts';
import { checkpointOf, scopeFor } from './scope.ts';
import { stepInputFor } from './stepInput.ts';

const GATE = {
  id: 'go',
  human: {
    prompt: 'Good?',
    options: [
      { label: 'Yes' },
      { label: 'Again', next: 'PLAN' },
      { label: 'No', next: 'RECORD', approves: false },
    ],
  },
};
const PLANNED: readonly PhaseDraft[] = [
  { id: 'PLAN', artifacts: [{ type: 'plan' }], gates: [GATE] },
  { id: 'IMPL', artifacts: [{ type: 'changes' }], gates: [{ blockers: [{ check: 'believed' }] }] },
  { id: 'RECORD' },
];

describe('evidence a phase never asked for', () => {
  test('is refused, all of it at once, and the run stays as it was [C27 adv.N1]', () => {
    const run = done(approved(started(workflowOf(PLANNED)), { plan: { scope: ['a.js'] } }), {
      changes: ['a.js'],
    });
    const planning = started(workflowOf(PLANNED));

    const decision = submit(planning, complete(planning, { plan: 1, plann: 2, gateDecision: 3 }));

    expect(decision.verdict).toMatchObject({
      allowed: false,
      blockers: [
        { code: 'undeclared_evidence', message: expect.stringContaining('did you mean `plan`') },
        { code: 'undeclared_evidence', message: expect.stringContaining('gateDecision') },
      ],
    });
    expect(decision.events).toEqual([]);
    expect(decision.run).toBe(planning);
    expect(run.phase).toBe('RECORD');
  });

  test('is not taken with the outcome `fail` either', () => {
    const run = started(
      workflowOf([
        { id: 'A', artifacts: [{ type: 'a' }], next: { outcomes: { ok: 'B', fail: 'B' } } },
        { id: 'B' },
      ]),
    );

    expect(code(submit(run, complete(run, { b: 1 }, { outcome: 'fail', reason: 'x' })))).toBe(
      'undeclared_evidence',
    );
  });

  test('replaces nothing a human approved: the scope stays the approved one [adv.N1]', () => {
    const run = approved(started(workflowOf(PLANNED)), { plan: { scope: ['a.js'] } });

    const cheat = submit(run, complete(run, { changes: ['evil.js'], plan: { scope: ['evil.js'] } }));

    expect(code(cheat)).toBe('undeclared_evidence');
    expect(scopeFor(cheat.run, at(cheat.run)).approved).toEqual({ plan: { scope: ['a.js'] } });
  });

  test('is dropped in permissive mode, said, and gives no name a value', () => {
    const run = started(workflowOf(PLANNED.slice(1), { enforcement: { mode: 'permissive' } }));

    const decision = submit(run, complete(run, { changes: ['a.js'], plan: 'planted' }));

    expect(decision.verdict).toMatchObject({
      allowed: true,
      wouldRefuse: [{ code: 'undeclared_evidence' }],
    });
    expect(decision.run.completions[0]?.evidence).toEqual({ changes: ['a.js'] });
    expect(checkpointOf(decision.run)).toMatchObject({ changes: ['a.js'] });
  });
});

describe('notes and commands_executed', () => {
  const words = { notes: 'it was hard', commands_executed: ['npm test'] };

  test('are taken everywhere, shown as the agent’s word, and read by no condition [C27]', () => {
    for (const artifacts of [[{ type: 'changes' }], []]) {
      const run = started(workflowOf([{ id: 'A', artifacts }, { id: 'B' }]));
      const after = done(run, { changes: 1, ...words });

      expect(after.completions[0]).toMatchObject({ evidence: { changes: 1 }, word: words });
      expect(JSON.stringify(checkpointOf(after))).not.toContain('it was hard');
      expect(JSON.stringify(answerFor(run, complete(run), submit(run, complete(run, words))))).toBeDefined();
    }
  });

  test('are bounded', () => {
    const run = started(workflowOf([{ id: 'A' }, { id: 'B' }]));

    expect(code(submit(run, complete(run, { notes: 'é'.repeat(2049) })))).toBe('incomplete_checkpoint');
    expect(code(submit(run, complete(run, { notes: 'é'.repeat(2048) })))).toBeNull();
    expect(code(submit(run, complete(run, { notes: { not: 'text' } })))).toBe('incomplete_checkpoint');
    expect(code(submit(run, complete(run, { commands_executed: [1] })))).toBe('incomplete_checkpoint');
  });

  test('are ordinary evidence where a phase declares them', () => {
    const run = started(workflowOf([{ id: 'A', artifacts: [{ type: 'notes' }] }, { id: 'B' }]));

    expect(checkpointOf(done(run, { notes: 'asked for' }))).toMatchObject({ notes: 'asked for' });
  });
});

describe('a name in the checkpoint', () => {
  test('of the engine is never an agent’s, set or not [C29 adv.N2]', () => {
    const run = done(started(workflowOf([{ id: 'A' }, { id: 'B' }])), {
      gateDecision: { option: 'Publish' },
      parallelResults: { all: 'done' },
      pendingRetry: 1,
      decisions: 1,
      mine: 2,
    });

    const checkpoint = checkpointOf(run);

    expect(checkpoint).not.toHaveProperty('gateDecision');
    expect(checkpoint).not.toHaveProperty('parallelResults');
    expect(checkpoint).not.toHaveProperty('pendingRetry');
    expect(checkpoint).not.toHaveProperty('decisions');
    expect(checkpoint).toMatchObject({ mine: 2 });
  });

  test('of a param or of state beats every result [C29 adv.N3]', () => {
    const workflow = workflowOf(
      [{ id: 'H', work: { kind: 'handler', ref: 'steps/H/handler' } }, { id: 'A' }, { id: 'B' }],
      { params: { threshold: { type: 'number', default: 0.5 } } },
    );
    const first = submit(started(workflow), complete(started(workflow)), {
      answer: () => ({ ok: true, outcome: 'ok', state: { risk: 'low' } }),
    }).run;

    const run = done(first, { threshold: -99, risk: 'none' });

    expect(checkpointOf(run)).toMatchObject({ threshold: 0.5, risk: 'low' });
    expect(stepInputFor(run).checkpoint).toMatchObject({ threshold: 0.5, risk: 'low' });
  });

  test('is not a handler’s to take from a param or the engine', () => {
    const workflow = workflowOf(
      [{ id: 'H', work: { kind: 'handler', ref: 'steps/H/handler' } }, { id: 'A' }],
      { params: { threshold: { type: 'number', default: 0.5 } } },
    );
    const run = started(workflow);
    const answered = (state: JsonObject) =>
      code(submit(run, complete(run), { answer: () => ({ ok: true, outcome: 'ok', state }) }));

    expect(answered({ threshold: 1 })).toBe('handler_failed');
    expect(answered({ gateDecision: 1 })).toBe('handler_failed');
    expect(answered({ other: 1 })).toBeNull();
  });

  test('held by the free results of two steps is nobody’s, and the message names both [C29]', () => {
    const workflow = workflowOf([
      { id: 'measure' },
      { id: 'other' },
      { id: 'route', next: { condition: 'checkpoint.metrics > 1', onTrue: null, onFalse: null } },
    ]);
    const measured = done(started(workflow), { metrics: 1 });
    const alone = done(measured, {});
    const planted = done(measured, { metrics: 99 });

    expect(checkpointOf(alone)).toMatchObject({ metrics: 1 });
    expect(checkpointOf(planted)).not.toHaveProperty('metrics');
    expect(checkpointOf(planted)).toMatchObject({
      results: { measure: { metrics: 1 }, other: { metrics: 99 } },
    });
    expect(submit(planted, complete(planted)).verdict).toMatchObject({
      blockers: [
        {
          code: 'condition_unanswerable',
          message: expect.stringMatching(/`measure` and `other`.*checkpoint\.results/),
        },
      ],
    });
  });

  test('is its declaring phase’s alone, whatever a free result holds', () => {
    const workflow = workflowOf([{ id: 'A', artifacts: [{ type: 'plan' }] }, { id: 'B' }, { id: 'C' }]);
    const run = done(done(started(workflow), { plan: 'mine' }), { plan: 'planted' });

    expect(checkpointOf(run)).toMatchObject({ plan: 'mine' });
    expect(scopeFor(run, at(run)).artifacts).toEqual({ plan: 'mine' });
  });
});

describe('items of a parallel phase', () => {
  const workflow = workflowOf([
    { id: 'plan', artifacts: [{ type: 'areas' }], gates: [{ ...GATE, human: yesNo('plan') }] },
    { id: 'look' },
    { id: 'write', parallel: { key: 'areas' } },
  ]);

  test('come from the place that declares the list, not from the one who came last [adv.N4]', () => {
    const planned = approved(started(workflow), { areas: ['a', 'b', 'c'] });

    expect(Object.keys(done(planned, { areas: ['only'] }).work.items ?? {})).toEqual(['a', 'b', 'c']);
  });

  test('held by two steps make the phase impossible to enter', () => {
    const free = workflowOf([{ id: 'a' }, { id: 'b' }, { id: 'write', parallel: { key: 'areas' } }]);
    const run = done(started(free), { areas: ['x'] });

    expect(submit(run, complete(run, { areas: ['y'] })).verdict).toMatchObject({
      blockers: [{ code: 'items_invalid', message: expect.stringMatching(/`a` and `b`/) }],
    });
  });

  test('that are none complete the phase at once, or lead where `on_empty` says', () => {
    const walk = (onEmpty?: string | null) => {
      const drafts: PhaseDraft[] = [
        { id: 'plan', artifacts: [{ type: 'areas' }] },
        { id: 'write', parallel: { key: 'areas', ...(onEmpty === undefined ? {} : { onEmpty }) } },
        { id: 'read' },
        { id: 'rest' },
      ];
      return done(started(workflowOf(drafts)), { areas: [] });
    };

    expect(walk().phase).toBe('read');
    expect(walk().completions.at(-1)).toMatchObject({ phase: 'write', evidence: { items: {} } });
    expect(walk('rest').phase).toBe('rest');
  });

  test('that are none do not open a way past the gate of their phase', () => {
    const gated = workflowOf([
      { id: 'plan', artifacts: [{ type: 'areas' }] },
      { id: 'write', parallel: { key: 'areas', onEmpty: null }, gates: [{ ...GATE, human: yesNo('write') }] },
      { id: 'read' },
    ]);

    expect(done(started(gated), { areas: [] })).toMatchObject({ status: 'waiting', phase: 'write' });
  });

  test('give each name a map of item key to value', () => {
    const named = workflowOf([
      { id: 'plan', artifacts: [{ type: 'areas' }] },
      { id: 'write', parallel: { key: 'areas' }, artifacts: [{ type: 'text' }] },
      { id: 'read' },
    ]);
    const first = done(started(named), { areas: ['a', 'b'] });
    const a = submit(first, complete(first, { text: 'A' }, { item: 'a' })).run;
    const run = submit(a, complete(a, { text: 'B' }, { item: 'b' })).run;

    expect(scopeFor(run, at(run)).artifacts).toMatchObject({ text: { a: 'A', b: 'B' } });
  });
});

describe('only what was valid gives a name its value', () => {
  const ways = { outcomes: { ok: 'B', fail: 'B', iterate: 'B' } } as const;
  const workflow = workflowOf([{ id: 'A', artifacts: [{ type: 'plan' }], next: ways }, { id: 'B' }]);

  test('`fail` stores what it was handed as its own result and changes no name', () => {
    const run = started(workflow);
    const failed = submit(run, complete(run, { plan: 'x' }, { outcome: 'fail', reason: 'no' })).run;

    expect(checkpointOf(failed)).not.toHaveProperty('plan');
    expect(failed.completions[0]).toMatchObject({ outcome: 'fail', evidence: { plan: 'x' } });
    expect(checkpointOf(submit(run, complete(run, { plan: 'x' }, { outcome: 'iterate' })).run)).toMatchObject(
      {
        plan: 'x',
      },
    );
  });

  test('what permissive mode let through changes no name', () => {
    const loose = { ...workflow, enforcement: { ...workflow.enforcement, mode: 'permissive' as const } };
    const checked = workflowOf(
      [{ id: 'A', artifacts: [{ type: 'plan' }], postconditions: [{ check: 'asked' }] }, { id: 'B' }],
      { enforcement: { mode: 'permissive' } },
    );
    const run = started(checked);
    const let1 = submit(run, complete(run, { plan: 'x' }), { answer: () => result('failed') }).run;

    expect(checkpointOf(let1)).not.toHaveProperty('plan');
    expect(let1.completions[0]).toMatchObject({ letThrough: true, evidence: { plan: 'x' } });
    expect(checkpointOf(done(started(loose), { plan: 'y' }))).toMatchObject({ plan: 'y' });
  });
});

describe('what a definition must settle', () => {
  test.each<[string, Partial<WorkflowDraft>]>([
    ['a param with the name of an engine field', { params: { gateDecision: { type: 'string' } } }],
    ['evidence with the name of a param', { params: { plan: { type: 'string' } } }],
    [
      'evidence with the name of an engine field',
      { phases: [{ id: 'A', fields: [{ name: 'results', type: 'str' }] }] },
    ],
  ])('%s', (_, more) => {
    expect(problemsOf({ id: 'w', phases: PLANNED, ...more })).toContain('name_taken');
  });

  test('an option that leads on by another way says what it means', () => {
    const leading = (option: object) => [
      {
        id: 'A',
        gates: [{ human: { prompt: '?', options: [{ label: 'Yes' }, { label: 'x', ...option }] } }],
      },
      { id: 'B' },
      { id: 'C' },
    ];

    expect(problemsOf({ id: 'w', phases: leading({ next: 'C' }) })).toEqual(['approval_unclear']);
    expect(problemsOf({ id: 'w', phases: leading({ next: 'C', approves: false }) })).toEqual([]);
    expect(problemsOf({ id: 'w', phases: leading({ next: 'A' }) })).toEqual([]);
    expect(problemsOf({ id: 'w', phases: leading({ next: null }) })).toEqual([]);
    expect(problemsOf({ id: 'w', phases: leading({ next: 'B' }) })).toEqual([]);
    expect(problemsOf({ id: 'w', phases: leading({ next: null, approves: true }) })).toEqual(['bad_value']);
    expect(problemsOf({ id: 'w', phases: leading({ approves: false }) })).toEqual(['bad_value']);
  });

  test('`approved` is a root, of names that a gate covers', () => {
    const asking = (condition: string) => [
      ...PLANNED.slice(0, 2),
      { id: 'RECORD', next: { condition, onTrue: null, onFalse: null } },
    ];

    expect(problemsOf({ id: 'w', phases: asking('approved.plan === 1') })).toEqual([]);
    expect(problemsOf({ id: 'w', phases: asking('approved.changes === 1') })).toEqual(['unknown_path']);
  });
});

function yesNo(back: string) {
  return { prompt: '?', options: [{ label: 'Yes' }, { label: 'Again', next: back }] };
}

function problemsOf(draft: WorkflowDraft): readonly string[] {
  const defined = defineWorkflow(draft, { checks: KNOWN });
  return defined.ok
    ? []
    : defined.problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

function done(run: Run, evidence: JsonObject): Run {
  const decision = submit(run, complete(run, evidence));
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

/** The run after its phase was completed and a human said yes. */
function approved(run: Run, evidence: JsonObject): Run {
  const waiting = done(run, evidence);
  const gate = waiting.status === 'waiting' && waiting.wait.for === 'gate' ? waiting.wait.gate : '';
  const decision = submit(
    waiting,
    { kind: 'decide', gate, option: 'Yes', shown: 's', signature: 'x' },
    { principal: ADA, shown: 's' },
  );
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

function at(run: Run) {
  return {
    phase: run.workflow.phases.find(({ id }) => id === run.phase) ?? (run.workflow.phases[0] as never),
  };
}

function code(decision: ReturnType<typeof submit>): string | null {
  return decision.verdict.allowed ? null : decision.verdict.blockers[0].code;
}
