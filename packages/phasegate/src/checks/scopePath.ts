import { type Json, type JsonObject, own } from '@phasegate/core';

/** The value at a dotted path such as `result.plan.items.0`, or undefined. Only own properties are followed. */
export function scopePath(scope: JsonObject, path: string | readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = scope;
  for (const step of typeof path === 'string' ? path.split('.') : path) value = own(value, String(step));
  return value;
}

/** A value as a short text for a reason. */
export function display(value: Json | undefined): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

const SHOWN_LENGTH = 200;
