import { fileURLToPath } from 'node:url';
import { own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { cases, casesIn, completions, events } from './testing/fixtures/tryCases.ts';

/** Its condition looks where nothing is. */
const THROWS = `
import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 't',
  steps: [
    { id: 'a', next: { condition: (ctx) => ctx.result.score.total > 1, onTrue: 'b', onFalse: null } },
    { id: 'b' },
  ],
});
`;

describe('an agent’s step in a case', () => {
  test('is completed with evidence that its fields and schemas ask for, and the run goes on', async () => {
    const { results, seen } = await cases({
      'w.workflow.yaml': `
workflow: w
phases:
  PLAN:
    instructions: Plan
    required_artifacts:
      - type: plan
        schema:
          type: object
          required: [id, files]
          properties:
            id: { type: string, pattern: "^AC-[1-9][0-9]*$" }
            files: { type: array, minItems: 2, uniqueItems: true, items: { type: string } }
    next: DO
  DO: { instructions: Do, tasks: [{ name: Look, instructions: Look }] }
`,
    });

    expect(results.map(({ name, status }) => [name, status])).toEqual([
      ['w-1.PLAN', 'passed'],
      ['w-2.DO', 'passed'],
    ]);
    expect(completions(seen)).toEqual([
      ['PLAN', 'ok', 'DO'],
      ['DO', 'ok', null],
    ]);
  });

  test('is left by each way its condition can go', async () => {
    const { results, seen } = await cases({
      'w.workflow.yaml': `
workflow: w
params: { least: { type: integer, choices: [3] } }
phases:
  REVIEW:
    instructions: Review
    required_artifacts:
      - type: review
        schema:
          type: object
          required: [decision, score]
          properties: { decision: { enum: [rejected, approved] }, score: { type: integer } }
    next: { condition: "review.decision === 'approved' && review.score >= params.least || iteration > 4", onTrue: SHIP, onFalse: REVIEW, maxIterations: 2 }
  SHIP:
    instructions: Ship
    next: { condition: "result.done !== 'no' && length(result.files) > 2 && result.score >= result.least", onTrue: MANY, onFalse: FEW }
  MANY: { instructions: Many, next: null }
  FEW: { instructions: Few, next: null }
`,
      'w.contract.yaml': `
evidence: { REVIEW: { review: { decision: approved, score: 3 } } }
tests: [{ name: honest, agent: honest }]
`,
    });

    expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(completions(seen).sort()).toEqual([
      ['FEW', 'ok', null],
      ['MANY', 'ok', null],
      ['REVIEW', 'ok', 'REVIEW'],
      ['REVIEW', 'ok', 'SHIP'],
      ['SHIP', 'ok', 'FEW'],
      ['SHIP', 'ok', 'MANY'],
    ]);
  });

  test('is left with each outcome it may report, a dispatched one too', async () => {
    const { results, seen } = await cases({
      'w.workflow.ts': `
import { defineWorkflow, Dispatch, Outcome } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'w',
  steps: [
    { id: 'work', next: { [Outcome.OK]: 'gate', [Outcome.FAIL]: 'work', [Outcome.ITERATE]: 'work', maxIterations: 2 } },
    {
      id: 'gate',
      handler: Dispatch({ agent: 'quality-reviewer', script: 'review' }),
      next: { [Outcome.OK]: null, [Outcome.FAIL]: 'work', maxIterations: 2 },
    },
  ],
});
`,
    });

    expect(results.map(({ name, status, message }) => [name, status, message])).toEqual([
      ['w-1.work-iteration=1', 'passed', ''],
      ['w-1.work-iteration=2', 'passed', ''],
      ['w-2.gate', 'passed', ''],
    ]);
    expect(completions(seen)).toEqual([
      ...[1, 2].flatMap(() => [
        ['work', 'ok', 'gate'],
        ['work', 'fail', 'work'],
        ['work', 'iterate', 'work'],
      ]),
      ['gate', 'ok', null],
      ['gate', 'fail', 'work'],
    ]);
  });

  test('fails where its way on cannot be told, and says what was only made up', async () => {
    const { results } = await cases({
      'w.workflow.yaml': `
workflow: w
phases:
  A: { instructions: A, required_artifacts: [{ type: n, schema: { type: integer } }], next: { condition: "checkpoint.nobody > 1", onTrue: B, onFalse: null } }
  B: { instructions: B }
`,
    });
    const typed = await cases({ 't.workflow.ts': THROWS }, { workflow: 't' });

    expect(results.map(({ status }) => status)).toEqual(['failed', 'passed']);
    expect(results[0]?.message).toMatch(
      /^condition_unanswerable: .*`checkpoint\.nobody.*the evidence was made up: \{"n":1\}; give `evidence` of `A`/,
    );
    expect(typed.results.map(({ status }) => status)).toEqual(['failed', 'passed']);
    expect(typed.results[0]?.message).toMatch(/^condition_unanswerable: .*the evidence was made up: \{\}/);
  });

  test('fails with evidence of the contract tests that the phase does not take', async () => {
    const { results } = await cases({
      'w.workflow.yaml':
        'workflow: w\nphases: { A: { required_artifacts: [{ type: n, schema: { type: integer } }] } }\n',
      'w.contract.yaml': 'evidence: { A: { n: many } }\ntests: [{ name: a, agent: honest }]\n',
    });

    expect(results).toMatchObject([
      { status: 'failed', message: expect.stringMatching(/^incomplete_checkpoint: n .*integer/) },
    ]);
  });

  test('is left out, with the reason, where no evidence can be made for it', async () => {
    const schema = '{ type: integer, minimum: 2, maximum: 1 }';
    const { results } = await cases({
      'w.workflow.yaml': `workflow: w\nphases: { A: { required_artifacts: [{ type: n, schema: ${schema} }] } }\n`,
    });

    expect(results).toMatchObject([
      {
        status: 'skipped',
        message:
          'no evidence could be made up (`n`): give it under `evidence: { A: … }` of the contract tests',
      },
    ]);
  });
});

describe('a parallel step in a case', () => {
  const workflow = (first: string) => `
workflow: w
phases:
  PLAN: ${first}
  WORK:
    instructions: Work
    parallel: true
    parallel_key: plan.areas
    required_artifacts: [{ type: done, schema: { type: object, required: [ok], properties: { ok: { const: true } } } }]
    next: END
  END: { instructions: End }
`;

  test('is done for two items that are made up where a step before it can give them', async () => {
    const schema =
      '{ type: object, required: [areas], properties: { areas: { type: array, items: { type: string } } } }';
    const { results, seen } = await cases({
      'w.workflow.yaml': workflow(
        `{ instructions: Plan, required_artifacts: [{ type: plan, schema: ${schema} }] }`,
      ),
    });

    expect(results.map(({ name, status, message }) => [name, status, message])).toEqual([
      ['w-1.PLAN', 'passed', ''],
      ['w-2.WORK', 'passed', ''],
      ['w-3.END', 'passed', ''],
    ]);
    expect(events(seen, 'item_completed').map((data) => own(data, 'item'))).toEqual(['item-1', 'item-2']);
    expect(completions(seen)).toContainEqual(['WORK', 'ok', 'END']);
  });

  test('is done for the items of the contract tests where these give some', async () => {
    const { seen } = await cases({
      'w.workflow.yaml': workflow('{ instructions: Plan, required_artifacts: [{ type: plan }] }'),
      'w.contract.yaml': `
evidence: { PLAN: { plan: { areas: [one, two, three] } }, WORK: { done: { ok: true } } }
tests: [{ name: a, agent: honest }]
`,
    });

    expect(events(seen, 'item_completed').map((data) => own(data, 'item'))).toEqual(['one', 'two', 'three']);
  });

  test('is left out, with the reason, where nothing before it gives items', async () => {
    const { results } = await cases({
      'w.workflow.yaml': workflow('{ instructions: Plan, required_artifacts: [{ type: n }] }'),
    });

    expect(results[1]).toMatchObject({
      status: 'skipped',
      message: '`plan.areas` holds no list of items: nothing before it gives them',
    });
    // The step before it cannot lead there either, and that is its fault.
    expect(results[0]).toMatchObject({ status: 'failed', message: expect.stringContaining('items_invalid') });
  });

  test('that is a command runs once for each item, in a process of its own [S4.68]', async () => {
    const step = `
const { item } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
if (item === 'item-2') process.exit(4);
console.log(JSON.stringify({ success: true, result: { item } }));
`;
    const { results, seen } = await cases({
      'step.cjs': step,
      'w.workflow.yaml': `
workflow: w
phases:
  LIST: { instructions: List }
  RUN: { command: "${process.execPath} step.cjs", parallel: true, parallel_key: found }
`,
    });

    expect(results.map(({ status }) => status)).toEqual(['passed', 'failed']);
    expect(results[1]?.message).toContain('exit code 4');
    expect(events(seen, 'item_completed').map((data) => own(data, 'item'))).toEqual(['item-1']);
  });
});

test('a command goes on by its route, and one whose route has no answer fails [S4.68]', async () => {
  const { results } = await cases({
    'step.cjs': 'console.log(JSON.stringify({ success: true, result: { score: 2 } }));',
    'w.workflow.yaml': `
workflow: w
phases:
  GOOD: { command: "${process.execPath} step.cjs", next: { condition: "result.score > 1", onTrue: AGAIN, onFalse: GOOD, maxIterations: 1 } }
  AGAIN: { command: "${process.execPath} step.cjs", next: { condition: "result.score > 1", onTrue: AGAIN, onFalse: BAD, maxIterations: 1 } }
  BAD: { command: "${process.execPath} step.cjs", next: { condition: "result.grade > 1", onTrue: GOOD, onFalse: null, maxIterations: 1 } }
`,
  });

  expect(results.map(({ status }) => status)).toEqual(['passed', 'passed', 'failed']);
  expect(results[2]?.message).toContain('`result.grade');
});

test('each phase that a dynamic workflow makes at the start is tried out where it stands', async () => {
  const root = fileURLToPath(new URL('../../../examples/spec-execution', import.meta.url));
  const { results, seen } = await casesIn(root, { workflow: 'spec_execution_v1' });

  expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
  const phases = seen[0]?.workflow.phases.map(({ id }) => id) ?? [];
  expect(phases.length).toBeGreaterThan(2);
  expect(completions(seen).map(([phase]) => phase)).toEqual(phases);
});

test('every case of a workflow of design 4’s shape is run once, and no other [S4.63 S4.69 S4.70 S4.73 S4.74 S4.75 S4.76 S4.77 S4.78]', async () => {
  const { results, seen } = await cases({
    'w.workflow.ts': `
import { BoundedInt, defineWorkflow, Outcome } from '@phasegate/sdk';
const gated = [6, 7, 8, 9, 10, 11];
const iterating = [5, 10];
const said = ({ mode, confidence, iteration }) => ({ said: [mode, confidence ?? 0, iteration].join('/') });
export default defineWorkflow({
  type: 'w',
  params: { mode: { choices: ['full', 'quick'], default: 'full' } },
  steps: Array.from({ length: 12 }, (_, index) => {
    const number = index + 1;
    const after = number === 12 ? null : number + 1;
    const refines = iterating.includes(number);
    return {
      id: number,
      handler: (ctx) => [
        refines && ctx.confidence < 3 ? Outcome.ITERATE : number === 5 && ctx.mode === 'quick' ? Outcome.SKIP : Outcome.OK,
        said(ctx),
      ],
      ...(gated.includes(number) ? { onlyWhen: { mode: ['full'] } } : {}),
      ...(refines ? { args: { confidence: new BoundedInt(1, 5) } } : {}),
      next: refines
        ? { [Outcome.OK]: after, [Outcome.SKIP]: 12, [Outcome.ITERATE]: number, maxIterations: 5 }
        : { [Outcome.OK]: after },
    };
  }),
});
`,
  });

  // Worked out from the rules alone.
  const expected: string[] = [];
  for (const mode of ['full', 'quick']) {
    for (const step of mode === 'full' ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : [1, 2, 3, 4, 5, 12]) {
      const refines = step === 5 || step === 10;
      for (const confidence of refines ? [1, 2, 3, 4, 5] : [0]) {
        for (const iteration of refines ? [1, 2, 3, 4, 5] : [1]) {
          expected.push(`${step}: ${mode}/${confidence}/${iteration}`);
        }
      }
    }
  }
  expect(expected).toHaveLength(90);
  expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
  expect(new Set(results.map(({ name }) => name)).size).toBe(90);
  const ran = events(seen, 'phase_completed').map(
    (data) => `${own(data, 'phase')}: ${own(own(data, 'state'), 'said')}`,
  );
  expect(ran.toSorted()).toEqual(expected.toSorted());
});
