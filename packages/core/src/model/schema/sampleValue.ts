import { isJsonObject, type Json, type JsonObject, own } from '../../json.ts';
import { samplePattern } from '../pattern/samplePattern.ts';
import { compileSchema } from './jsonSchema.ts';

/**
 * A small value that a JSON Schema allows, or undefined where none was found. What is given was tried. Texts that may be
 * any are the filler.
 */
export function sampleValue(schema: Json, filler = 'made up'): Json | undefined {
  if (schema === null) return filler;
  if (typeof schema !== 'boolean' && !isJsonObject(schema)) return undefined;
  const compiled = compileSchema(schema);
  if (!compiled.ok) return undefined;
  const fits = (value: Json) => compiled.validate(value).length === 0;
  for (const value of samples(schema, { root: schema, depth: 0, budget: { left: BUDGET }, filler })) {
    if (fits(value)) return value;
  }
  return undefined;
}

/** The schema of what is at a path of values that another schema allows; `true` where nothing is known of it. */
export function schemaAt(schema: Json, steps: readonly (string | number)[]): Json {
  return steps.reduce<Json>((here, step) => {
    const whole = resolved(here, schema);
    if (!isJsonObject(whole)) return true;
    const child = typeof step === 'number' ? own(whole, 'items') : own(own(whole, 'properties') ?? {}, step);
    return child ?? true;
  }, schema);
}

interface Place {
  readonly root: Json;
  readonly depth: number;
  /** Schemas may name themselves in many places: how many are looked at is counted over all of them. */
  readonly budget: { left: number };
  readonly filler: string;
}

const DEEPEST = 12;
const BUDGET = 20_000;
/** Of how many values of each kind something larger is made. */
const MOST = 8;

/** Values worth trying, the likeliest first. */
function* samples(schema: Json, place: Place): Generator<Json> {
  if (schema === false || place.depth > DEEPEST || --place.budget.left < 0) return;
  const whole = resolved(schema, place.root);
  if (!isJsonObject(whole)) {
    if (whole !== false) yield place.filler;
    return;
  }
  for (const key of ['const', 'default']) {
    const value = own(whole, key);
    if (value !== undefined) yield value;
  }
  for (const key of ['enum', 'examples']) yield* schemasIn(whole, key);
  const deeper = { ...place, depth: place.depth + 1 };
  const { anyOf = [], oneOf = [], ...rest } = whole;
  // With one of the ways it may go, then without.
  for (const part of [anyOf, oneOf].flat().slice(0, MOST)) {
    yield* samples(merged(rest, resolved(part, place.root)), deeper);
  }
  for (const type of typesOf(whole)) yield* MAKE[type]?.(rest, deeper) ?? [];
}

function first(schema: Json, place: Place): Json | undefined {
  return samples(schema, place).next().value;
}

function some(schema: Json, place: Place): readonly Json[] {
  const found: Json[] = [];
  for (const value of samples(schema, place)) if (found.push(value) === MOST) break;
  return found;
}

type Make = (schema: JsonObject, place: Place) => Iterable<Json>;

const MAKE: Readonly<Record<string, Make>> = {
  null: () => [null],
  boolean: () => [true, false],
  integer: (schema) => numbers(schema, 1),
  number: (schema) => [...numbers(schema, 1), ...numbers(schema, 0.5)],
  string: texts,
  array: lists,
  object: objects,
};

function typesOf(schema: JsonObject): readonly string[] {
  const type = own(schema, 'type');
  if (type !== undefined) return (Array.isArray(type) ? type : [type]).map(String);
  // Nothing was said, so what the other words are about is the likeliest.
  const about = Object.entries(WORDS).filter(([, words]) =>
    words.some((word) => Object.hasOwn(schema, word)),
  );
  return [...about.map(([name]) => name), 'string', 'object', 'array', 'number', 'boolean', 'null'];
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'minProperties', 'patternProperties', 'additionalProperties'],
  array: ['items', 'prefixItems', 'minItems', 'contains', 'uniqueItems'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
};

function numbers(schema: JsonObject, step: number): readonly number[] {
  const at = (key: string) => {
    const value = own(schema, key);
    return typeof value === 'number' ? [value] : [];
  };
  const of = at('multipleOf')[0] ?? step;
  const near = [
    ...at('minimum'),
    ...at('exclusiveMinimum').map((edge) => edge + step),
    ...at('maximum'),
    ...at('exclusiveMaximum').map((edge) => edge - step),
  ];
  const middle = near.length > 1 ? [((near[0] as number) + (near.at(-1) as number)) / 2] : [];
  return [1, ...near, ...middle, 0].flatMap((value) => [
    Math.ceil(value / of) * of,
    Math.floor(value / of) * of,
    value,
  ]);
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2000-01-01',
  'date-time': '2000-01-01T00:00:00Z',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'a@example.org',
  'idn-email': 'a@example.org',
  hostname: 'example.org',
  'idn-hostname': 'example.org',
  ipv4: '127.0.0.1',
  ipv6: '::1',
  uri: 'https://example.org/a',
  'uri-reference': '/a',
  iri: 'https://example.org/a',
  'iri-reference': '/a',
  uuid: '00000000-0000-4000-8000-000000000000',
  'json-pointer': '/a',
  'relative-json-pointer': '0',
  regex: 'a',
};

