import type { Json } from '../../json.ts';
import type { StepsLeft } from '../pattern/patternWalk.ts';

/** One thing wrong with a value: `path` is a JSON pointer into it, `message` goes on from the name found there. */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * Asks one question about a value. `seen` collects the keys and items that were looked at, where a schema around
 * this one has `unevaluatedProperties` or `unevaluatedItems`; else it is null and nothing is collected.
 */
export type Check<T = Json> = (value: T, pass: Pass, seen: Seen | null) => boolean;

/** One walk over a value. Most are silent: only when the value is wrong does a second walk collect problems. */
export interface Pass {
  /** Null in a silent walk, which stops at the first problem and builds no text. */
  problems: SchemaProblem[] | null;
  readonly path: (string | number)[];
  steps: number;
  depth: number;
  /** What patterns may still take of texts. */
  readonly matching: StepsLeft;
  /** Why the walk was given up. It then counts as a problem, whatever `not` made of it. */
  overrun: string | null;
}

/** What has been looked at in one object or list. */
export interface Seen {
  readonly keys: Set<string>;
  allKeys: boolean;
  /** Items before this index. */
  items: number;
  readonly indexes: Set<number>;
}

/** The most problems one answer lists. */
export const MAX_PROBLEMS = 50;

/** Enough for a pattern of everyday size on a text of a megabyte. */
const MOST_MATCHING = 10_000_000;

/** A walk that is about to begin. */
export function beginPass(problems: SchemaProblem[] | null): Pass {
  return { problems, path: [], steps: 0, depth: 0, matching: { left: MOST_MATCHING }, overrun: null };
}

/** Nothing looked at yet. */
export function nothingSeen(): Seen {
  return { keys: new Set(), allKeys: false, items: 0, indexes: new Set() };
}

/** Adds what another schema has looked at. */
export function mergeSeen(into: Seen, from: Seen): void {
  for (const key of from.keys) into.keys.add(key);
  for (const index of from.indexes) into.indexes.add(index);
  into.allKeys ||= from.allKeys;
  into.items = Math.max(into.items, from.items);
}

/** Notes a problem at the present place, if anybody listens; always false, as the answer of a check. */
export function fail(pass: Pass, message: () => string): false {
  if (pass.problems !== null && pass.problems.length < MAX_PROBLEMS) {
    pass.problems.push({ path: pointerOf(pass.path), message: message() });
  }
  return false;
}

/** Makes a check of a member: it is called with the member, its key, and the walk. */
export function inside(check: Check): (member: Json, key: string | number, pass: Pass) => boolean {
  return (member, key, pass) => {
    if (pass.problems === null) return check(member, pass, null);
    pass.path.push(key);
    const ok = check(member, pass, null);
    pass.path.pop();
    return ok;
  };
}

/** The same check, telling nobody. */
export function silent(check: Check): Check {
  return (value, pass, seen) => {
    const problems = pass.problems;
    pass.problems = null;
    const ok = check(value, pass, seen);
    pass.problems = problems;
    return ok;
  };
}

/** What a check would complain about, at the present place. */
export function complaints(check: Check, value: Json, pass: Pass): readonly SchemaProblem[] {
  const problems = pass.problems;
  const own: SchemaProblem[] = [];
  pass.problems = own;
  check(value, pass, null);
  pass.problems = problems;
  return own;
}

/** A JSON pointer, as RFC 6901 writes it. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
