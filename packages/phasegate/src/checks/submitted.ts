import { type Json, type JsonObject, own } from '@phasegate/core';
import type { CheckAnswer, CheckImplementation } from '../runtime/ports.ts';
import { shown } from './scopePath.ts';

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
  /** How often the phase was entered, from 1. */
  readonly iteration: number;
  /** Another artifact by name, newest first. */
  artifact(name: string): Json | undefined;
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
      const artifact = (name: string) => newestArtifact(subject.scope, name);
      const name = parameters.artifact ?? rule.artifact;
      if (typeof name !== 'string') throw new TypeError('`artifact` must be a name');
      const value = artifact(name);
      if (value === undefined || value === null) {
        return refused(`no \`${name}\` was submitted; expected that ${rule.summary}`);
      }
      const entered = own(subject.scope, 'iteration');
      // A phase is never entered less than once; what is unknown is judged as strictly as the first time.
      const iteration = typeof entered === 'number' && entered >= 1 ? entered : 1;
      return rule.judge({ name, value, with: parameters, iteration, artifact });
    },
  };
}

/** An artifact by its type: what is being submitted now comes before what earlier phases submitted. */
export function newestArtifact(scope: JsonObject, type: string): Json | undefined {
  return own(own(scope, 'result'), type) ?? own(own(scope, 'artifacts'), type);
}

/** The answer that lets pass. */
export function held(reason: string): CheckAnswer {
  return { passed: true, reason };
}

/** The answer that refuses. */
export function refused(reason: string): CheckAnswer {
  return { passed: false, reason };
}

/** A whole number that is not negative; a boolean, a text or a missing value is none. */
export function countAt(value: Json, key: string): number | null {
  const count = own(value, key);
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

/** The refusal of an artifact that does not say what it should, with what it says. */
export function expectedAt(name: string, value: Json, key: string, expected: string): CheckAnswer {
  return refused(`\`${name}.${key}\` is ${shown(own(value, key))}, expected ${expected}`);
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
