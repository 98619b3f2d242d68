import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { compileSchema } from './jsonSchema.ts';

test('what was looked at is followed through every way of combining schemas', () => {
  fc.assert(
    fc.property(closedSchema(), fc.array(anyValue(), { minLength: 12, maxLength: 12 }), (schema, values) => {
      const compiled = compileSchema(schema);
      fc.pre(compiled.ok);
      for (const value of values) {
        const valid = new Reading(schema, value, schema).valid;

        expect({ value, valid: compiled.validate(value).length === 0 }).toEqual({ value, valid });
      }
    }),
    { numRuns: cases({ quick: 600, full: 15_000 }) },
  );
});

const key = fc.constantFrom('a', 'b', 'ab');

function anyValue(): fc.Arbitrary<Json> {
  const scalar = fc.constantFrom<Json>(1, 2, 'a', 'b', null);
  return fc.oneof(
    fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 4 }),
    fc.dictionary(key, scalar, { maxKeys: 3, noNullPrototype: true }),
  );
}

function closedSchema(): fc.Arbitrary<JsonObject> {
  const count = fc.nat(2);
  const leaf = fc.oneof(
    key.map((name): JsonObject => ({ properties: { [name]: true } })),
    key.map((name): JsonObject => ({ required: [name], properties: { [name]: { type: 'integer' } } })),
    fc.record(
      { contains: fc.constant({ type: 'string' }), minContains: count, maxContains: count },
      { requiredKeys: ['contains'], noNullPrototype: true },
    ),
    fc.constantFrom<JsonObject>(
      { patternProperties: { '^a': true } },
      { prefixItems: [true] },
      { prefixItems: [{ type: 'integer' }, true] },
      { items: { type: 'integer' } },
      { items: { contains: { type: 'string' } } },
      { additionalProperties: { type: 'integer' } },
      { unevaluatedProperties: { type: 'string' } },
      { unevaluatedItems: { type: 'string' } },
      { not: { required: ['a'] } },
      { $ref: '#/$defs/one' },
    ),
  );
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      leaf,
      fc
        .tuple(
          fc.constantFrom('allOf', 'anyOf', 'oneOf'),
          fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
        )
        .map(([name, schemas]) => ({ [name]: schemas })),
      fc
        .tuple(tie('schema'), tie('schema'), tie('schema'))
        .map(([a, b, c]) => ({ if: a, [THEN]: b, else: c })),
      fc.tuple(key, tie('schema')).map(([name, inner]) => ({ dependentSchemas: { [name]: inner } })),
      fc.tuple(leaf, tie('schema')).map(([a, b]) => ({ ...a, ...b })),
    ),
  }));
  return fc.tuple(schema, schema, fc.boolean()).map(([outer, one, open]) => ({
    ...outer,
    ...(open ? {} : { unevaluatedProperties: false, unevaluatedItems: false }),
    $defs: { one },
  }));
}

// Written as a variable, since an object with a member `then` would be taken for a promise.
const THEN = 'then';

/** The specification read word by word: whether a value is valid, and which keys and indexes were evaluated. */
class Reading {
  readonly valid: boolean;
  readonly seen = new Set<string>();
  readonly #schema: JsonObject;
  readonly #value: Json;
  readonly #root: JsonObject;
  readonly #members: readonly (readonly [string, Json])[];

  constructor(schema: Json, value: Json, root: JsonObject) {
    this.#schema = isJsonObject(schema) ? schema : {};
    this.#value = value;
    this.#root = root;
    this.#members = typeof value === 'object' && value !== null ? Object.entries(value as JsonObject) : [];
    this.valid = schema !== false && this.#typed() && this.#combined() && this.#list() && this.#object();
  }

  #typed(): boolean {
    const { type } = this.#schema;
    return (
      type === undefined || (type === 'integer' ? Number.isInteger(this.#value) : typeof this.#value === type)
    );
  }

  #combined(): boolean {
    const { $ref, anyOf, oneOf, not, if: condition } = this.#schema;
    if ($ref !== undefined && !this.#holds((this.#root.$defs as JsonObject).one as Json)) return false;
    if (this.#count('allOf') !== this.#inner('allOf').length) return false;
    if (anyOf !== undefined && this.#count('anyOf') === 0) return false;
    if (oneOf !== undefined && this.#count('oneOf') !== 1) return false;
    if (not !== undefined && new Reading(not, this.#value, this.#root).valid) return false;
    if (condition === undefined) return true;
    return this.#holds((this.#holds(condition) ? this.#schema[THEN] : this.#schema.else) ?? true);
  }

  #list(): boolean {
    if (!Array.isArray(this.#value)) return true;
    const { items, contains, minContains, maxContains, unevaluatedItems } = this.#schema;
    const prefix = this.#inner('prefixItems');
    if (!prefix.every(([index, schema]) => this.#member(index, schema))) return false;
    if (!this.#rest(items, new Set(prefix.map(([index]) => index)))) return false;
    if (contains !== undefined) {
      const holding = this.#members.filter(([, item]) => new Reading(contains, item, this.#root).valid);
      const most = Number(maxContains ?? Number.POSITIVE_INFINITY);
      if (holding.length < Number(minContains ?? 1) || holding.length > most) return false;
      for (const [index] of holding) this.seen.add(index);
    }
    return this.#rest(unevaluatedItems, new Set(this.seen));
  }

  #object(): boolean {
    const value = this.#value;
    if (!isJsonObject(value)) return true;
    const { additionalProperties, unevaluatedProperties } = this.#schema;
    const present = ([name]: readonly [string, Json]) => Object.hasOwn(value, name);
    if (!this.#inner('required').every(([, name]) => Object.hasOwn(value, String(name)))) return false;
    if (
      !this.#inner('dependentSchemas')
        .filter(present)
        .every(([, schema]) => this.#holds(schema))
    )
      return false;
    const matched = this.#inner('patternProperties').flatMap(([pattern, schema]) =>
      this.#members
        .filter(([name]) => new RegExp(pattern).test(name))
        .map(([name]) => [name, schema] as const),
    );
    const known = [...this.#inner('properties'), ...matched];
    if (!known.every(([name, schema]) => this.#member(name, schema))) return false;
    if (!this.#rest(additionalProperties, new Set(known.map(([name]) => name)))) return false;
    return this.#rest(unevaluatedProperties, new Set(this.seen));
  }

  #inner(keyword: string): readonly (readonly [string, Json])[] {
    return Object.entries((this.#schema[keyword] ?? {}) as JsonObject);
  }

  /** Judges the same value; what a schema has seen counts only when the value is valid to it. */
  #holds(schema: Json): boolean {
    const reading = new Reading(schema, this.#value, this.#root);
    for (const name of reading.valid ? reading.seen : []) this.seen.add(name);
    return reading.valid;
  }

  #count(keyword: string): number {
    return this.#inner(keyword).filter(([, schema]) => this.#holds(schema)).length;
  }

  #member(name: string, schema: Json): boolean {
    const found = this.#members.find(([key]) => key === name);
    if (found === undefined) return true;
    this.seen.add(name);
    return new Reading(schema, found[1], this.#root).valid;
  }

  #rest(schema: Json | undefined, known: ReadonlySet<string>): boolean {
    if (schema === undefined) return true;
    return this.#members.filter(([name]) => !known.has(name)).every(([name]) => this.#member(name, schema));
  }
}
