import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../json.ts';
import { compileSchema } from './jsonSchema.ts';

// A name for the keyword, since an object with a member `then` would be taken for a promise.
const THEN = 'then';

describe('a keyword holds or says what is wrong', () => {
  test.each<[string, JsonObject, readonly Json[], readonly [Json, string, string][]]>([
    [
      'type',
      { type: 'integer' },
      [1, 1.0, -3],
      [
        [true, '', 'must be an integer, got a boolean'],
        [1.5, '', 'must be an integer, got a number'],
        ['1', '', 'must be an integer, got a string'],
      ],
    ],
    [
      'type',
      { type: 'number' },
      [1.5],
      [
        [false, '', 'must be a number, got a boolean'],
        [Number.NaN, '', 'must be a number, got a number that JSON does not have'],
      ],
    ],
    [
      'type',
      { type: ['string', 'null'] },
      ['', null],
      [
        [[], '', 'must be a string or null, got a list'],
        [{}, '', 'must be a string or null, got an object'],
      ],
    ],
    [
      'type',
      { type: ['array', 'boolean', 'object'] },
      [[], {}, true],
      [[null, '', 'must be a list, a boolean or an object, got null']],
    ],
    [
      'enum',
      { enum: ['low', 'high', 1, null, { a: [1] }] },
      ['low', 1, null, { a: [1] }],
      [
        ['x', '', 'must be one of `low`, `high`, `1`, `null`, `{"a":[…]}`, got `x`'],
        ['1', '', 'must be one of `low`, `high`, `1`, `null`, `{"a":[…]}`, got `"1"`'],
      ],
    ],
    [
      'const',
      { const: { a: 1, b: 2 } },
      [{ b: 2, a: 1 }],
      [[{ a: 1 }, '', 'must be `{"a":1,"b":2}`, got `{"a":1}`']],
    ],
    ['const', { const: false }, [false], [[0, '', 'must be `false`, got `0`']]],
    [
      'multipleOf',
      { multipleOf: 0.1 },
      [0.3, 1.1, -0.7, 1e300, 'x'],
      [[0.35, '', 'must be a multiple of 0.1, got 0.35']],
    ],
    [
      'multipleOf',
      { multipleOf: 1e-7 },
      [0.0075, 1],
      [[0.00000075, '', 'must be a multiple of 1e-7, got 7.5e-7']],
    ],
    [
      'multipleOf',
      { multipleOf: 3 },
      [0, 9, 9007199254740990],
      [[10, '', 'must be a multiple of 3, got 10']],
    ],
    ['minimum', { minimum: 2 }, [2, 'x'], [[1, '', 'must be at least 2, got 1']]],
    ['maximum', { maximum: 2 }, [2], [[3, '', 'must be at most 2, got 3']]],
    ['exclusiveMinimum', { exclusiveMinimum: 2 }, [2.1], [[2, '', 'must be above 2, got 2']]],
    ['exclusiveMaximum', { exclusiveMaximum: 2 }, [1.9], [[2, '', 'must be below 2, got 2']]],
    [
      'minLength',
      { minLength: 2 },
      ['ab', '😀😀', 1],
      [['😀', '', 'must have at least 2 characters, has 1']],
    ],
    ['maxLength', { maxLength: 1 }, ['😀', ''], [['ab', '', 'must have at most 1 character, has 2']]],
    ['pattern', { pattern: 'b\\p{L}' }, ['abc', 'bé'], [['ab', '', 'must match `b\\p{L}`, got `ab`']]],
    [
      'prefixItems',
      { prefixItems: [{ type: 'integer' }, { type: 'string' }] },
      [[1, 'a', {}], [1], []],
      [[['a', 1], '/0', 'must be an integer, got a string']],
    ],
    [
      'items',
      { items: { type: 'integer' } },
      [[], [1, 2]],
      [[[1, true], '/1', 'must be an integer, got a boolean']],
    ],
    [
      'items after prefixItems',
      { prefixItems: [true], items: false },
      [['x']],
      [[['x', 'y'], '/1', 'is not allowed']],
    ],
    [
      'contains',
      { contains: { type: 'integer' } },
      [['a', 1]],
      [
        [['a'], '', 'must have at least 1 item of the kind asked for, has 0'],
        [[], '', 'must have at least 1 item of the kind asked for, has 0'],
      ],
    ],
    ['minContains', { contains: { type: 'integer' }, minContains: 0 }, [[], ['a']], []],
    [
      'minContains',
      { contains: { type: 'integer' }, minContains: 2 },
      [[1, 2]],
      [[[1, 'a'], '', 'must have at least 2 items of the kind asked for, has 1']],
    ],
    [
      'maxContains',
      { contains: { type: 'integer' }, maxContains: 1 },
      [[1, 'a']],
      [[[1, 2], '', 'must have at most 1 item of the kind asked for, has 2']],
    ],
    ['minItems', { minItems: 1 }, [[1]], [[[], '', 'must have at least 1 item, has 0']]],
    ['maxItems', { maxItems: 1 }, [[1]], [[[1, 2], '', 'must have at most 1 item, has 2']]],
    [
      'uniqueItems',
      { uniqueItems: true },
      [[1, '1', true, null, [1], { a: 1 }, '[1]']],
      [[[{ a: 1, b: 2 }, 3, { b: 2, a: 1 }], '', 'must have no two equal items, but 0 and 2 are']],
    ],
    ['uniqueItems', { uniqueItems: false }, [[1, 1]], []],
    [
      'properties',
      { properties: { a: { type: 'string' }, 'x/y~z': { type: 'null' } } },
      [{}, { a: '', z: 1 }],
      [
        [{ a: 1 }, '/a', 'must be a string, got a number'],
        [{ 'x/y~z': 1 }, '/x~1y~0z', 'must be null, got a number'],
      ],
    ],
    [
      'patternProperties',
      { patternProperties: { '^n': { type: 'integer' } } },
      [{ n1: 1, x: 'a' }],
      [[{ n1: 'a' }, '/n1', 'must be an integer, got a string']],
    ],
    [
      'additionalProperties',
      { properties: { steps: true }, patternProperties: { '^x': true }, additionalProperties: false },
      [{ steps: 1, xy: 2 }],
      [
        [{ stepz: 1 }, '', 'has an unknown key `stepz` (did you mean `steps`?)'],
        [{ qqq: 1 }, '', 'has an unknown key `qqq`'],
      ],
    ],
    [
      'additionalProperties',
      { additionalProperties: { type: 'integer' } },
      [{ a: 1 }],
      [[{ a: 'x' }, '/a', 'must be an integer, got a string']],
    ],
    [
      'propertyNames',
      { propertyNames: { maxLength: 2 } },
      [{ ab: 1 }],
      [[{ abc: 1 }, '', 'has the key `abc`, which must have at most 2 characters, has 3']],
    ],
    [
      'required',
      { required: ['steps', 'toString'] },
      [{ steps: null, toString: 1 }, 'x'],
      [
        [{ toString: 1 }, '', 'is missing `steps`'],
        [{ steps: 1 }, '', 'is missing `toString`'],
      ],
    ],
    [
      'dependentRequired',
      { dependentRequired: { a: ['b'] } },
      [{}, { b: 1 }, { a: 1, b: 1 }],
      [[{ a: 1 }, '', 'is missing `b`, which `a` needs']],
    ],
    [
      'dependentSchemas',
      { dependentSchemas: { a: { required: ['b'] } } },
      [{}, { a: 1, b: 1 }],
      [[{ a: 1 }, '', 'is missing `b`']],
    ],
    ['minProperties', { minProperties: 1 }, [{ a: 1 }], [[{}, '', 'must have at least 1 key, has 0']]],
    [
      'maxProperties',
      { maxProperties: 1 },
      [{ a: 1 }],
      [[{ a: 1, b: 1 }, '', 'must have at most 1 key, has 2']],
    ],
    ['allOf', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [[3, '', 'must be at most 2, got 3']]],
    [
      'anyOf',
      { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] },
      ['', { a: 1 }],
      [[1, '', 'has none of the 2 allowed forms; the nearest: must be a string, got a number']],
    ],
    [
      'oneOf',
      { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
      [2, 3],
      [
        [6, '', 'must have exactly one of 2 forms, has 1 and 2'],
        [5, '', 'has none of the 2 allowed forms; the nearest: must be a multiple of 2, got 5'],
      ],
    ],
    [
      'not',
      { not: { type: 'null' } },
      [1],
      [[null, '', 'must not have the form that is ruled out, got `null`']],
    ],
    [
      'if',
      { if: { type: 'string' }, [THEN]: { minLength: 2 }, else: { type: 'null' } },
      ['ab', null],
      [
        ['a', '', 'must have at least 2 characters, has 1'],
        [1, '', 'must be null, got a number'],
      ],
    ],
    ['if alone', { if: { type: 'string' } }, ['a', 1], []],
    [
      '$ref',
      { $defs: { id: { type: 'integer' } }, items: { $ref: '#/$defs/id' } },
      [[1]],
      [[['a'], '/0', 'must be an integer, got a string']],
    ],
    [
      '$ref beside others',
      { $defs: { id: { type: 'integer' } }, $ref: '#/$defs/id', minimum: 1 },
      [1],
      [
        [0, '', 'must be at least 1, got 0'],
        ['x', '', 'must be an integer, got a string'],
      ],
    ],
    [
      'definitions',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { 'a b/c': { type: 'null' } },
        items: { $ref: '#/definitions/a%20b~1c' },
      },
      [[null]],
      [[[1], '/0', 'must be null, got a number']],
    ],
    [
      '$anchor',
      { $defs: { x: { $anchor: 'id', type: 'null' } }, items: { $ref: '#id' } },
      [[null]],
      [[[1], '/0', 'must be null, got a number']],
    ],
    [
      '$id',
      {
        $id: 'https://example.com/s',
        $defs: { x: { type: 'null' } },
        items: { $ref: 'https://example.com/s#/$defs/x' },
      },
      [[null]],
      [[[1], '/0', 'must be null, got a number']],
    ],
    [
      '$ref to itself',
      { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false },
      [{ next: { next: {} } }],
      [[{ next: { next: 1 } }, '/next/next', 'must be an object, got a number']],
    ],
    [
      'unevaluatedProperties',
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      [{ a: 1 }],
      [[{ a: 1, b: 1 }, '', 'has an unknown key `b`']],
    ],
    [
      'unevaluatedItems',
      {
        anyOf: [{ prefixItems: [{ type: 'integer' }] }, { prefixItems: [true, { type: 'string' }] }],
        unevaluatedItems: false,
      },
      [[1], ['x', 'y']],
      [
        [[1, 2, 3], '/1', 'is not allowed'],
        [[1, 2, 3], '/2', 'is not allowed'],
      ],
    ],
    [
      'title and other notes',
      {
        title: 't',
        description: 'd',
        default: 1,
        examples: [1],
        $comment: 'c',
        deprecated: true,
        readOnly: false,
        writeOnly: false,
        format: 'of my own',
        'x-note': { any: 'thing' },
      },
      [1, 'x'],
      [],
    ],
  ])('%s: %j', (_, schema, valid, invalid) => {
    expect(valid.flatMap((value) => problemsOf(schema, value))).toEqual([]);
    for (const [value, path, message] of invalid) {
      expect(problemsOf(schema, value)).toContainEqual({ path, message });
    }
  });

  test('true allows everything and false nothing', () => {
    expect(problemsOf(true, { a: 1 })).toEqual([]);
    expect(problemsOf(false, 1)).toEqual([{ path: '', message: 'is not allowed' }]);
  });

  test('a boolean is not an integer and no number, also inside [fail.8]', () => {
    const schema = { properties: { count: { type: 'integer' }, sum: { type: 'number', minimum: 0 } } };

    expect(problemsOf(schema, { count: true, sum: true }).map(({ path }) => path)).toEqual([
      '/count',
      '/sum',
    ]);
  });
});

