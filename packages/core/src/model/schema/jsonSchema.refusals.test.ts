import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../json.ts';
import { compileSchema } from './jsonSchema.ts';

describe('a schema that is not understood is refused, with the place', () => {
  test.each<[Json, readonly (string | number)[], string]>([
    [
      { type: 'int' },
      ['type'],
      'needs a type or a list of different types (string, number, integer, boolean, null, array, object) as `type`, got `int`',
    ],
    [{ type: [] }, ['type'], 'as `type`, got a list'],
    [{ type: ['string', 'string'] }, ['type'], 'as `type`, got a list'],
    [{ minimum: '3' }, ['minimum'], 'needs a number as `minimum`, got `3`'],
    [{ exclusiveMinimum: true }, ['exclusiveMinimum'], 'needs a number as `exclusiveMinimum`, got a boolean'],
    [{ multipleOf: 0 }, ['multipleOf'], 'needs a number above 0 as `multipleOf`, got `0`'],
    [{ minLength: -1 }, ['minLength'], 'needs a whole number of at least 0 as `minLength`, got `-1`'],
    [{ maxItems: 1.5 }, ['maxItems'], 'needs a whole number'],
    [{ uniqueItems: 1 }, ['uniqueItems'], 'needs true or false'],
    [{ required: 'a' }, ['required'], 'needs a list of different strings as `required`, got `a`'],
    [{ required: ['a', 'a'] }, ['required'], 'needs a list of different strings'],
    [{ enum: [] }, ['enum'], 'needs a list of at least one value'],
    [{ allOf: [] }, ['allOf'], 'needs a list of at least one schema'],
    [{ properties: [] }, ['properties'], 'needs an object of schemas'],
    [{ properties: { a: 1 } }, ['properties', 'a'], 'needs an object or a boolean as every schema'],
    [{ allOf: [true, 'x'] }, ['allOf', 1], 'needs an object or a boolean as every schema'],
    [{ dependentRequired: { a: 'b' } }, ['dependentRequired'], 'needs an object of lists of strings'],
    [{ items: [{}] }, ['items'], 'has a list as `items`; use `prefixItems`'],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', additionalItems: false },
      ['additionalItems'],
      'not supported; use `prefixItems`',
    ],
    [{ dependencies: {} }, ['dependencies'], 'not supported; use `dependentRequired` or `dependentSchemas`'],
    [{ $schema: 'https://example.com/dialect' }, ['$schema'], 'which is not understood'],
    [{ pattern: '(' }, ['pattern'], 'has `(`, which is not a regular expression'],
    [
      { patternProperties: { '[': true } },
      ['patternProperties', '['],
      'has `[`, which is not a regular expression',
    ],
    [{ propertes: {} }, ['propertes'], 'has an unknown keyword `propertes` (did you mean `properties`?)'],
    [
      { properties: { a: { requird: [] } } },
      ['properties', 'a', 'requird'],
      'has an unknown keyword `requird` (did you mean `required`?)',
    ],
    [JSON.parse('{"__proto__": {}}') as Json, ['__proto__'], 'has an unknown keyword `__proto__`'],
    [{ nonsense: 1 }, ['nonsense'], 'has an unknown keyword `nonsense`'],
    [{ $dynamicRef: '#a' }, ['$dynamicRef'], 'not supported'],
    [{ $dynamicAnchor: 'a' }, ['$dynamicAnchor'], 'not supported'],
    [{ $vocabulary: {} }, ['$vocabulary'], 'not supported'],
    [{ $ref: '#/$defs/x' }, ['$ref'], 'has the `$ref` `#/$defs/x`, where there is no schema'],
    [{ $ref: '#/const', const: {} }, ['$ref'], 'where there is no schema'],
    [{ $ref: '#x' }, ['$ref'], 'where there is no schema'],
    [{ $ref: '#/%' }, ['$ref'], 'which is not a reference'],
    [{ $ref: 'https://example.com/x.json' }, ['$ref'], 'which is outside this schema'],
    [{ $ref: 'other.json#/x' }, ['$ref'], 'which is outside this schema'],
    [{ $ref: '#' }, ['$ref'], 'leads back to itself without going into the value'],
    [
      { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
      ['$defs', 'b', 'not', '$ref'],
      'leads back to itself',
    ],
    [
      { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } },
      ['$defs', 'b', '$anchor'],
      'has the `$anchor` `x` twice',
    ],
    [{ $anchor: '1 2' }, ['$anchor'], 'needs a name'],
    [
      { properties: { a: { $id: 'https://example.com/a' } } },
      ['properties', 'a', '$id'],
      'only the outermost schema has one',
    ],
    [{ title: 1 }, ['title'], 'needs a string as `title`, got `1`'],
    [{ const: Number.NaN }, ['const'], 'contains a number that JSON does not have'],
    [{ default: undefined as unknown as Json }, ['default'], 'contains nothing that JSON has'],
    [{ description: 'x'.repeat(65 * 1024) }, [], 'is longer than 64 KB'],
  ])('%j', (schema, path, message) => {
    const compiled = compileSchema(schema as JsonObject);

    expect(compiled).toMatchObject({ ok: false, problems: [{ path }] });
    expect(compiled.ok ? '' : compiled.problems[0]?.message).toContain(message);
  });

  test('all defects are told at once', () => {
    const compiled = compileSchema({
      type: 'strin',
      minLength: 'x',
      foo: 1,
      properties: { a: { $ref: '#/nope' } },
    });

    expect(compiled.ok ? [] : compiled.problems.map(({ path }) => path.join('/'))).toEqual([
      'type',
      'minLength',
      'foo',
      'properties/a/$ref',
    ]);
  });

  test('depth is bounded, and parts that share parts are measured as they would be written', () => {
    const nest = (depth: number): JsonObject => (depth === 0 ? {} : { not: nest(depth - 1) });
    let shared: JsonObject = { type: 'string' };
    for (let n = 0; n < 40; n++) shared = { allOf: [shared, shared] };

    expect(compileSchema(nest(64)).ok).toBe(true);
    expect(compileSchema(nest(65))).toMatchObject({
      ok: false,
      problems: [{ message: 'is nested more than 64 deep' }],
    });
    expect(compileSchema(shared)).toMatchObject({ ok: false });
  });
});

