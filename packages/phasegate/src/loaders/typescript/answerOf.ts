import type { Json } from '@phasegate/core';
import { isNamedView } from './namedView.ts';

/** What a function may be for. */
export type Kind = 'check' | 'condition' | 'handler' | 'body';

const OUTCOMES = ['ok', 'fail', 'skip', 'iterate'];

/** Turns what a function returned into JSON, or throws and says what it should have returned. */
export function answerOf(kind: Kind, value: unknown): Json {
  switch (kind) {
    case 'check':
    case 'condition':
      if (typeof value === 'boolean') return value;
      throw new TypeError(`returned ${show(value)} instead of true or false`);
    case 'handler': {
      const [outcome, updates] = Array.isArray(value) && value.length === 2 ? value : [];
      if (!OUTCOMES.includes(outcome))
        throw new TypeError(`returned ${show(value)} instead of [outcome, updates]`);
      if (!isPlain(updates)) throw new TypeError(`returned ${show(updates)} as updates instead of an object`);
      return { outcome, state: toJson(updates, 'updates', []) };
    }
    case 'body': {
      const [title, body] = Array.isArray(value) && value.length === 2 ? value : [];
      if (typeof title === 'string' && typeof body === 'string') return { title, body };
      throw new TypeError(`returned ${show(value)} instead of [title, body]`);
    }
  }
}

/** A copy as JSON. What JSON has no word for is an error: dropped in silence it would be missed only later. */
export function toJson(value: unknown, path: string, above: readonly unknown[]): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || above.includes(value) || above.length > 100) {
    throw new TypeError(`\`${path}\` is ${show(value)}, which is not JSON`);
  }
  const deeper = [...above, value];
  if (Array.isArray(value)) return value.map((item, index) => toJson(item, `${path}[${index}]`, deeper));
  if (!isPlain(value)) throw new TypeError(`\`${path}\` is ${show(value)}, which is not JSON`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, toJson(member, `${path}.${key}`, deeper)]));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isNamedView(value);
}

function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 40 ? 'a text' : `\`${value}\``;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return `an object`;
  return typeof value === 'function' ? 'a function' : `\`${String(value)}\``;
}
