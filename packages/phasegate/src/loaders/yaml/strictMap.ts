import { own } from '@phasegate/core';
import { unknownKey } from '@phasegate/core/model';
import * as z from 'zod';
import { camelCase, knowBoth } from './spelling.ts';

/** What is said of a map beside its keys; the JSON Schema says it too. */
export interface Rules {
  /** Under which the JSON Schema defines it. */
  readonly name?: string;
  readonly description: string;
  /** Keys that must be there, in either spelling. */
  readonly needed?: readonly string[];
  /** Pairs of keys of which only one may be there. */
  readonly exclusive?: readonly (readonly [string, string])[];
  /** Keys of which at least one must be there. */
  readonly some?: readonly string[];
  /** A key that must be there exactly when a flag is `true`. */
  readonly withFlag?: { readonly flag: string; readonly key: string };
  /** A key that may be there only when a flag is `true`. */
  readonly onlyWithFlag?: { readonly flag: string; readonly key: string };
}

const rulesOf = new WeakMap<z.ZodType, Rules>();

/** A map with known keys, each in both spellings. */
export function strictMap(rules: Rules, shape: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const both: Record<string, z.ZodType> = {};
  for (const [key, schema] of Object.entries(shape)) {
    both[key] = schema;
    knowBoth(key);
    const twin = camelCase(key);
    if (twin !== key) both[twin] = schema.meta({ description: `The same as \`${key}\`.` });
  }
  const known = Object.keys(shape);
  let schema: z.ZodType = z.strictObject(both, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownKey(key, known)).join('\n')
        : undefined,
  });
  for (const [first, second] of exclusivePairs(rules, both)) {
    schema = refined(schema, second, 'conflict', {
      message: `\`${first}\` and \`${second}\` say the same thing; give one of them`,
      holds: (value) => !(first in value && second in value),
    });
  }
  for (const key of rules.needed ?? []) {
    schema = refined(schema, key, 'missing_key', {
      message: `\`${key}\` is missing`,
      holds: (value) => key in value || camelCase(key) in value,
    });
  }
  const { some, withFlag, onlyWithFlag } = rules;
  if (some !== undefined) {
    schema = refined(schema, some[0] as string, 'missing_key', {
      message: `one of ${some.map((key) => `\`${key}\``).join(' and ')} is needed`,
      holds: (value) => some.some((key) => key in value),
    });
  }
  if (withFlag !== undefined) {
    const { flag, key } = withFlag;
    schema = refined(schema, flag, 'missing_key', {
      message: `\`${flag}: true\` and \`${key}\` belong together`,
      holds: (value) => (own(value, flag) === true) === (key in value || camelCase(key) in value),
    });
  }
  if (onlyWithFlag !== undefined) {
    const { flag, key } = onlyWithFlag;
    // Each spelling by itself, so that the problem stands where the key does.
    for (const spelling of new Set([key, camelCase(key)])) {
      schema = refined(schema, spelling, 'conflict', {
        message: `\`${spelling}\` needs \`${flag}: true\` beside it`,
        holds: (value) => own(value, flag) === true || !(spelling in value),
      });
    }
  }
  const { name, description } = rules;
  schema = schema.meta({ description, ...(name === undefined ? {} : { id: name }) });
  rulesOf.set(schema, rules);
  return schema;
}

function exclusivePairs(rules: Rules, properties: object): readonly (readonly [string, string])[] {
  const twins = Object.keys(properties)
    .filter((key) => camelCase(key) !== key)
    .map((key) => [key, camelCase(key)] as const);
  return [...twins, ...(rules.exclusive ?? [])];
}

function refined(
  schema: z.ZodType,
  key: string,
  code: string,
  rule: { readonly message: string; readonly holds: (value: object) => boolean },
): z.ZodType {
  return schema.refine((value) => rule.holds(value as object), {
    path: [key],
    params: { code },
    error: rule.message,
    // Also beside other problems: everything is reported at once.
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
  });
}

/** The same rules as JSON Schema, for a map with these properties; nothing for what is no such map. */
export function rulesAsJsonSchema(schema: unknown, properties: object): Record<string, unknown> {
  const rules = rulesOf.get(schema as z.ZodType);
  if (rules === undefined) return {};
  const both = exclusivePairs(rules, properties).map((pair) => ({ not: { required: [...pair] } }));
  const inEitherSpelling = (key: string) => ({
    anyOf: [{ required: [key] }, { required: [camelCase(key)] }],
  });
  const either = (rules.needed ?? []).map(inEitherSpelling);
  const some = rules.some === undefined ? [] : [{ anyOf: rules.some.map((key) => ({ required: [key] })) }];
  const together =
    rules.withFlag === undefined ? [] : flagRules(rules.withFlag.flag, inEitherSpelling(rules.withFlag.key));
  const { onlyWithFlag: only } = rules;
  const alone = only === undefined ? [] : flagRules(only.flag, inEitherSpelling(only.key)).slice(1);
  const all = [...either, ...some, ...together, ...alone, ...both];
  return all.length === 0 ? {} : { allOf: all };
}

function flagRules(flag: string, key: object): readonly object[] {
  const set = { properties: { [flag]: { const: true } }, required: [flag] };
  return [{ anyOf: [{ not: set }, key] }, { anyOf: [set, { not: key }] }];
}