function texts(schema: JsonObject, { filler }: Place): readonly string[] {
  const least = count(schema, 'minLength', 0);
  const most = count(schema, 'maxLength', 10_000);
  const pattern = own(schema, 'pattern');
  const format = own(schema, 'format');
  const plain = filler.padEnd(Math.min(least, 10_000), '.').slice(0, most);
  const patterned = typeof pattern === 'string' ? samplePattern(pattern) : null;
  return [
    ...(typeof format === 'string' && FORMATS[format] !== undefined ? [FORMATS[format]] : []),
    ...(patterned === null
      ? []
      : [patterned, `${patterned}${'a'.repeat(least)}`, patterned.padEnd(least, '0')]),
    plain,
    'a'.repeat(Math.min(least, most)),
  ];
}

function* lists(schema: JsonObject, place: Place): Generator<Json> {
  const known = schemasIn(schema, 'prefixItems').flatMap((part) => first(part, place) ?? []);
  const contains = own(schema, 'contains');
  const sure = contains === undefined ? [] : some(contains, place).slice(0, count(schema, 'minContains', 1));
  const others = some(own(schema, 'items') ?? true, place);
  const least = Math.min(Math.max(count(schema, 'minItems', 0), known.length), 100);
  const unique = own(schema, 'uniqueItems') === true;
  const missing = (size: number) => Math.max(0, size - known.length - sure.length);
  for (const size of new Set([Math.max(least, 1), least])) {
    // The first kind of item that fits is not always the first there is.
    for (let shift = 0; shift < Math.max(others.length, 1); shift++) {
      const pool = [...others.slice(shift), ...others.slice(0, shift)];
      const filling = Array.from({ length: pool.length === 0 ? 0 : missing(size) }, (_, index) =>
        unique ? numbered(pool[index % pool.length] as Json, index, place) : (pool[0] as Json),
      );
      yield [...known, ...sure, ...filling];
    }
  }
}

/** Texts and numbers of which no two may be the same are told apart by their place. */
function numbered(value: Json, index: number, { filler }: Place): Json {
  if (typeof value === 'number' && index > 0) return value + index;
  return value === filler && index > 0 ? `${value} ${index + 1}` : value;
}

function* objects(schema: JsonObject, place: Place): Generator<JsonObject> {
  const known = mapOf(own(schema, 'properties'));
  const names = schemasIn(schema, 'required').map(String);
  const choices = names.map((name) => [name, some(own(known, name) ?? openSchema(schema), place)] as const);
  const least = Object.fromEntries(
    choices.flatMap(([name, [value]]) => (value === undefined ? [] : [[name, value]])),
  );
  yield least;
  // One value changed at a time is enough where the first of each does not fit.
  for (const [name, values] of choices) {
    for (const value of values.slice(1)) yield { ...least, [name]: value };
  }
  // What need not be there is tried near the top only: below it rarely helps, and schemas that name themselves grow.
  if (place.depth > 2) return;
  const filled = Object.fromEntries(
    Object.entries(known).flatMap(([name, part]) => {
      const value = first(part, place);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  yield { ...filled, ...least };
  const more = Array.from({ length: Math.min(count(schema, 'minProperties', 0), 100) }, (_, index) => [
    `more_${index + 1}`,
    first(openSchema(schema), place) ?? place.filler,
  ]);
  yield { ...Object.fromEntries(more), ...filled, ...least };
}

function openSchema(schema: JsonObject): Json {
  const others = own(schema, 'additionalProperties');
  return others === undefined || others === false ? true : others;
}

function resolved(schema: Json, root: Json): Json {
  let here = schema;
  for (let step = 0; step < DEEPEST && isJsonObject(here); step++) {
    const whole: JsonObject = here;
    const ref = own(whole, '$ref');
    const all = schemasIn(whole, 'allOf');
    const { $ref: _, allOf: __, ...rest } = whole;
    if (typeof ref === 'string')
      here = merged(pointed(root, ref), { ...rest, ...(all.length > 0 ? { allOf: all } : {}) });
    else if (all.length > 0)
      here = all.reduce((sum, part) => merged(sum, resolvedOnce(part, root)), rest as Json);
    else return here;
  }
  return here;
}

function resolvedOnce(schema: Json, root: Json): Json {
  const ref = own(schema, '$ref');
  return typeof ref === 'string' ? pointed(root, ref) : schema;
}

/** Both at once, as far as a shallow look goes. */
function merged(one: Json, other: Json): Json {
  if (one === false || other === false) return false;
  if (!isJsonObject(one)) return other;
  if (!isJsonObject(other)) return one;
  const required = [own(one, 'required'), own(other, 'required')].flatMap((names) =>
    Array.isArray(names) ? names : [],
  );
  const properties = { ...mapOf(own(one, 'properties')), ...mapOf(own(other, 'properties')) };
  return {
    ...one,
    ...other,
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

function pointed(root: Json, ref: string): Json {
  if (!ref.startsWith('#')) return true;
  const steps = ref.slice(1).split('/').slice(1);
  const named = steps.map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return named.reduce<Json>((here, step) => own(here, step) ?? true, root);
}

function schemasIn(schema: JsonObject, key: string): readonly Json[] {
  const value = own(schema, key);
  return Array.isArray(value) ? value : [];
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function count(schema: JsonObject, key: string, otherwise: number): number {
  const value = own(schema, key);
  return typeof value === 'number' ? value : otherwise;
}
