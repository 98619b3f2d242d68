import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { type Operation, resolved } from './openapiDocument.ts';
import { bearer, type Sent } from './wire.ts';

/** Where chance comes from: a number below the one given. */
export type Chance = (below: number) => number;

/** What earlier answers have told: credentials by their kind, and what fields may be filled with. */
export interface Known {
  readonly secrets: Readonly<Record<Kind, string[]>>;
  /** Words that mean something in a field of this name. */
  readonly fields: Readonly<Record<string, string[]>>;
  /** Words that mean something somewhere. */
  readonly words: readonly string[];
  readonly objects: readonly JsonObject[];
}

/** The kinds of credential; `none` are those that open nothing. */
export type Kind = 'agent' | 'token' | 'human' | 'none';

/** A request to a route: mostly as its schemas say, at times not quite, at times not at all. */
export function anyRequest(
  { document, known, chance }: Making,
  operation: Operation,
): Sent & { readonly twisted: boolean } {
  const { method, template, parameters, body } = operation;
  const secret = secretFor(operation, known, chance);
  const making = { document, known: withOwn(known, secret), chance };
  const text = (schema: Json, name: string) =>
    encodeURIComponent(textOf(valueFor(schema, making, { name, depth: 0 })));
  const path = parameters
    .filter(({ place }) => place === 'path')
    .reduce((filled, { name, schema }) => filled.replace(`{${name}}`, text(schema, name)), template);
  const query = parameters
    .filter(({ place, required }) => place === 'query' && (required || chance(3) === 0))
    .map(({ name, schema }) => `${name}=${text(schema, name)}`);
  const twist = chance(20);
  const value = body === undefined ? undefined : valueFor(body, making, { name: '', depth: 0 });
  return {
    method,
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    headers: [
      ...(secret === null ? [] : [bearer(secret)]),
      ...(twist === 1 ? [['Content-Type', 'text/plain'] as const] : []),
    ],
    ...(value === undefined ? {} : { body: twisted(JSON.stringify(value), twist) }),
    twisted: twist <= 4,
  };
}

/** Mostly one that opens the route, and the one that is surely good before the others; at times any, or none. */
function secretFor({ who }: Operation, { secrets }: Known, chance: Chance): string | null {
  const kinds: readonly Kind[] = ['none', 'agent', 'token', 'human'];
  const opening = kinds.filter((kind) => who.includes(kind));
  const kind = (chance(8) === 0 ? kinds : opening)[chance(opening.length || 1)] ?? 'none';
  const list = secrets[kind];
  const good = kind === 'token' ? list.length - 1 : 0;
  return list[chance(3) === 0 ? chance(list.length) : good] ?? null;
}

/** A key goes with the name of its agent, and a token with its run. */
function withOwn(known: Known, secret: string | null): Known {
  const [, claims] = secret?.split('.') ?? [];
  const own = known.fields[`of ${secret}`]?.[0];
  if (own !== undefined) return { ...known, fields: { ...known.fields, agent_id: [own] } };
  if (claims === undefined) return known;
  const { task_id: id, phase } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
    string,
    string
  >;
  return { ...known, fields: { ...known.fields, id: [id ?? ''], phase: [String(phase)] } };
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

interface Place {
  /** Of the field. */
  readonly name: string;
  readonly depth: number;
}

function valueFor(schema: Json, making: Making, { name, depth }: Place): Json {
  const { document, known, chance } = making;
  if (chance(25) === 0) return ODD[chance(ODD.length)] ?? null;
  const whole = resolved(document, schema);
  const choices = own(whole, 'anyOf') ?? (own(whole, 'type') === undefined ? own(whole, 'oneOf') : undefined);
  if (Array.isArray(choices))
    return valueFor(choices[chance(choices.length)] ?? null, making, { name, depth });
  const values = own(whole, 'enum');
  if (Array.isArray(values)) return values[chance(values.length)] ?? null;
  const constant = own(whole, 'const');
  if (constant !== undefined) return constant;
  const properties = own(whole, 'properties');
  if (isJsonObject(properties)) return objectFor(whole, properties, { making, depth });
  const types = own(whole, 'type');
  switch (Array.isArray(types) ? types[chance(types.length)] : types) {
    case 'string': {
      const words = known.fields[name] ?? known.words;
      const any = chance(6) === 0 ? known.words : words;
      return any[any.length - 1 - chance(any.length)] ?? '';
    }
    case 'integer':
    case 'number':
      return Number(own(whole, 'minimum') ?? 0) + chance(4);
    case 'boolean':
      return chance(2) === 0;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: depth > 4 ? 0 : Number(own(whole, 'minItems') ?? 0) + chance(2) }, () =>
        valueFor(own(whole, 'items') ?? null, making, { name, depth: depth + 1 }),
      );
    default:
      return known.objects[chance(known.objects.length)] ?? {};
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
  return Object.fromEntries(
    kept.map(([name, field]) => [name, valueFor(field, making, { name, depth: depth + 1 })]),
  );
}

/** Text for a path or a query. What is empty, or dots only, would make another route of a path. */
function textOf(value: Json): string {
  const text = typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value);
  return /^\.{0,2}$/.test(text) ? 'x' : text;
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
