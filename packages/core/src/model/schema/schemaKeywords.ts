import { isJsonObject, type Json } from '../../json.ts';
import { compilePattern } from '../pattern/linearPattern.ts';
import { kindOf, quoted } from '../wording.ts';

/** What the value of a keyword looks like, and whether it holds schemas. */
export type Shape =
  | 'any'
  | 'boolean'
  | 'count'
  | 'list'
  | 'name'
  | 'number'
  | 'positive'
  | 'regex'
  | 'schema'
  | 'schemaList'
  | 'schemaMap'
  | 'schemaByPattern'
  | 'string'
  | 'stringList'
  | 'stringListMap'
  | 'type'
  | 'values';

/** Every keyword that is understood. */
export const KEYWORDS: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ...named('schema', 'items contains additionalProperties propertyNames not if then else'),
  ...named('schema', 'unevaluatedProperties unevaluatedItems'),
  ...named('schemaList', 'prefixItems allOf anyOf oneOf'),
  ...named('schemaMap', 'properties dependentSchemas $defs definitions'),
  ...named('schemaByPattern', 'patternProperties'),
  ...named('number', 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...named('positive', 'multipleOf'),
  ...named(
    'count',
    'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties',
  ),
  ...named('boolean', 'uniqueItems deprecated readOnly writeOnly'),
  ...named('string', 'title description $comment $id $schema $ref format'),
  ...named('name', '$anchor'),
  ...named('regex', 'pattern'),
  ...named('stringList', 'required'),
  ...named('stringListMap', 'dependentRequired'),
  ...named('list', 'examples'),
  ...named('values', 'enum'),
  ...named('type', 'type'),
  ...named('any', 'const default'),
]);

/** Keywords of JSON Schema that are not supported, with what to write instead. */
export const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['$dynamicRef', 'use `$ref`'],
  ['$dynamicAnchor', 'use `$anchor`'],
  ['$recursiveRef', 'use `$ref`'],
  ['$recursiveAnchor', 'use `$anchor`'],
  ['$vocabulary', 'leave it out'],
  ['additionalItems', 'use `prefixItems` with `items`'],
  ['dependencies', 'use `dependentRequired` or `dependentSchemas`'],
  ['contentEncoding', 'leave it out'],
  ['contentMediaType', 'leave it out'],
  ['contentSchema', 'leave it out'],
]);

/** Schemas that judge the value itself and not a part of it; a `$ref` through these alone must not come back. */
export const IN_PLACE: ReadonlySet<string> = new Set(
  'allOf anyOf oneOf not if then else dependentSchemas'.split(' '),
);

/** The types a schema may name, with the words for them. */
export const TYPES: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'a boolean'],
  ['null', 'null'],
  ['array', 'a list'],
  ['object', 'an object'],
]);

/** What is wrong with the value of a keyword, as the rest of a sentence about the schema, or null. */
export function shapeProblem(keyword: string, shape: Shape, value: Json): string | null {
  const expected = EXPECTED[shape];
  if (expected === null || expected.holds(value)) return null;
  if (keyword === 'items' && Array.isArray(value)) return 'has a list as `items`; use `prefixItems`';
  const got = typeof value === 'string' || typeof value === 'number' ? quoted(String(value)) : kindOf(value);
  return `needs ${expected.words} as ${quoted(keyword)}, got ${got}`;
}

/** Why a regular expression cannot be used, or null. */
export function regexProblem(source: string): string | null {
  const compiled = compilePattern(source);
  if (compiled.ok) return null;
  if (compiled.reason === null) return `has ${quoted(source)}, which is not a regular expression`;
  return `has ${quoted(source)}, which cannot be matched in bounded time: it has ${compiled.reason}; write it without`;
}

interface Expected {
  readonly words: string;
  holds(value: Json): boolean;
}

/** Null where anything will do, or where the schemas inside are looked at one by one. */
const EXPECTED: Readonly<Record<Shape, Expected | null>> = {
  any: null,
  boolean: { words: 'true or false', holds: (value) => typeof value === 'boolean' },
  count: {
    words: 'a whole number of at least 0',
    holds: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
  },
  list: { words: 'a list', holds: Array.isArray },
  name: {
    words: 'a name',
    holds: (value) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
  },
  number: { words: 'a number', holds: (value) => typeof value === 'number' },
  positive: { words: 'a number above 0', holds: (value) => typeof value === 'number' && value > 0 },
  regex: { words: 'a regular expression', holds: (value) => typeof value === 'string' },
  schema: { words: 'a schema', holds: (value) => isJsonObject(value) || typeof value === 'boolean' },
  schemaList: {
    words: 'a list of at least one schema',
    holds: (value) => Array.isArray(value) && value.length > 0,
  },
  schemaMap: { words: 'an object of schemas', holds: isJsonObject },
  schemaByPattern: { words: 'an object of schemas', holds: isJsonObject },
  string: { words: 'a string', holds: (value) => typeof value === 'string' },
  stringList: { words: 'a list of different strings', holds: areDifferentStrings },
  stringListMap: {
    words: 'an object of lists of strings',
    holds: (value) => isJsonObject(value) && Object.values(value).every(areDifferentStrings),
  },
  type: {
    words: `a type or a list of different types (${[...TYPES.keys()].join(', ')})`,
    holds: (value) => {
      const types = typeof value === 'string' ? [value] : value;
      if (!areDifferentStrings(types) || !Array.isArray(types) || types.length === 0) return false;
      return types.every((type) => TYPES.has(type));
    },
  },
  values: {
    words: 'a list of at least one value',
    holds: (value) => Array.isArray(value) && value.length > 0,
  },
};

function areDifferentStrings(value: Json): boolean {
  if (!Array.isArray(value)) return false;
  return new Set(value).size === value.length && value.every((item) => typeof item === 'string');
}

function named(shape: Shape, keywords: string): readonly (readonly [string, Shape])[] {
  return keywords.split(' ').map((keyword) => [keyword, shape]);
}
