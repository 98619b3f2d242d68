import { defineWorkflow as compileWorkflow, PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { Arg } from '../arg.ts';
import { type DefinedWorkflow, defineWorkflow } from '../defineWorkflow.ts';
import { Outcome } from '../outcome.ts';
import {
  BoundedInt,
  ChoiceSet,
  Constant,
  countInputs,
  extractSchema,
  generateInputs,
  stepOrder,
  testEveryCase,
} from './index.ts';

// Design 4's shape: a thinking workflow of 12 steps, where a quick run leaves out steps 6 to 11.
const GATED = [6, 7, 8, 9, 10, 11];
const ITERATING = [5, 10];
const deepthink = defineWorkflow({
  type: 'deepthink',
  params: { mode: { choices: ['full', 'quick'], default: 'full' } },
  steps: Array.from({ length: 12 }, (_, index) => {
    const number = index + 1;
    const after = number === 12 ? null : number + 1;
    return {
      id: number,
      handler: () => [Outcome.OK, {}] as const,
      ...(GATED.includes(number) ? { onlyWhen: { mode: ['full'] } } : {}),
      ...(ITERATING.includes(number) ? { args: { confidence: new BoundedInt(1, 5) as never } } : {}),
      next: ITERATING.includes(number)
        ? { [Outcome.OK]: after, [Outcome.ITERATE]: number, maxIterations: 5 }
        : { [Outcome.OK]: after, [Outcome.SKIP]: 12 },
    };
  }),
});

describe('domains', () => {
  test('go through their values in order, are frozen and have a key [S4.79 S4.80 S4.81 S4.82]', () => {
    const domains = [new BoundedInt(1, 5), new ChoiceSet(['full', 'quick']), new Constant(42)];

    expect(domains.map((domain) => [...domain])).toEqual([[1, 2, 3, 4, 5], ['full', 'quick'], [42]]);
    expect(domains.every((domain) => Object.isFrozen(domain))).toBe(true);
    expect(new BoundedInt(1, 5).key).toBe(domains[0]?.key);
  });
});

describe('generation', () => {
  test('yields exactly the cases the rules allow, each once [S4.63 S4.64 S4.66 S4.69 S4.70 S4.73 S4.74 S4.75 S4.76 S4.77]', () => {
    const inputs = [...generateInputs(deepthink)];

    const seen = inputs.map(({ params }) => JSON.stringify(Object.entries(params).sort()));
    expect(seen.toSorted()).toEqual(expectedCases().toSorted());
    expect(new Set(inputs.map(({ id }) => id)).size).toBe(inputs.length);
    expect(countInputs(deepthink)).toBe(inputs.length);
    expect(inputs.find(({ step }) => step === 5)?.id).toBe(
      'deepthink-5.5-mode=full,confidence=1,iteration=1',
    );
  });

  test('gives a step its own params, those nobody owns, and `iteration` where it iterates [S4.65 S4.71 S4.72]', () => {
    const schema = extractSchema(deepthink);

    expect(schema['1']).toEqual({
      step: new Constant(1),
      total_steps: new Constant(12),
      mode: new ChoiceSet(['full', 'quick']),
    });
    expect(schema['10']).toEqual({
      step: new Constant(10),
      total_steps: new Constant(12),
      mode: new ChoiceSet(['full']),
      confidence: new BoundedInt(1, 5),
      iteration: new BoundedInt(1, 5),
    });
  });

  test('the order of the steps gives each its place [S4.72 S4.78]', () => {
    const order = stepOrder(deepthink);

    expect(order).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for (const { step, params } of generateInputs(deepthink)) {
      expect([order[params.step - 1], params.total_steps]).toEqual([step, order.length]);
    }
  });

  test('is the same for the compiled workflow as for the module', () => {
    const draft = { ...deepthink.draft, code: 'x', module: 'w.ts' };
    const compiled = compileWorkflow(draft, { checks: {} });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));

    expect([...generateInputs(compiled.workflow)]).toEqual([...generateInputs(deepthink)]);
  });

  test('is lazy: the first of ten million cases costs nothing', () => {
    const huge = withParams({ a: { min: 1, max: 10_000_000 } });

    expect(generateInputs(huge, { limit: 1e9 }).next().value?.params).toEqual({
      step: 1,
      total_steps: 1,
      a: 1,
    });
  });

  test('a gate that no value passes leaves the step out', () => {
    const workflow = defineWorkflow({
      type: 'w',
      params: { n: { min: 1, max: 3 } },
      steps: [{ id: 'a' }, { id: 'b', onlyWhen: { n: [7] } }],
    });

    expect([...generateInputs(workflow)].map(({ id }) => id)).toEqual([
      'w-1.a-n=1',
      'w-1.a-n=2',
      'w-1.a-n=3',
    ]);
  });

  test.each(['constructor', 'toString', '__proto__'])('a param may be called `%s`', (name) => {
    const workflow = withParams(Object.fromEntries([[name, { choices: [true, false] }]]));
    const inputs = [...generateInputs(workflow, { domains: {} })].map(({ params }) => Object.entries(params));

    expect(inputs.map((entries) => entries.find(([key]) => key === name)?.[1])).toEqual([true, false]);
  });

  test('a default alone gives no domain to a param called `constructor`', () => {
    const workflow = withParams({ constructor: { type: 'string', default: 'a' } });

    expect(() => generateInputs(workflow)).toThrow('can be anything');
    const domains = Object.fromEntries([['constructor', new Constant('b')]]);
    expect([...generateInputs(workflow, { domains })]).toMatchObject([{ params: { constructor: 'b' } }]);
  });

  test('a step called `constructor` that nothing lets be entered has no case', () => {
    const workflow = defineWorkflow({
      type: 'w',
      params: { n: { min: 1, max: 1 } },
      steps: [{ id: 'a' }, { id: 'constructor', onlyWhen: { n: [7] } }],
    });

    expect([...generateInputs(workflow)].map(({ id }) => id)).toEqual(['w-1.a-n=1']);
  });

  test('values that look alike get different ids [S4.73]', () => {
    const inputs = [...generateInputs(withParams({ v: { choices: ['1', 1, true, 'true', 'a,b=c', null] } }))];

    expect(new Set(inputs.map(({ id }) => id)).size).toBe(6);
  });
});

