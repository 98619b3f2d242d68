import { expect, expectTypeOf, test } from 'vitest';
import { W1EditingWorkflow } from './fixtures/editing.workflow.ts';
import {
  Arg,
  BoundedInt,
  ChoiceSet,
  type Condition,
  defineWorkflow,
  type Handler,
  type StepContext,
} from './index.ts';

// The compiler is the judge of what stands here: a comment that expects an error where there is none is one itself.

const triage: Handler = (ctx) => [ctx.result.anything === 1 ? 'ok' : 'skip', {}];
const shared: Condition = { name: 'shared', check: (ctx) => ctx.whatever === true };

test('what a workflow declares types its functions, and a mistyped name does not compile', () => {
  const { problems } = defineWorkflow({
    type: 'typed',
    params: {
      book: { type: 'string' },
      rounds: { type: 'integer', default: 3 },
      mode: { choices: ['full', 'quick'], required: true },
      effort: new BoundedInt(1, 5),
      colour: new ChoiceSet(['red', 'blue'] as const),
      untyped: {},
    },
    schemas: {
      review: {
        type: 'object',
        properties: {
          decision: { enum: ['approved', 'rejected'] },
          notes: { type: 'array', items: { type: 'string' } },
        },
        required: ['decision'],
      },
    },
    database: {
      file: 'a.db',
      helpers: {
        exists: (db, id) => db.get('SELECT 1 FROM t WHERE id = ?', id) !== undefined,
        count: () => 3,
      },
    },
    gates: {
      shared: {
        blockers: [
          shared,
          {
            check: (ctx) => {
              expectTypeOf(ctx.params.rounds).toBeNumber();
              return ctx.result.anything;
            },
          },
        ],
      },
    },
    steps: [
      {
        name: 'plan',
        requiredEvidence: { severity: { type: 'str' }, count: { type: 'int', rule: 'optional' } },
        requiredArtifacts: [
          {
            type: 'plan',
            schema: {
              type: 'object',
              properties: { scope: { type: 'array', items: { type: 'string' } } },
              required: ['scope'],
            },
          },
          'loose',
        ],
        preconditions: [
          {
            check: (ctx) => {
              expectTypeOf(ctx.book).toEqualTypeOf<string | null>();
              expectTypeOf(ctx.params.book).toEqualTypeOf<string | null>();
              expectTypeOf(ctx.workflow_params.rounds).toBeNumber();
              expectTypeOf(ctx.mode).toEqualTypeOf<'full' | 'quick'>();
              expectTypeOf(ctx.effort).toEqualTypeOf<number | null>();
              expectTypeOf(ctx.colour).toEqualTypeOf<'red' | 'blue' | null>();
              expectTypeOf(ctx.untyped).toBeAny();
              // @ts-expect-error there is no such param
              ctx.params.boook;
              // @ts-expect-error nor such a name
              ctx.boook;
              // @ts-expect-error a param that may be absent is null
              ctx.book.length;
              return ctx.state.anything;
            },
          },
        ],
        postconditions: [
          shared,
          {
            check: (ctx) => {
              expectTypeOf(ctx.result.severity).toBeString();
              expectTypeOf(ctx.result.count).toEqualTypeOf<number | null>();
              expectTypeOf(ctx.result.plan.scope).toEqualTypeOf<readonly string[]>();
              expectTypeOf(ctx.plan.scope).toEqualTypeOf<readonly string[]>();
              expectTypeOf(ctx.result.loose).toBeAny();
              // @ts-expect-error no such evidence
              ctx.result.severty;
              // @ts-expect-error no such field of the artifact
              ctx.result.plan.scoop;
              // @ts-expect-error not a number
              ctx.result.severity > 3;
              return ctx.db.exists(ctx.runId);
            },
          },
        ],
        next: {
          condition: (ctx) => {
            // @ts-expect-error no such evidence
            ctx.result.severty;
            return ctx.result.severity === 'high';
          },
          onTrue: 'review',
          onFalse: null,
        },
      },
      {
        name: 'review',
        args: { sure: Arg({ choices: [1, 2] }) },
        requiredArtifacts: [{ type: 'review', schema: 'review' }],
        handler: (ctx) => {
          expectTypeOf(ctx.result.review.decision).toEqualTypeOf<'approved' | 'rejected'>();
          expectTypeOf(ctx.result.review.notes).toEqualTypeOf<readonly string[] | undefined>();
          expectTypeOf(ctx.artifacts.severity).toEqualTypeOf<string | null>();
          expectTypeOf(ctx.artifacts.plan?.scope).toEqualTypeOf<readonly string[] | undefined>();
          expectTypeOf(ctx.approved.plan?.scope).toEqualTypeOf<readonly string[] | undefined>();
          expectTypeOf(ctx.approved.severity).toEqualTypeOf<string | null>();
          expectTypeOf(ctx.checkpoint.severity).toEqualTypeOf<string | null>();
          expectTypeOf(ctx.approved.whatTheGateShowed).toBeAny();
          expectTypeOf(ctx.checkpoint.metrics).toBeAny();
          expectTypeOf(ctx.checkpoint.currentStep).toEqualTypeOf<string | number | null>();
          expectTypeOf(ctx.params.sure).toBeAny();
          expectTypeOf(ctx.sure).toBeAny();
          expectTypeOf(ctx.db.exists('1')).toBeBoolean();
          expectTypeOf(ctx.db.count()).toBeNumber();
          // @ts-expect-error nobody declares it
          ctx.artifacts.plna;
          // @ts-expect-error not while it may be absent
          ctx.artifacts.plan.scope;
          // @ts-expect-error not in the schema of the plan
          ctx.approved.plan?.scop;
          // @ts-expect-error not in the schema of the plan
          ctx.checkpoint.plan?.scop;
          // @ts-expect-error the schema has no such decision
          ctx.result.review.decision === 'aproved';
          // @ts-expect-error no such question to the database
          ctx.db.exsits('1');
          return ['ok', { decision: ctx.result.review.decision }];
        },
        body: (ctx) => [`Round ${ctx.iteration}`, ctx.mode],
        gate: { blockers: [{ check: (ctx) => ctx.result.review.decision === 'approved' }] },
      },
      {
        name: 'free',
        postconditions: [{ check: (ctx) => ctx.result.metrics.delta > 0 }],
        handler: triage,
      },
    ],
  });

  expect(problems).toEqual([]);
});

