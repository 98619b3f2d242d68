import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import type { Json, JsonObject } from '../../json.ts';
import { compileSchema } from './jsonSchema.ts';

const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });

// `contains` and what is unevaluated are compared with a model of our own, in the other test: the other validator
// keeps an old answer for an empty list, and loses track of keys and items behind a `$ref`.
test('every answer is the one another validator gives', () => {
  fc.assert(fc.property(anySchema(), values(), agree), { numRuns: cases({ quick: 200, full: 5000 }) });
});

// Written as a variable, since an object with a method `then` would be taken for a promise.
const THEN = 'then';
const KEYS = ['a', 'b', 'ab', 'c'];
const key = fc.constantFrom(...KEYS);
const count = fc.integer({ min: 0, max: 3 });
const scalar = fc.constantFrom<Json>(null, true, false, 0, 1, 2, -1, 1.5, 3, '', 'a', 'ab', 'b', '\u{1F600}');

function agree(schema: JsonObject, candidates: readonly Json[]): void {
  const ours = compileSchema(schema);
  // A `$ref` that goes round in circles is a defect here and an endless loop there.
  fc.pre(ours.ok);
  const theirs = ajv.compile(schema);
  for (const value of candidates) {
    const valid = answerOf(() => theirs(value));
    if (valid !== null) expect({ value, valid: ours.validate(value).length === 0 }).toEqual({ value, valid });
  }
}

/** The other validator's answer, or null where the code it generated does not run, as for some nested `oneOf`. */
function answerOf(ask: () => boolean): boolean | null {
  try {
    return ask();
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) return null;
    throw error;
  }
}

function values(): fc.Arbitrary<readonly Json[]> {
  return fc.array(anyValue(), { minLength: 12, maxLength: 12 });
}

function anyValue(): fc.Arbitrary<Json> {
  return fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
}

function anySchema(): fc.Arbitrary<JsonObject> {
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
  const pattern = fc.constantFrom('^a', 'b$', '.', '^.$');
  const { schema, root } = fc.letrec<{ schema: Json; root: JsonObject }>((tie) => {
    const inner = tie('schema');
    const schemas = fc.array(inner, { minLength: 1, maxLength: 3 });
    const keywords: Readonly<Record<string, fc.Arbitrary<Json>>> = {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(fc.oneof(scalar, fc.constant<Json>({ a: 1 }), fc.constant<Json>([1, 'a'])), {
        minLength: 1,
        maxLength: 4,
        selector: (value) => JSON.stringify(value),
      }),
      const: scalar,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minimum: count,
      maximum: count,
      exclusiveMinimum: count,
      exclusiveMaximum: count,
      minLength: count,
      maxLength: count,
      pattern,
      prefixItems: schemas,
      items: inner,
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      properties: fc.dictionary(key, inner, { maxKeys: 3, noNullPrototype: true }),
      patternProperties: fc.dictionary(pattern, inner, { maxKeys: 2, noNullPrototype: true }),
      additionalProperties: inner,
      propertyNames: inner,
      required: fc.uniqueArray(key, { maxLength: 2 }),
      dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      dependentSchemas: fc.dictionary(key, inner, { maxKeys: 2, noNullPrototype: true }),
      minProperties: count,
      maxProperties: count,
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      not: inner,
      if: inner,
      [THEN]: inner,
      else: inner,
      $ref: fc.constantFrom('#', '#/$defs/one', '#/$defs/two', '#named'),
    };
    const entry = fc.oneof(
      ...Object.entries(keywords).map(([name, value]) => fc.tuple(fc.constant(name), value)),
    );
    // A few keywords at a time: with all of them nothing would be valid.
    const few = (minLength: number): fc.Arbitrary<JsonObject> =>
      fc.uniqueArray(entry, { minLength, maxLength: 4, selector: ([name]) => name }).map(Object.fromEntries);
    return {
      schema: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.boolean(),
        fc.record({ type }),
        few(0),
        few(2),
      ),
      root: few(2),
    };
  });
  return fc.tuple(root, schema, schema, root).map(([outer, one, two, three]) => {
    return { ...outer, $defs: { one, two, three: { ...three, $anchor: 'named' } } };
  });
}