describe('what cannot be tried out', () => {
  test.each([
    [{ topic: { type: 'string' } }],
    [{ topic: { type: 'integer', min: 1 } }],
    [{ topic: { type: 'number', min: 0, max: 1 } }],
    [{ topic: Arg({ default: 'x' }) }],
  ])('a domain without end is named, and what to change: %j', (params) => {
    const fault = faultOf(() => generateInputs(withParams(params)));

    expect(fault.message).toBe(
      'param `topic` of step `only` can be anything, so not every value of it can be tried',
    );
    expect(fault.hint).toContain('`choices`');
  });

  test('values for tests can be given where the workflow has none', () => {
    const workflow = withParams({ topic: { type: 'string' } });

    expect([...generateInputs(workflow, { domains: { topic: new Constant('x') } })]).toHaveLength(1);
  });

  test('a loop without end is named', () => {
    const workflow = defineWorkflow({
      type: 'w',
      steps: [{ id: 'only', next: { [Outcome.ITERATE]: 'only', [Outcome.OK]: null } }],
    });

    expect(faultOf(() => generateInputs(workflow)).hint).toContain('`maxIterations`');
  });

  test('a product over the limit says how large it is and where', () => {
    const workflow = withParams({ a: { min: 1, max: 1000 }, b: { min: 1, max: 1000 } });

    expect(faultOf(() => generateInputs(workflow)).message).toBe(
      'there are 1000000 cases, and the limit is 10000; step `only` has most: `a` 1000 x `b` 1000',
    );
  });
});

describe('testEveryCase', () => {
  const names: string[] = [];
  const seen: number[] = [];
  testEveryCase(
    (name, run) => {
      names.push(name);
      return run();
    },
    deepthink,
    ({ params }) => void seen.push(params.step),
  );

  test('makes one test of each case, named by its id [S4.67]', () => {
    expect(names).toEqual([...generateInputs(deepthink)].map(({ id }) => id));
    expect(seen).toHaveLength(names.length);
  });

  testEveryCase(test, deepthink, ({ params }) => {
    expect(params.total_steps).toBe(12);
  });
});

/** Worked out step by step from the rules, not from the workflow. */
function expectedCases(): readonly string[] {
  const cases: Record<string, unknown>[] = [];
  for (let step = 1; step <= 12; step++) {
    for (const mode of ['full', 'quick']) {
      if (mode === 'quick' && step >= 6 && step <= 11) continue;
      if (step !== 5 && step !== 10) {
        cases.push({ step, total_steps: 12, mode });
        continue;
      }
      for (let iteration = 1; iteration <= 5; iteration++) {
        for (let confidence = 1; confidence <= 5; confidence++) {
          cases.push({ step, total_steps: 12, mode, iteration, confidence });
        }
      }
    }
  }
  return cases.map((params) => JSON.stringify(Object.entries(params).sort()));
}

function withParams(params: object): DefinedWorkflow {
  return defineWorkflow({ type: 'w', params: params as never, steps: [{ id: 'only' }] });
}

function faultOf(act: () => unknown): PhasegateError {
  try {
    act();
  } catch (error) {
    if (error instanceof PhasegateError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
