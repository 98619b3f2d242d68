import type { EvidenceField, Param, Phase } from '@phasegate/core/model';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core/model';
import type { Length } from './contradiction.ts';
import { ANYTHING, type Edge, NOTHING, type ValueSet } from './valueSet.ts';

type Steps = readonly (string | number)[];

/** What the schemas of a phase's evidence allow at a path, or for its length. Says too much rather than too little. */
export function evidenceValues(phase: Phase, path: Steps, length: Length): ValueSet {
  const [name, ...steps] = path;
  const artifact = phase.evidence.artifacts.find(({ type }) => type === String(name));
  if (artifact !== undefined) {
    const schema = schemaAt(artifact.schema ?? true, steps);
    if (length === 'dotted' && !isCounted(schema)) return valuesOf(schemaAt(schema, ['length']));
    return length === 'none' ? valuesOf(schema) : lengthsOf(schema);
  }
  const field = phase.evidence.fields.find((candidate) => candidate.name === String(name));
  if (field === undefined || steps.length > 0 || field.rule === 'optional')
    return length === 'called' ? LENGTHS : ANYTHING;
  // An object has no length but what it calls so.
  if (length === 'dotted' && field.type === 'object') return ANYTHING;
  return fieldValues(field, length !== 'none');
}

/** What a param may be. */
export function paramValues(param: Param): ValueSet {
  const { domain } = param;
  if (domain === null) return ANYTHING;
  switch (domain.kind) {
    case 'choice_set':
      return { ...ANYTHING, allowed: domain.choices };
    case 'constant':
      return { ...ANYTHING, allowed: [domain.value] };
    case 'bounded_int':
      return { ...NUMBERS, integer: true, least: edge(domain.lo), most: edge(domain.hi) };
    case 'range':
      return {
        ...NUMBERS,
        ...(domain.min === null ? {} : { least: edge(domain.min) }),
        ...(domain.max === null ? {} : { most: edge(domain.max) }),
      };
  }
}

const NUMBERS: ValueSet = { ...ANYTHING, types: ['number'] };
const LENGTHS: ValueSet = { ...NUMBERS, integer: true, least: { at: 0, open: false } };
const FIELD_TYPES: Readonly<Record<EvidenceField['type'], string>> = {
  int: 'number',
  number: 'number',
  str: 'string',
  bool: 'boolean',
  list: 'array',
  object: 'object',
};

function fieldValues(field: EvidenceField, length: boolean): ValueSet {
  const filled = field.rule === 'positive' || field.rule === 'non_empty';
  if (length) return filled ? { ...LENGTHS, least: edge(1) } : LENGTHS;
  const type = FIELD_TYPES[field.type];
  const positive = type === 'number' && field.rule === 'positive';
  return {
    ...ANYTHING,
    types: [type],
    integer: field.type === 'int',
    ...(positive ? { least: { at: 0, open: true } } : {}),
    ...(field.rule === 'is_true' ? { allowed: [true] } : {}),
  };
}

/** The schema at a path; `true` where nothing is known, `false` where the path cannot be. */
function schemaAt(schema: Json, steps: Steps): Json {
  let here = schema;
  for (const step of steps) {
    if (here === false) return false;
    if (!isJsonObject(here)) return true;
    here = typeof step === 'number' ? (itemsAt(here) ?? true) : memberAt(here, String(step));
  }
  return here;
}

function itemsAt(schema: JsonObject): Json | undefined {
  return own(schema, 'prefixItems') === undefined ? own(schema, 'items') : undefined;
}

function memberAt(schema: JsonObject, name: string): Json {
  const found = own(own(schema, 'properties') ?? {}, name);
  if (found !== undefined) return found;
  // `length` may be the count of a list or a text, which no schema lists.
  if (name === 'length' || own(schema, 'patternProperties') !== undefined) return true;
  return !(own(schema, 'additionalProperties') === false && typesOf(schema)?.join() === 'object');
}

function valuesOf(schema: Json): ValueSet {
  if (schema === false) return NOTHING;
  if (!isJsonObject(schema)) return ANYTHING;
  const constant = own(schema, 'const');
  const listed = own(schema, 'enum');
  const integer = own(schema, 'type') === 'integer';
  return {
    ...ANYTHING,
    allowed: constant !== undefined ? [constant] : Array.isArray(listed) ? listed : null,
    types: typesOf(schema),
    integer,
    least: ends(schema, 'minimum', 'exclusiveMinimum', Math.max) ?? ANYTHING.least,
    most: ends(schema, 'maximum', 'exclusiveMaximum', Math.min) ?? ANYTHING.most,
  };
}

const LENGTH_KEYS: Readonly<Record<string, readonly [string, string]>> = {
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
};

function lengthsOf(schema: Json): ValueSet {
  if (schema === false) return NOTHING;
  const types = isJsonObject(schema) ? typesOf(schema) : null;
  const keys = types?.length === 1 ? LENGTH_KEYS[types[0] as string] : undefined;
  if (keys === undefined || !isJsonObject(schema)) return LENGTHS;
  const [least, most] = keys.map((key) => own(schema, key));
  // A text's length is counted in other units by a schema than by a condition, so only the least is sure.
  return {
    ...LENGTHS,
    ...(typeof least === 'number' ? { least: edge(least) } : {}),
    ...(typeof most === 'number' && types?.[0] !== 'string' ? { most: edge(most) } : {}),
  };
}

/** Whether what is there can only be a text or a list, of which `.length` is how long it is. */
function isCounted(schema: Json): boolean {
  const types = isJsonObject(schema) ? typesOf(schema) : null;
  return types?.every((type) => type === 'string' || type === 'array') === true;
}

function typesOf(schema: JsonObject): readonly string[] | null {
  const type = own(schema, 'type');
  if (type === undefined) return null;
  const types = (Array.isArray(type) ? type : [type]).map(String);
  return [...new Set(types.map((name) => (name === 'integer' ? 'number' : name)))];
}

function ends(
  schema: JsonObject,
  closedKey: string,
  openKey: string,
  tighter: (...values: number[]) => number,
): Edge | null {
  const closed = own(schema, closedKey);
  const open = own(schema, openKey);
  if (typeof closed !== 'number') return typeof open === 'number' ? { at: open, open: true } : null;
  if (typeof open !== 'number') return edge(closed);
  return closed !== open && tighter(closed, open) === closed ? edge(closed) : { at: open, open: true };
}

function edge(at: number): Edge {
  return { at, open: false };
}
