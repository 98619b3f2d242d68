import type { JsonObject } from '../../json.ts';
import { quoted } from '../wording.ts';
import { FORMATS } from './schemaFormats.ts';
import { type Check, fail } from './schemaPass.ts';
import { patternTest } from './schemaPattern.ts';

/** The checks a schema has for numbers. */
export function numberChecks(schema: JsonObject): readonly Check<number>[] {
  const checks: Check<number>[] = [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  // Each comparison is written so that a value which is not a number fails it.
  if (typeof minimum === 'number') {
    checks.push(
      (value, pass) => value >= minimum || fail(pass, () => `must be at least ${minimum}, got ${value}`),
    );
  }
  if (typeof maximum === 'number') {
    checks.push(
      (value, pass) => value <= maximum || fail(pass, () => `must be at most ${maximum}, got ${value}`),
    );
  }
  if (typeof exclusiveMinimum === 'number') {
    checks.push(
      (value, pass) =>
        value > exclusiveMinimum || fail(pass, () => `must be above ${exclusiveMinimum}, got ${value}`),
    );
  }
  if (typeof exclusiveMaximum === 'number') {
    checks.push(
      (value, pass) =>
        value < exclusiveMaximum || fail(pass, () => `must be below ${exclusiveMaximum}, got ${value}`),
    );
  }
  if (typeof multipleOf === 'number') {
    checks.push(
      (value, pass) =>
        isMultiple(value, multipleOf) ||
        fail(pass, () => `must be a multiple of ${multipleOf}, got ${value}`),
    );
  }
  return checks;
}

/** The checks a schema has for strings. Lengths are counted in characters, not in UTF-16 units. */
export function stringChecks(schema: JsonObject): readonly Check<string>[] {
  const checks: Check<string>[] = [];
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof minLength === 'number') {
    checks.push(
      (value, pass) =>
        hasAtLeast(value, minLength) ||
        fail(pass, () => `must have at least ${characters(minLength)}, has ${lengthOf(value)}`),
    );
  }
  if (typeof maxLength === 'number') {
    checks.push(
      (value, pass) =>
        !hasAtLeast(value, maxLength + 1) ||
        fail(pass, () => `must have at most ${characters(maxLength)}, has ${lengthOf(value)}`),
    );
  }
  if (typeof pattern === 'string') {
    const matches = patternTest(pattern);
    checks.push(
      (value, pass) =>
        matches(value, pass) || fail(pass, () => `must match ${quoted(pattern)}, got ${quoted(value)}`),
    );
  }
  const known = typeof format === 'string' ? FORMATS.get(format) : undefined;
  if (known !== undefined) {
    checks.push(
      (value, pass) => known.holds(value) || fail(pass, () => `must be ${known.words}, got ${quoted(value)}`),
    );
  }
  return checks;
}

/** Exact for decimals: 0.3 is a multiple of 0.1, although dividing the two says otherwise. */
function isMultiple(value: number, of: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0;
  const [a, b] = [decimal(value), decimal(of)];
  const scale = Math.min(a.exponent, b.exponent);
  const scaled = (number: Decimal) => number.digits * 10n ** BigInt(number.exponent - scale);
  return scaled(a) % scaled(b) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** A number as the digits JSON writes for it. */
function decimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** A string of n UTF-16 units has between n/2 and n characters, so most are decided without counting. */
function hasAtLeast(value: string, count: number): boolean {
  if (value.length < count) return false;
  return value.length >= count * 2 || lengthOf(value) >= count;
}

function lengthOf(value: string): number {
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}
