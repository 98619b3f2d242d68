import type { Json, JsonObject } from '../json.ts';

/**
 * True when two JSON values are the same: primitives by value, lists item by item, objects by their own keys
 * in any order. Works off a list instead of recursing, so a deeply nested value cannot overflow the stack.
 */
export function jsonEqual(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  const pairs: [Json, Json][] = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    if (!sameSurface(pair[0], pair[1], pairs)) return false;
  }
  return true;
}

/** Compares two values without their members, which are added to `pairs`. */
function sameSurface(left: Json, right: Json, pairs: [Json, Json][]): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const leftKeys = Object.keys(left);
  if (leftKeys.length !== Object.keys(right).length) return false;
  for (const key of leftKeys) {
    if (!Object.hasOwn(right, key)) return false;
    const [a, b] = [(left as JsonObject)[key], (right as JsonObject)[key]];
    if (a === b) continue;
    if (a === undefined || b === undefined) return false;
    pairs.push([a, b]);
  }
  return true;
}
