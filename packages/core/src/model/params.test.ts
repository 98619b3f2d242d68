import { expect, test } from 'vitest';
import { defineWorkflow } from './defineWorkflow.ts';
import { readParams } from './params.ts';

test.each(['__proto__', 'constructor'])('a param called `%s` is one like any other', (name) => {
  const defined = defineWorkflow(
    {
      id: 'w',
      phases: [{ id: 'A' }],
      params: Object.fromEntries([[name, { type: 'object', required: true }]]),
    },
    { checks: {} },
  );
  if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
  const { params } = defined.workflow;

  expect(Object.keys(params)).toEqual([name]);
  expect(readParams(params, {})).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('is required')],
  });
  const read = readParams(params, Object.fromEntries([[name, { a: 1 }]]));
  expect(read.ok && Object.entries(read.values)).toEqual([[name, { a: 1 }]]);
});

test('of any number of unknown names a few are told: refused starts are kept', () => {
  const given = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`${index}`.repeat(99), 1]));

  const read = readParams({}, given);

  expect(read).toMatchObject({ ok: false });
  expect(JSON.stringify(read).length).toBeLessThan(6000);
  expect(JSON.stringify(read)).toContain('4980 more names are not params either');
});
