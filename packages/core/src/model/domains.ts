import { PhasegateError } from '../errors.ts';
import { canonicalJson, type Json } from '../json.ts';
import type { ParamDomain } from './workflow.ts';

/** Every value of a param's domain in order, or null for a range, which has no list of values. */
export function domainOf(domain: ParamDomain): Iterable<Json> | null {
  switch (domain.kind) {
    case 'bounded_int':
      return new BoundedInt(domain.lo, domain.hi);
    case 'choice_set':
      return new ChoiceSet(domain.choices);
    case 'constant':
      return new Constant(domain.value);
    case 'range':
      return null;
  }
}

/** The integers from `lo` to `hi`, both included. */
export class BoundedInt implements Iterable<number> {
  readonly lo: number;
  readonly hi: number;
  /** The same text for the same domain, so that it can stand as a key in a map. */
  readonly key: string;

  constructor(lo: number, hi: number) {
    for (const bound of [lo, hi]) {
      if (!Number.isSafeInteger(bound)) throw invalid(`a bound must be an integer, got \`${String(bound)}\``);
    }
    if (lo > hi) throw invalid(`the lower bound \`${lo}\` is above the upper bound \`${hi}\``);
    this.lo = lo;
    this.hi = hi;
    this.key = `bounded_int:${canonicalJson([lo, hi])}`;
    Object.freeze(this);
  }

  *[Symbol.iterator](): Generator<number> {
    for (let value = this.lo; value <= this.hi; value++) yield value;
  }
}

/** Some values, in the order they were given. */
export class ChoiceSet<T extends Json = Json> implements Iterable<T> {
  readonly choices: readonly T[];
  /** The same text for the same domain, so that it can stand as a key in a map. */
  readonly key: string;

  constructor(choices: readonly T[]) {
    if (choices.length === 0) throw invalid('a set of choices must have at least one');
    this.choices = frozenCopy(choices);
    this.key = `choice_set:${canonicalJson(this.choices)}`;
    Object.freeze(this);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.choices[Symbol.iterator]();
  }
}

/** One value. */
export class Constant<T extends Json = Json> implements Iterable<T> {
  readonly value: T;
  /** The same text for the same domain, so that it can stand as a key in a map. */
  readonly key: string;

  constructor(value: T) {
    this.value = frozenCopy(value);
    this.key = `constant:${canonicalJson(this.value)}`;
    Object.freeze(this);
  }

  *[Symbol.iterator](): Generator<T> {
    yield this.value;
  }
}

/** A copy all the way down: the key would lie if someone changed a choice later. */
function frozenCopy<T extends Json>(value: T): T {
  return freeze(JSON.parse(JSON.stringify(value)) as T);
}

function freeze<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) freeze(member as Json);
  return Object.freeze(value);
}

function invalid(message: string): PhasegateError {
  return new PhasegateError('workflow_invalid', message);
}
