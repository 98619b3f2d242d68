import type { EvidenceRule } from '@phasegate/core/model';
import { plainProse } from './plainProse.ts';
import type { Place } from './report.ts';

/** One piece of evidence a phase asks for, as it was understood. */
export interface EvidenceFieldDraft {
  readonly name: string;
  readonly type: FieldType;
  readonly rule: EvidenceRule;
  readonly description: string;
  /** A condition beyond the rule, in the engine's words. */
  readonly condition?: string;
  /** What was not said in so many words: a type guessed from a sentence, a rule that is only the usual one. */
  readonly guessed?: { readonly type?: boolean; readonly rule?: boolean };
  readonly at: Place;
}

/** What a value must be where nothing is said: there, and `true` where it is a boolean. */
export function usualRule(type: FieldType): EvidenceRule {
  return type === 'bool' ? 'is_true' : 'present';
}

/** Whether a line lets a boolean be `false`. */
export function letsFalsePass(line: string): boolean {
  return saysPlainly(line, 'true or false') || saysPlainly(line, 'optional');
}

const NO =
  /\b(?:no|not|non|never|none|nothing|nobody|neither|nor|hardly|without|cannot|\w+n't|false that|far from)\b/i;

/**
 * Whether a line says these words and never denies them. A negation anywhere before them in the sentence denies them:
 * a doubt makes a rule stricter.
 */
export function saysPlainly(line: string, words: string): boolean {
  const text = plainProse(line)
    .replace(/[*_`~]+/g, '')
    .replace(/\s+/g, ' ');
  // What is not optional may still be true or false.
  const read =
    words === 'optional' ? text : text.replace(/\b(?:not|never|non|\w+n't)[- ](?:\w+ )?optional\b/gi, ' ');
  const parts = read.split(/[.;:!]|\s[-–—]\s/).map((part) => part.split(new RegExp(`\\b${words}\\b`, 'i')));
  const said = parts.filter(({ length }) => length > 1);
  const answered = new RegExp(`\\b${words}\\b\\W*(?:no|false|never)\\W*$`, 'i').test(read.trim());
  return said.length > 0 && !answered && said.every((part) => !NO.test(part.slice(0, -1).join(' ')));
}

/** A rule about several fields. */
export interface CrossRule {
  readonly condition: string;
  readonly message: string;
  readonly at: Place;
}

/** All a phase asks for. */
export interface EvidenceDraft {
  readonly fields: readonly EvidenceFieldDraft[];
  readonly crossRules: readonly CrossRule[];
}

/** The types evidence has. */
export type FieldType = 'int' | 'str' | 'list' | 'bool' | 'number' | 'object';

const TYPES: Readonly<Record<string, FieldType>> = {
  int: 'int',
  integer: 'int',
  str: 'str',
  string: 'str',
  text: 'str',
  list: 'list',
  array: 'list',
  bool: 'bool',
  boolean: 'bool',
  number: 'number',
  float: 'number',
  object: 'object',
  dict: 'object',
  map: 'object',
};

/** Every name a type goes by. */
export const TYPE_NAMES: readonly string[] = Object.keys(TYPES);

/** The type a name stands for, or undefined. */
export function typeNamed(name: string): FieldType | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(TYPES, key) ? TYPES[key] : undefined;
}

/** How a condition names a field of the evidence. */
export function resultPath(field: string): string {
  return /^[A-Za-z_]\w*$/.test(field) ? `result.${field}` : `result[${JSON.stringify(field)}]`;
}
