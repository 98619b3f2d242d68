import { format, inspect } from 'node:util';
import type { KnownNames } from '@phasegate/core/engine';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { answerOf } from './answerOf.ts';
import { contextOf } from './contextOf.ts';

const KNOWN: KnownNames = {
  artifacts: ['plan', 'review', 'count'],
  approved: ['plan'],
  params: ['book', 'mode'],
  checkpoint: ['gateDecision', 'book', 'mode', 'plan', 'review', 'count'],
  result: ['review', 'count'],
  roots: ['review'],
};
const GIVEN = {
  runId: 'run-1',
  phase: 'review',
  target: null,
  attempt: 1,
  iteration: 1,
  params: { mode: 'full' },
  state: { seen: 1 },
  result: { count: 3, '': 'empty' },
  artifacts: { count: 3, later: { deep: 1 } },
  approved: { plan: { scope: ['a'] } },
  checkpoint: { completedSteps: [], mode: 'full' },
};
const ROOTS = ['params', 'result', 'artifacts', 'approved', 'checkpoint'] as const;

describe('a name that is not there', () => {
  test('is an error at the top and in every root but the state', () => {
    const ctx = context();

    expect(() => ctx.boook).toThrow(
      /^there is no `boook` in `ctx` \(did you mean `book`\?\); it has `approved`/,
    );
    for (const root of ROOTS)
      expect(() => ctx[root].nothing).toThrow(`there is no \`nothing\` in \`ctx.${root}\``);
    expect(() => ctx.workflow_params.nothing).toThrow('there is no `nothing` in `ctx.params`');
    expect(ctx.state.nothing).toBeUndefined();
    expect(ctx.step_state.nothing).toBeUndefined();
  });

  test('is an error in the result of a step that declares nothing, and the message tells how to ask', () => {
    const ctx = context({}, { ...KNOWN, result: null });

    expect(ctx.result.count).toBe(3);
    expect(() => ctx.result.coutn).toThrow(
      "there is no `coutn` in `ctx.result` (did you mean `count`?); it has ``, `count`; declare `coutn` in `requiredEvidence` or `requiredArtifacts` of step `review`, or ask `'coutn' in ctx.result` first",
    );
    expect(() => ctx.result.review).toThrow('there is no `review`');
  });

  test('is answered with where else it is, or how to have it', () => {
    const ctx = context();

    expect(() => ctx.plan).toThrow('; read `ctx.artifacts.plan`');
    expect(() => ctx.seen).toThrow('; read `ctx.state.seen`');
    expect(() => ctx.other).toThrow('; declare `other` in `params` of the workflow');
    expect(() => ctx.db).toThrow('; declare `database` in the workflow');
    expect(() => ctx.params.x).toThrow('it has `book`, `mode`; declare `x` in `params` of the workflow');
    expect(() => ctx.approved.review).toThrow('; put `review` into the `context` of a human gate');
    expect(() => contextOf({}, { known: {} }).x).toThrow();
    expect(() => context({ params: {} }, {}).params.x).toThrow('in `ctx.params`; it is empty; declare');
  });

  test('is told with at most twenty others', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`n${n}`, n]));

    expect(() => context({ params: many }, {}).params.other).toThrow(/`n26` and 30 more; declare/);
  });

  test('fails where the author wrote it', () => {
    const stack = (() => {
      try {
        return context().nothing;
      } catch (error) {
        return (error as Error).stack;
      }
    })();

    expect(stack.split('\n')[1]).toContain('contextOf.test.ts');
  });
});

