import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import type { Json, JsonObject } from '../../json.ts';
import { compileSchema } from './jsonSchema.ts';
import { sampleValue } from './sampleValue.ts';

describe('a value for a schema', () => {
  test.each<readonly [Json]>([
    [true],
    [{}],
    [{ type: 'integer', minimum: 3, multipleOf: 5 }],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
    [{ type: 'string', minLength: 30 }],
    [{ type: 'string', pattern: '^AC-[1-9][0-9]*$' }],
    [{ type: 'string', format: 'date-time' }],
    [{ type: ['null', 'string'] }],
    [{ enum: ['approved', 'rejected'] }],
    [{ const: { a: 1 } }],
    [{ type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true }],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'boolean' }], items: false, minItems: 2 }],
    [{ type: 'array', contains: { const: 7 }, minItems: 2 }],
    [{ type: 'object', required: ['a'], properties: { a: { type: 'object', required: ['b'] } } }],
    [{ type: 'object', minProperties: 3 }],
    [{ type: 'object', required: ['a'], additionalProperties: { type: 'integer' } }],
    [
      {
        $ref: '#/$defs/node',
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      },
    ],
    [{ allOf: [{ required: ['a'] }, { properties: { a: { type: 'integer' } } }], type: 'object' }],
    [{ oneOf: [{ type: 'string', maxLength: 0 }, { type: 'integer' }] }],
    [{ anyOf: [{ type: 'array', minItems: 2 }], type: 'array', maxItems: 2 }],
    [
      {
        required: ['decision'],
        properties: { decision: { enum: ['yes', 'no'] } },
        if: { properties: { decision: { const: 'yes' } } },
        then: false,
      },
    ],
  ])('is allowed by %j', (schema) => {
    const value = sampleValue(schema);

    expect(problemsOf(schema, value)).toEqual([]);
  });

  test.each<readonly [Json]>([
    [false],
    [{ type: 'integer', minimum: 2, maximum: 1 }],
    [{ not: {} }],
    [{ type: 'object', required: ['a'], properties: { a: false } }],
    ['text'],
  ])('there is none for %j', (schema) => {
    expect(sampleValue(schema)).toBeUndefined();
  });

  test('is found or not in bounded time, whatever the schema, and never one that is not allowed', () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const value = sampleValue(schema);

        if (value !== undefined) expect(problemsOf(schema, value)).toEqual([]);
      }),
      { numRuns: cases({ quick: 60, full: 1500 }) },
    );
  });

  test('schemas that name themselves in many places end', () => {
    const node = {
      type: 'object',
      required: ['a', 'b', 'c'],
      properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } },
    };

    expect(sampleValue(node)).toBeUndefined();
  });
});

function problemsOf(schema: Json, value: Json | undefined): readonly unknown[] {
  const compiled = compileSchema(schema as JsonObject);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  if (value === undefined) return ['no value was found'];
  return compiled.validate(value);
}

const scalars: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: -9, max: 9 }) }),
  fc.record({
    type: fc.constant('string'),
    minLength: fc.nat(9),
    maxLength: fc.integer({ min: 3, max: 12 }),
  }),
  fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 }) }),
  fc.constant(true),
);

const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    scalars.map((one) => ({ allOf: [one] })),
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      minItems: fc.nat(3),
      uniqueItems: fc.boolean(),
    }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('object'),
      required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
    }),
  ),
})).schema;
