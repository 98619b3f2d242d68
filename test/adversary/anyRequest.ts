import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { type Operation, resolved } from './openapiDocument.ts';
import { bearer, type Sent } from './wire.ts';

/** Where chance comes from: a number below the one given. */
export type Chance = (below: number) => number;

/** What earlier answers have told: credentials, and words that mean something. */
export interface Known {
  readonly credentials: readonly (string | null)[];
  readonly words: string[];
  readonly artifacts: readonly JsonObject[];
}

/** A request to a route: mostly as its schemas say, at times not quite, at times not at all. */
export function anyRequest(
  { document, known, chance }: Making,
  operation: Operation,
): Sent & { readonly twisted: boolean } {
  const { method, template, parameters, body } = operation;
  const making = { document, known, chance };
  const path = parameters
    .filter(({ place }) => place === 'path')
    .reduce(
      (filled, { name, schema }) =>
        filled.replace(`{${name}}`, encodeURIComponent(textOf(valueFor(schema, making, 0)))),
      template,
    );
  const query = parameters
    .filter(({ place, required }) => place === 'query' && (required || chance(2) === 0))
    .map(({ name, schema }) => `${name}=${encodeURIComponent(textOf(valueFor(schema, making, 0)))}`);
  const secret = known.credentials[chance(known.credentials.length)] ?? null;
  const twist = chance(12);
  const value = body === undefined ? undefined : valueFor(body, making, 0);
  const text = value === undefined ? undefined : twisted(JSON.stringify(value), twist);
  const headers = [
    ...(secret === null ? [] : [bearer(secret)]),
    ...(twist === 1 ? [['Content-Type', 'text/plain'] as const] : []),
  ];
  return {
    method,
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    headers,
    ...(text === undefined ? {} : { body: text }),
    twisted: twist <= 4,
  };
}

/** What values are made from. */
export interface Making {
  readonly document: JsonObject;
  readonly known: Known;
  readonly chance: Chance;
}

function twisted(text: string, twist: number): string {
  switch (twist) {
    case 0:
      return text.slice(0, -1);
    case 2:
      return text.replace(/:[^,{}]*/, ':1e999');
    case 3:
      return text.replace('{', '{"nobody_knows_this":true,');
    case 4:
      return text.replace(/:[^,{}[\]]*/, `:${'['.repeat(300)}${']'.repeat(300)}`);
    default:
      return text;
  }
}

function valueFor(schema: Json, making: Making, depth: number): Json {
  const { document, known, chance } = making;
  if (chance(15) === 0) return ODD[chance(ODD.length)] ?? null;
  const whole = resolved(document, schema);
  const choices = own(whole, 'anyOf') ?? (own(whole, 'type') === undefined ? own(whole, 'oneOf') : undefined);
  if (Array.isArray(choices)) return valueFor(choices[chance(choices.length)] ?? null, making, depth);
  const values = own(whole, 'enum');
  if (Array.isArray(values)) return values[chance(values.length)] ?? null;
  const constant = own(whole, 'const');
  if (constant !== undefined) return constant;
  const properties = own(whole, 'properties');
  if (isJsonObject(properties)) return objectFor(whole, properties, { making, depth });
  const types = own(whole, 'type');
  const type = Array.isArray(types) ? types[chance(types.length)] : types;
  switch (type) {
    case 'string':
      return known.words[chance(known.words.length)] ?? '';
    case 'integer':
    case 'number':
      return Number(own(whole, 'minimum') ?? 0) + chance(4);
    case 'boolean':
      return chance(2) === 0;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: depth > 4 ? 0 : Number(own(whole, 'minItems') ?? 0) + chance(3) }, () =>
        valueFor(own(whole, 'items') ?? null, making, depth + 1),
      );
    default:
      return known.artifacts[chance(known.artifacts.length)] ?? {};
  }
}

function objectFor(
  schema: Json,
  properties: JsonObject,
  { making, depth }: { readonly making: Making; readonly depth: number },
): JsonObject {
  const required = (own(schema, 'required') ?? []) as readonly Json[];
  const [choice] = [own(schema, 'oneOf')].flat();
  const also = (own(choice, 'required') ?? []) as readonly Json[];
  const kept = Object.entries(properties).filter(
    ([name]) => required.includes(name) || also.includes(name) || making.chance(4) === 0,
  );
  return Object.fromEntries(kept.map(([name, field]) => [name, valueFor(field, making, depth + 1)]));
}

function textOf(value: Json): string {
  // An empty part of a path would make another route of it.
  return (typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)) || 'x';
}

const ODD: readonly Json[] = [
  null,
  -1,
  0.5,
  1e21,
  Number.MAX_SAFE_INTEGER + 1,
  '',
  '..',
  '\u0000',
  '\ud800',
  'x'.repeat(2000),
  [],
  {},
  true,
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
];
