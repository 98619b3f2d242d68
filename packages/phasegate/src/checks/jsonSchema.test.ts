import { expect, test } from 'vitest';
import { checkInput } from './fixtures/checkInput.ts';
import { jsonSchema } from './jsonSchema.ts';

const schema = {
  type: 'object',
  required: ['title', 'steps'],
  properties: {
    title: { type: 'string' },
    steps: { type: 'array', minItems: 1, items: { type: 'integer' } },
  },
};

test('a value that fits passes, at a path or the whole result', async () => {
  const scope = { result: { plan: { title: 'T', steps: [1] } } };

  expect(await jsonSchema.run(checkInput({ schema, path: 'result.plan' }, { scope }))).toMatchObject({
    passed: true,
  });
  expect(await jsonSchema.run(checkInput({ schema: true }, { scope }))).toMatchObject({ passed: true });
});

test('a value that does not fit fails with every problem at once', async () => {
  const scope = { result: { plan: { title: 7, steps: [1, 'two', true] } } };

  const answer = await jsonSchema.run(checkInput({ schema, path: 'result.plan' }, { scope }));

  expect(answer.passed).toBe(false);
  expect(answer.reason).toContain('`result.plan.title`');
  expect(answer.reason).toContain('`result.plan.steps.1`');
  expect(answer.reason).toContain('`result.plan.steps.2`');
});

test('a missing value fails, also against a schema that fits everything [C19]', async () => {
  const answer = await jsonSchema.run(
    checkInput({ schema: true, path: 'result.plan' }, { scope: { result: {} } }),
  );

  expect(answer).toEqual({ passed: false, reason: '`result.plan` is missing' });
});

test('a schema that cannot be used throws [C19]', async () => {
  const scope = { result: {} };

  await expect(jsonSchema.run(checkInput({ schema: { type: 'nonsense' } }, { scope }))).rejects.toThrow(
    'the schema',
  );
  await expect(jsonSchema.run(checkInput({}, { scope }))).rejects.toThrow('no `schema`');
});