describe('a value with many problems', () => {
  test('all of them are told at once', () => {
    const schema = {
      type: 'object',
      required: ['a', 'b'],
      properties: {
        c: { type: 'integer', minimum: 3 },
        d: { items: { type: 'string', minLength: 2, pattern: '^x' } },
      },
      additionalProperties: false,
    };

    expect(
      problemsOf(schema, { c: 1, d: ['', 5, 'xx'], e: 1 }).map(({ path, message }) => `${path} ${message}`),
    ).toEqual([
      ' is missing `a`',
      ' is missing `b`',
      '/c must be at least 3, got 1',
      '/d/0 must have at least 2 characters, has 0',
      '/d/0 must match `^x`, got ``',
      '/d/1 must be a string, got a number',
      ' has an unknown key `e`',
    ]);
  });

  test('fifty are enough', () => {
    expect(
      problemsOf(
        { items: { type: 'string' } },
        Array.from({ length: 1000 }, () => 1),
      ),
    ).toHaveLength(50);
  });

  test('a message shows no control characters and no endless text', () => {
    const [problem] = problemsOf({ additionalProperties: false }, { [`\u001b[2J${'a'.repeat(1000)}`]: 1 });

    expect(problem?.message).toMatch(/^has an unknown key `\\u\{1b\}\[2Ja{76}…`$/);
  });
});

function problemsOf(schema: JsonObject | boolean, value: Json) {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.validate(value);
}
