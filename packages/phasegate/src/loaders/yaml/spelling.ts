import { isJsonObject, type Json } from '@phasegate/core';

/** The two ways in which the keys of a file may be written. */
export type Spelling = 'snake' | 'camel';

/** The other spelling of a key: `allowed_tools` → `allowedTools`. */
export function camelCase(key: string): string {
  return key.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

// Every key of every map that is known in both spellings.
const bySnake = new Map<string, string>();
const byCamel = new Map<string, string>();

/** Makes a key known that can be written in both. */
export function knowBoth(key: string): void {
  const twin = camelCase(key);
  if (twin === key) return;
  bySnake.set(key, twin);
  byCamel.set(twin, key);
}

/** How a file spells its keys: the way it does so more often, and as the documentation does where it says nothing. */
export function spellingOf(value: Json): Spelling {
  let lean = 0;
  const open: Json[] = [value];
  for (let seen = 0; seen < MOST; seen++) {
    const next = open.pop();
    if (next === undefined) break;
    if (Array.isArray(next)) open.push(...next);
    if (!isJsonObject(next)) continue;
    for (const [key, member] of Object.entries(next)) {
      if (byCamel.has(key)) lean += 1;
      if (bySnake.has(key)) lean -= 1;
      open.push(member);
    }
  }
  return lean > 0 ? 'camel' : 'snake';
}

/** More than any file an author writes; a hostile one is not read to its end for a matter of taste. */
const MOST = 10_000;

/** A message in which the keys it names are written as its file writes them. */
export function spelled(message: string, spelling: Spelling): string {
  const twins = spelling === 'snake' ? byCamel : bySnake;
  return message.replaceAll(/`(\w+)`/g, (whole, key: string) => {
    const twin = twins.get(key);
    return twin === undefined ? whole : `\`${twin}\``;
  });
}