describe('a value that is made to break the validator is refused', () => {
  test('nested without end', () => {
    const deep = JSON.parse(`${'{"next":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as Json;

    expect(problemsOf({ properties: { next: { $ref: '#' } } }, deep)).toEqual([
      { path: '', message: 'is nested too deeply to be checked' },
    ]);
    expect(problemsOf({ not: { properties: { next: { $ref: '#/not' } } } }, deep)).toEqual([
      { path: '', message: 'is nested too deeply to be checked' },
    ]);
    expect(problemsOf({ uniqueItems: true }, [deep, deep])).toEqual([
      { path: '', message: expect.stringContaining('could not be checked') },
    ]);
    expect(problemsOf({ enum: [{ next: 1 }] }, deep)).toHaveLength(1);
  });

  test('a schema whose choices multiply', () => {
    const $defs: Record<string, JsonObject> = { d40: { type: 'object' } };
    for (let n = 0; n < 40; n++)
      $defs[`d${n}`] = { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };

    expect(problemsOf({ $defs, $ref: '#/$defs/d0' }, {})).toEqual([
      { path: '', message: 'takes too many steps to check against its schema' },
    ]);
  });

  test('names of a prototype are keys like others', () => {
    const value = JSON.parse('{"__proto__": 1, "constructor": 2}') as Json;
    const schema = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}}, "additionalProperties": false}',
    ) as JsonObject;

    expect(problemsOf(schema, value)).toEqual([
      { path: '/__proto__', message: 'must be a string, got a number' },
      { path: '', message: 'has an unknown key `constructor`' },
    ]);
    expect(problemsOf({ required: ['constructor'] }, {})).toHaveLength(1);
    expect(problemsOf({ dependentRequired: { toString: ['x'] } }, {})).toEqual([]);
  });
});

function problemsOf(schema: JsonObject | boolean, value: Json) {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.validate(value);
}
