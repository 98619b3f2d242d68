import { type Json, type JsonObject, own } from '@phasegate/core';
import { sampleValue } from '@phasegate/core/model';
import { REPLACE } from './evidence.ts';

/** A skeleton of the evidence a phase asks for. */
export interface ExampleEvidence {
  readonly evidence: JsonObject;
  /** Names for which nothing was found that their schema allows. */
  readonly open: readonly string[];
}

/** Makes the skeleton from the schemas and types: it has the right shape, and nothing in it is true. */
export function exampleEvidence(required: JsonObject): ExampleEvidence {
  const evidence: Record<string, Json> = {};
  const open: string[] = [];
  for (const [name, rule] of Object.entries(required)) {
    if (own(rule, 'validator') === 'optional') continue;
    const value = sampleOf(rule);
    if (value === undefined) open.push(name);
    evidence[name] = value ?? REPLACE;
  }
  return { evidence, open };
}

function sampleOf(rule: Json): Json | undefined {
  const type = String(own(rule, 'type'));
  const schema = own(rule, 'schema');
  if (type === 'artifact') return schema === undefined ? REPLACE : sampleValue(schema, REPLACE);
  return own(rule, 'exactly') ?? FIELDS[type];
}

const FIELDS: Readonly<Record<string, Json>> = {
  int: 1,
  number: 1,
  str: REPLACE,
  bool: true,
  list: [REPLACE],
  object: { [REPLACE]: REPLACE },
};