test('without params every name compiles, and a free result is as loose as it was', () => {
  const { problems } = defineWorkflow({
    type: 'loose',
    steps: [
      {
        name: 'a',
        preconditions: [{ check: (ctx) => ctx.book !== null && ctx.db.exists(ctx.runId) }],
        postconditions: [
          { check: (ctx) => ctx.result.files.length > 0 && ctx.params.x === ctx.approved.y.z },
        ],
        handler: (ctx) => [ctx.result.sure ? 'ok' : 'iterate', { sure: ctx.result.sure }],
      },
      {
        name: 'b',
        requiredEvidence: { files: { type: 'list' } },
        postconditions: [
          { check: (ctx) => ctx.book !== null && ctx.result.files.length > 0 },
          {
            // @ts-expect-error declared evidence is typed also where params are not
            check: (ctx) => ctx.result.filse.length > 0,
          },
        ],
      },
    ],
  });

  expect(problems).toEqual([]);
  expect(W1EditingWorkflow.problems).toEqual([]);
});

test('a key that no step has does not compile, and neither does a value of the wrong kind', () => {
  const { problems } = defineWorkflow({
    type: 'wrong',
    steps: [
      // @ts-expect-error no such key
      { name: 'a', postcondition: [] },
      // @ts-expect-error a list
      { name: 'b', requiredArtifacts: 'plan' },
      // @ts-expect-error an object
      { name: 'c', requiredEvidence: { n: 7 } },
    ],
  });

  expect(problems.length).toBeGreaterThan(0);
});

test('definitions made elsewhere are taken as they are', () => {
  const steps = ['a', 'b'].map((name) => ({ name, postconditions: [shared], handler: triage }));
  const checked = (ctx: StepContext): boolean => ctx.result.anything;

  const { problems } = defineWorkflow({
    type: 'made',
    params: { book: {} },
    steps: [
      ...steps,
      { name: 'c', requiredEvidence: { n: { type: 'int' } }, postconditions: [{ check: checked }] },
    ],
  });

  expect(problems).toEqual([]);
});
