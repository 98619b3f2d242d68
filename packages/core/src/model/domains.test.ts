import { describe, expect, test } from 'vitest';
import { BoundedInt, ChoiceSet, Constant, domainOf } from './domains.ts';

describe('a domain lists its values', () => {
  test('a bounded integer goes from one bound to the other, both included [S4.79]', () => {
    expect([...new BoundedInt(1, 5)]).toEqual([1, 2, 3, 4, 5]);
    expect([...new BoundedInt(-1, -1)]).toEqual([-1]);
  });

  test('choices come in the order given [S4.80]', () => {
    expect([...new ChoiceSet(['full', 'quick'])]).toEqual(['full', 'quick']);
  });

  test('a constant comes once [S4.81]', () => {
    expect([...new Constant(42)]).toEqual([42]);
  });

  test('domains can be gone through again, nest, are frozen and have a stable key [S4.82]', () => {
    const [numbers, words, one] = [
      new BoundedInt(1, 2),
      new ChoiceSet(['a', { b: 1, a: 2 }]),
      new Constant({ x: [1] }),
    ];

    const product = [...numbers].flatMap((n) => [...words].flatMap((w) => [...one].map((c) => [n, w, c])));

    expect(product).toHaveLength(4);
    expect([...numbers]).toEqual([...numbers]);
    expect(
      [numbers, words, words.choices, words.choices[1], one, one.value, one.value.x].every(Object.isFrozen),
    ).toBe(true);
    expect(words.key).toBe(new ChoiceSet(['a', { a: 2, b: 1 }]).key);
    expect(
      new Set([numbers.key, words.key, one.key, new Constant([1, 2]).key, new ChoiceSet([1, 2]).key]).size,
    ).toBe(5);
  });

  test('a domain keeps its values when those it was made of change', () => {
    const choice = { a: [1] };
    const domain = new ChoiceSet([choice]);

    choice.a.push(2);

    expect([...domain]).toEqual([{ a: [1] }]);
  });
});

describe('a domain without sense is refused', () => {
  test.each([
    ['bounds the wrong way round', () => new BoundedInt(2, 1)],
    ['a bound that is not an integer', () => new BoundedInt(1, 2.5)],
    ['a bound that is not a number', () => new BoundedInt(Number.NaN, 1)],
    ['a bound without end', () => new BoundedInt(1, Number.POSITIVE_INFINITY)],
    ['no choices', () => new ChoiceSet([])],
  ])('%s', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'workflow_invalid' }));
  });
});

test('a param domain becomes its values, and a range has none', () => {
  expect([...(domainOf({ kind: 'bounded_int', lo: 0, hi: 2 }) ?? [])]).toEqual([0, 1, 2]);
  expect([...(domainOf({ kind: 'choice_set', choices: ['a', 1] }) ?? [])]).toEqual(['a', 1]);
  expect([...(domainOf({ kind: 'constant', value: null }) ?? [])]).toEqual([null]);
  expect(domainOf({ kind: 'range', min: 0, max: null })).toBeNull();
});