describe('a name that is declared and absent', () => {
  test('is null', () => {
    const ctx = context();

    expect([ctx.book, ctx.params.book, ctx.checkpoint.book]).toEqual([null, null, null]);
    expect([ctx.artifacts.plan, ctx.artifacts.review, ctx.checkpoint.plan]).toEqual([null, null, null]);
    expect([ctx.checkpoint.gateDecision, ctx.result.review, ctx.review]).toEqual([null, null, null]);
    expect(context({ approved: {} }).approved.plan).toBeNull();
    expect(context({ result: undefined }).result).toBeNull();
    expect(ctx.item).toBeNull();
  });

  test('is not in the data: only what is there has a key', () => {
    const ctx = context();

    expect('plan' in ctx.artifacts || 'nothing' in ctx.artifacts).toBe(false);
    expect('count' in ctx.artifacts).toBe(true);
    expect(Object.keys(ctx.params)).toEqual(['mode']);
  });
});

describe('what the language does with any object', () => {
  test.each(ROOTS)('`ctx.%s` behaves as the data it holds', async (root) => {
    const part = context()[root];
    const data = GIVEN[root];

    expect(Object.keys(part)).toEqual(Object.keys(data));
    expect({ ...part }).toEqual(data);
    expect(JSON.parse(JSON.stringify(part))).toEqual(data);
    expect(structuredClone(part)).toEqual(data);
    expect(await part).toBe(part);
    expect([`${part}`, part.toString(), Object.hasOwn(part, 'nothing'), part.valueOf() === part]).toEqual([
      '[object Object]',
      '[object Object]',
      false,
      true,
    ]);
    expect(inspect(part)).toBe(inspect({ ...part }));
    expect(format('%s %o %j', part, part, part)).toEqual(expect.any(String));
    expect([part[Symbol.iterator], part[Symbol.toPrimitive]]).toEqual([undefined, undefined]);
    const named: string[] = [];
    for (const name in part) named.push(name);
    expect(named).toEqual(Object.keys(data));
    expect(Object.isFrozen(part)).toBe(true);
  });

  test('`ctx` itself too, and a copy keeps what params are null', async () => {
    const ctx = context();

    expect(await ctx).toBe(ctx);
    expect({ ...ctx }.book).toBeNull();
    expect(JSON.parse(JSON.stringify(ctx))).toMatchObject({ runId: 'run-1', book: null, mode: 'full' });
    expect(structuredClone(ctx)).toMatchObject({ result: GIVEN.result });
    expect(inspect(ctx)).toContain("runId: 'run-1'");
    const { item = 'none', ...others } = ctx;
    expect([item, others.step]).toEqual([null, 'review']);
  });

  test('a handler may return what it was given', () => {
    const ctx = context();

    expect(answerOf('handler', ['ok', ctx.result])).toEqual({ outcome: 'ok', state: GIVEN.result });
    expect(answerOf('handler', ['ok', { kept: ctx.artifacts }])).toEqual({
      outcome: 'ok',
      state: { kept: GIVEN.artifacts },
    });
  });

  test('below the roots there is plain data', () => {
    expect(context().artifacts.later.nothing).toBeUndefined();
  });
});

test('reading any name gives the value, null or an error, and never undefined', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.string()),
      fc.string(),
      (data, known, name) => {
        fc.pre(!(name in {}) && name !== 'then' && name !== 'toJSON');
        const { artifacts } = context({ artifacts: data }, { artifacts: known });

        if (Object.hasOwn(data, name)) expect(artifacts[name]).toEqual(data[name]);
        else if (known.includes(name)) expect(artifacts[name]).toBeNull();
        else expect(() => artifacts[name]).toThrow('there is no');
      },
    ),
    { numRuns: cases({ quick: 300, full: 3000 }) },
  );
});

test('the database is opened by the first look at it, and no sooner', () => {
  let opened = 0;
  const ctx = contextOf(GIVEN, { known: KNOWN, db: () => ++opened });

  expect([ctx.book, 'db' in ctx, opened]).toEqual([null, true, 0]);
  expect(ctx.db).toBe(1);
});

// The author's own values: typed as JSON.parse types them.
function context(
  given: Readonly<Record<string, unknown>> = {},
  known: Partial<KnownNames> = KNOWN,
): ReturnType<typeof JSON.parse> {
  return contextOf(structuredClone({ ...GIVEN, ...given }), { known });
}
