import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { SESSION_FIELDS } from '@phasegate/wire/schemas/session';

/** A schema of zod, as far as it is walked through. */
interface Walked {
  readonly def: {
    readonly type: string;
    readonly shape?: Readonly<Record<string, Walked>>;
    readonly catchall?: Walked;
    readonly element?: Walked;
    readonly valueType?: Walked;
    readonly innerType?: Walked;
    readonly in?: Walked;
    readonly options?: readonly Walked[];
  };
}

/** Paths of the fields in a value that its schema does not have. What authors and agents wrote is free. */
export function unknownFields(schema: unknown, value: Json, path = ''): readonly string[] {
  const { def } = schema as Walked;
  if (def.options !== undefined) {
    const found = def.options.map((option) => unknownFields(option, value, path));
    return found.reduce((fewest, one) => (one.length < fewest.length ? one : fewest));
  }
  const inner = def.innerType ?? def.in;
  if (inner !== undefined) return unknownFields(inner, value, path);
  if (Array.isArray(value)) {
    const { element } = def;
    return element === undefined ? [] : value.flatMap((item) => unknownFields(element, item, `${path}[]`));
  }
  if (!isJsonObject(value)) return [];
  const { shape, valueType } = def;
  if (valueType !== undefined) {
    return Object.entries(value).flatMap(([key, item]) => unknownFields(valueType, item, `${path}.${key}`));
  }
  if (shape === undefined) return def.type === 'custom' ? [] : [path];
  // A refusal has the fields of a refused command beside its own, which is why its schema is open.
  const others: JsonObject = def.catchall?.def.type === 'unknown' ? SESSION_FIELDS : {};
  return Object.entries(value).flatMap(([key, item]) => {
    const at = `${path}.${key}`;
    if (Object.hasOwn(shape, key)) return unknownFields(shape[key], item, at);
    return Object.hasOwn(others, key) ? unknownInside(others[key] as JsonObject, item, at) : [at];
  });
}

/** The same for a JSON Schema: an object without `properties` is free. */
export function unknownInside(schema: JsonObject, value: Json, path = ''): readonly string[] {
  const { properties, items } = schema;
  if (Array.isArray(value)) {
    return isJsonObject(items) ? value.flatMap((item) => unknownInside(items, item, `${path}[]`)) : [];
  }
  if (!isJsonObject(value) || !isJsonObject(properties)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const at = `${path}.${key}`;
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return isJsonObject(known) ? unknownInside(known, item, at) : [at];
  });
}
