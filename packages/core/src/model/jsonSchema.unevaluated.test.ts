import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { compileSchema } from './jsonSchema.ts';

test('what was looked at is followed through every way of combining schemas', () => {
  fc.assert(
    fc.property(closedSchema(), fc.array(anyValue(), { minLength: 12, maxLength: 12 }), (schema, values) => {
      const compiled = compileSchema(schema);
      fc.pre(compiled.ok);
      for (const value of values) {
        const valid = judge(schema, value, schema) !== null;

        expect({ value, valid: compiled.validate(value).length === 0 }).toEqual({ value, valid });
      }
    }),
    { numRuns: 3000 },
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

type Evaluated = ReadonlySet<string>;

/** The specification read word by word: null for an invalid value, else the keys and indexes that were evaluated. */
function judge(schema: Json, value: Json, root: JsonObject): Evaluated | null {
  if (schema === true) return new Set();
  if (!isJsonObject(schema)) return null;
  const seen = new Set<string>();
  const add = (found: Evaluated | null) => {
    for (const name of found ?? []) seen.add(name);
    return found !== null;
  };
  const list = (name: string) => (schema[name] ?? []) as readonly Json[];
  const map = (name: string) => Object.entries((schema[name] ?? {}) as JsonObject);
  const members = typeof value === 'object' && value !== null ? Object.entries(value as JsonObject) : [];
  const member = (name: string, inner: Json) => {
    const found = members.find(([key]) => key === name);
    if (found === undefined) return true;
    seen.add(name);
    return judge(inner, found[1], root) !== null;
  };
  const rest = (inner: Json | undefined, from: Evaluated) =>
    inner === undefined || members.filter(([key]) => !from.has(key)).every(([key]) => member(key, inner));

  if (schema.type === 'integer' && !Number.isInteger(value)) return null;
  if (schema.type === 'string' && typeof value !== 'string') return null;
  if (schema.$ref !== undefined && !add(judge((root.$defs as JsonObject).one as Json, value, root)))
    return null;
  if (!list('allOf').every((inner) => add(judge(inner, value, root)))) return null;
  if (
    schema.anyOf !== undefined &&
    list('anyOf').filter((inner) => add(judge(inner, value, root))).length === 0
  )
    return null;
  if (
    schema.oneOf !== undefined &&
    list('oneOf').filter((inner) => add(judge(inner, value, root))).length !== 1
  )
    return null;
  if (schema.not !== undefined && judge(schema.not, value, root) !== null) return null;
  if (schema.if !== undefined) {
    const branch = add(judge(schema.if, value, root)) ? schema[THEN] : schema.else;
    if (branch !== undefined && !add(judge(branch, value, root))) return null;
  }
  if (Array.isArray(value)) {
    const prefix = new Set(list('prefixItems').map((_, index) => String(index)));
    if (!list('prefixItems').every((inner, index) => member(String(index), inner))) return null;
    if (!rest(schema.items, prefix)) return null;
    if (schema.contains !== undefined) {
      const holding = members.filter(([, item]) => judge(schema.contains as Json, item, root) !== null);
      const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
      if (holding.length < Number(minContains) || holding.length > Number(maxContains)) return null;
      add(new Set(holding.map(([index]) => index)));
    }
    return rest(schema.unevaluatedItems, new Set(seen)) ? seen : null;
  }
  if (!isJsonObject(value)) return seen;
  if (!list('required').every((name) => Object.hasOwn(value, String(name)))) return null;
  for (const [name, inner] of map('dependentSchemas')) {
    if (Object.hasOwn(value, name) && !add(judge(inner, value, root))) return null;
  }
  const named = new Set(map('properties').map(([name]) => name));
  if (!map('properties').every(([name, inner]) => member(name, inner))) return null;
  for (const [pattern, inner] of map('patternProperties')) {
    for (const [name] of members.filter(([name]) => new RegExp(pattern).test(name))) {
      named.add(name);
      if (!member(name, inner)) return null;
    }
  }
  if (!rest(schema.additionalProperties, named)) return null;
  return rest(schema.unevaluatedProperties, new Set(seen)) ? seen : null;
}
