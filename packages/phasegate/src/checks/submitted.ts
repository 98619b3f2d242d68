import { type Json, type JsonObject, own, type Subject } from '@phasegate/core';
import type { CheckAnswer, CheckImplementation } from '../runtime/ports.ts';
import { display } from './scopePath.ts';

/**
 * A check on artifacts an agent submitted. Its answer is as good as the agent's word: it refuses what is missing,
 * malformed or says the wrong thing, and a `command` is the way to see for oneself.
 */
export interface SubmittedRule {
  readonly name: string;
  readonly summary: string;
  /** The artifact it looks at unless `with.artifact` names another. */
  readonly artifact: string;
  /** Parameters beside `artifact`, as JSON Schemas. */
  readonly properties?: JsonObject;
  readonly required?: readonly string[];
  /** Parameters of which only one may be given. */
  readonly exclusive?: readonly [string, string];
  judge(subject: SubmittedSubject): CheckAnswer;
}

/** What a rule is given. */
export interface SubmittedSubject {
  /** The name of the artifact looked at. */
  readonly name: string;
  readonly value: Json;
  readonly with: JsonObject;
  /** The how-manieth visit it is in which something valid is judged, from 1. */
  readonly iteration: number;
  /** What the thing looked at is measured against, by name. Never something an agent hands in beside it. */
  measure(name: string): Json | undefined;
}

/** Makes a check of a rule. A missing artifact fails before the rule is asked. */
export function submittedCheck(rule: SubmittedRule): CheckImplementation {
  return {
    name: rule.name,
    summary: rule.summary,
    class: 'claimed',
    reads: 'subject',
    parameters: {
      type: 'object',
      additionalProperties: false,
      ...(rule.required === undefined ? {} : { required: rule.required }),
      ...(rule.exclusive === undefined ? {} : { not: { required: rule.exclusive } }),
      properties: {
        artifact: {
          type: 'string',
          minLength: 1,
          description: `Type of the artifact to look at; \`${rule.artifact}\` by default`,
        },
        ...rule.properties,
      },
    },
    async run({ with: parameters, subject }) {
      const name = parameters.artifact ?? rule.artifact;
      if (typeof name !== 'string') throw new TypeError('`artifact` must be a name');
      const value = newestArtifact(subject.scope, name);
      if (value === undefined || value === null) {
        return refuse(`no \`${name}\` was submitted; expected that ${rule.summary}`);
      }
      const measure = (other: string) => measuredAgainst(subject, other);
      return rule.judge({ name, value, with: parameters, iteration: subject.reviews, measure });
    },
  };
}

/**
 * What something is measured against: what this phase declares itself, else what a human approved where a gate covers
 * the name, else the newest of the phases that declare it. Where nobody has approved it yet, it is missing.
 */
export function measuredAgainst({ scope, declares, covered }: Subject, name: string): Json | undefined {
  if (declares.includes(name)) return own(own(scope, 'result'), name) ?? own(own(scope, 'artifacts'), name);
  return own(own(scope, covered.includes(name) ? 'approved' : 'artifacts'), name);
}

/** An artifact by its type: what is being submitted now comes before what earlier phases submitted. */
export function newestArtifact(scope: JsonObject, type: string): Json | undefined {
  return own(own(scope, 'result'), type) ?? own(own(scope, 'artifacts'), type);
}

/** The answer that lets pass. */
export function pass(reason: string): CheckAnswer {
  return { passed: true, reason };
}

/** The answer that refuses. */
export function refuse(reason: string): CheckAnswer {
  return { passed: false, reason };
}

/** A whole number that is not negative; a boolean, a text or a missing value is none. */
export function countAt(value: Json, key: string): number | null {
  const count = own(value, key);
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

/** The refusal of an artifact that does not say what it should, with what it says. */
export function expectedAt(name: string, value: Json, key: string, expected: string): CheckAnswer {
  return refuse(`\`${name}.${key}\` is ${display(own(value, key))}, expected ${expected}`);
}

/** The first of the keys that is there, or the value itself where it is a list. */
export function listIn(value: Json, keys: readonly string[]): readonly Json[] | null {
  if (Array.isArray(value)) return value;
  for (const key of keys) {
    const list = own(value, key);
    if (list !== undefined) return Array.isArray(list) ? list : null;
  }
  return null;
}
