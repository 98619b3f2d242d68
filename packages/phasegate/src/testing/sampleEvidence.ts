import type { Json, JsonObject, Phase } from '@phasegate/core';
import { evidenceProblems } from '@phasegate/core/engine';
import { type EvidenceField, sampleValue } from '@phasegate/core/model';
import { type JsonPath, valueAt, withValueAt } from './jsonPath.ts';

/** Evidence that a phase takes, or what it could not be made for. */
export type Sampled =
  | { readonly ok: true; readonly evidence: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** The least evidence that the fields and the schemas of a phase ask for. */
export function sampleEvidence({ evidence: rules }: Phase): Sampled {
  const made: Record<string, Json> = {};
  for (const field of rules.fields)
    if (field.rule !== 'optional') made[field.name] = field.exactly ?? FIELDS[field.type];
  for (const { type, schema } of rules.artifacts) {
    const value = sampleValue(schema);
    if (value === undefined || value === null) return { ok: false, reason: `\`${type}\`` };
    made[type] = value;
  }
  const [problem] = evidenceProblems(rules, made);
  return problem === undefined ? { ok: true, evidence: made } : { ok: false, reason: problem };
}

/** The evidence with the first of these values at a place that the phase takes there, or null where it takes none. */
export function evidenceWith(
  phase: Phase,
  evidence: JsonObject,
  { path, values }: { readonly path: JsonPath; readonly values: readonly Json[] },
): JsonObject | null {
  if (!mayHold(phase, path)) return null;
  for (const value of values) {
    const tried = withValueAt(evidence, path, value) as JsonObject;
    if (evidenceProblems(phase.evidence, tried).length === 0 && valueAt(tried, path) !== undefined)
      return tried;
  }
  return null;
}

/** A phase that says what it wants has nothing else; one that says nothing may have anything. */
function mayHold({ evidence: { fields, artifacts } }: Phase, path: JsonPath): boolean {
  const names = [...fields.map(({ name }) => name), ...artifacts.map(({ type }) => type)];
  return path.length > 0 && (names.length === 0 || names.includes(String(path[0])));
}

const FIELDS: Readonly<Record<EvidenceField['type'], Json>> = {
  int: 1,
  number: 1,
  str: 'made up',
  bool: true,
  list: ['made up'],
  object: { made: 'up' },
};
