import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { type Json, jsonBytes } from '../json.ts';
import { fitJson } from './fitJson.ts';

test('what fits stays as it is', () => {
  const whole = { a: 'x', list: [1, { b: null }] };

  expect(fitJson(whole, 1000)).toEqual({ value: whole, cut: [] });
});

test('small members stay whole, and what was cut is named [adv.O4]', () => {
  const whole = {
    status: 'active',
    content: 'x'.repeat(50_000),
    artifacts: { plan: { steps: Array.from({ length: 5000 }, (_, step) => step) }, title: 'A plan' },
  };

  const { value, cut } = fitJson(whole, 10_000);

  expect(value).toMatchObject({ status: 'active', artifacts: { title: 'A plan' } });
  expect(value.content).toMatch(/^x+… \[cut, 50000 characters in all\]$/);
  expect(cut).toEqual(['content', 'artifacts.plan.steps']);
  expect(jsonBytes(value, 100_000)).toBeLessThanOrEqual(10_000);
});

test('a member named by the empty text is cut like any other [adv.O4]', () => {
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`member ${index}`, index]));

  const { value, cut } = fitJson({ '': { '': wide } }, 2000);

  expect(jsonBytes(value, 100_000)).toBeLessThanOrEqual(2000);
  expect(cut).toContain('"".""');
});

test('any object fits, with every member of its own in its own type [adv.O4]', () => {
  const member = fc.oneof(
    fc.string({ maxLength: 3000 }),
    fc.array(fc.string({ maxLength: 200 }), { maxLength: 50 }),
    fc.dictionary(fc.string({ maxLength: 200 }), fc.jsonValue(), { maxKeys: 100 }),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 20 }), member, { maxKeys: 8 }), (whole) => {
      const { value } = fitJson(whole as Record<string, Json>, 2000);

      expect(jsonBytes(value, 1_000_000)).toBeLessThanOrEqual(2000);
      expect(Object.keys(value)).toEqual(Object.keys(whole));
      for (const [key, found] of Object.entries(value)) {
        expect([typeof found, Array.isArray(found)]).toEqual([typeof whole[key], Array.isArray(whole[key])]);
      }
    }),
    { numRuns: cases({ quick: 200, full: 5000 }) },
  );
});
