import { isJsonObject, type Json, type JsonObject, own } from '../json.ts';
import { compileSchema, type SchemaProblem } from '../model/schema/jsonSchema.ts';
import type { Artifact, EvidenceField, EvidenceRules, Phase } from '../model/workflow.ts';

/** Everything wrong with submitted evidence; empty when it is complete. */
export function evidenceProblems(rules: EvidenceRules, evidence: JsonObject): readonly string[] {
  const problems: string[] = [];
  for (const field of rules.fields) {
    const problem = fieldProblem(field, own(evidence, field.name));
    if (problem !== null) problems.push(problem);
  }
  for (const artifact of rules.artifacts)
    problems.push(...artifactProblems(artifact, own(evidence, artifact.type)));
  return problems;
}

/** Whether evidence completes a phase, and what is missing. */
export function validateCheckpoint(
  phase: Phase,
  evidence: JsonObject,
): { readonly passed: boolean; readonly missing: readonly string[] } {
  const missing = evidenceProblems(phase.evidence, evidence);
  return { passed: missing.length === 0, missing };
}

/** What a phase wants to see, by name, as data for an agent. */
export function requiredEvidence(phase: Phase): JsonObject {
  const required: Record<string, Json> = {};
  for (const field of phase.evidence.fields) {
    required[field.name] = {
      type: field.type,
      validator: field.rule,
      description: field.description,
      ...(field.exactly === undefined ? {} : { exactly: field.exactly }),
    };
  }
  for (const artifact of phase.evidence.artifacts) {
    required[artifact.type] = {
      type: 'artifact',
      description: artifact.description,
      ...(artifact.schema === null ? {} : { schema: artifact.schema }),
    };
  }
  return required;
}

/** Exists, then type, then rule: the first failure ends the field. */
function fieldProblem(field: EvidenceField, value: Json | undefined): string | null {
  const description = field.description || 'no description';
  if (value === undefined || (value === null && field.rule !== 'optional')) {
    return field.rule === 'optional' ? null : `${field.name} (required: ${description})`;
  }
  if (value === null) return null;
  if (!hasType(field.type, value)) {
    return `${field.name} (wrong type: expected ${field.type}, got ${typeName(value)})`;
  }
  const reason = holds(field, value) ? notExactly(field, value) : ruleReason(field, description);
  return reason === null ? null : `${field.name} (validation failed: ${reason})`;
}

function ruleReason({ rule }: EvidenceField, description: string): string {
  return rule === 'is_true' ? `must be true: ${description}` : description;
}

/** What a list lacks, holds twice, or holds beside what it must. */
function notExactly({ exactly }: EvidenceField, value: Json): string | null {
  if (exactly === undefined || !Array.isArray(value)) return null;
  const given = value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  const unknown = value.flatMap((item: Json, index) =>
    typeof item === 'string' && exactly.includes(item) ? [] : [given[index] as string],
  );
  const parts = [
    ['missing', exactly.filter((name) => !value.includes(name))],
    ['unknown', [...new Set(unknown)].slice(0, SHOWN)],
    ['given twice', exactly.filter((name) => given.indexOf(name) !== given.lastIndexOf(name))],
  ] as const;
  const wrong = parts.filter(([, names]) => names.length > 0);
  if (wrong.length === 0) return null;
  return wrong
    .map(([what, names]) => `${what}: ${names.map((name) => name.slice(0, 80)).join(', ')}`)
    .join('; ');
}

/** No refusal grows with what was submitted. */
const SHOWN = 20;

function hasType(type: EvidenceField['type'], value: Json): boolean {
  switch (type) {
    // A boolean is not a number here, as it is in the language design 0 was written in.
    case 'int':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'str':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && !Array.isArray(value);
  }
}

function typeName(value: Json): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'number';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : 'object';
}

function holds(field: EvidenceField, value: Json): boolean {
  if (field.rule === 'present' || field.rule === 'optional') return true;
  if (field.rule === 'is_true') return value === true;
  if (typeof value === 'number') return field.rule === 'positive' ? value > 0 : true;
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return true;
}

function artifactProblems(artifact: Artifact, value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) {
    const about = artifact.description === '' ? '' : ` (${artifact.description})`;
    return [`Missing ${artifact.type}${about}`];
  }
  if (artifact.schema === null) return [];
  const validate = validatorOf(artifact);
  if (validate === null) return [`${artifact.type} (validation error: its schema cannot be used)`];
  return validate(value).map((problem) => `${artifact.type}${problem.path} ${problem.message}`);
}

/**
 * What of a phase cannot be used to judge anything: a schema this engine does not take. A definition with one is not
 * loaded, but a run may have been started before that was so.
 */
export function unusableSchemas(phase: Phase): readonly string[] {
  const known = unusable.get(phase);
  if (known !== undefined) return known;
  const found = findUnusable(phase);
  unusable.set(phase, found);
  return found;
}

// Looked at once per phase, as workflows are frozen.
const unusable = new WeakMap<Phase, readonly string[]>();

function findUnusable({ evidence, postconditions, blockers }: Phase): readonly string[] {
  const ofArtifacts = evidence.artifacts.flatMap((artifact) =>
    artifact.schema === null || validatorOf(artifact) !== null
      ? []
      : schemaDefects(artifact.schema).map((defect) => `the schema of \`${artifact.type}\` ${defect}`),
  );
  const ofChecks = [...postconditions, ...blockers].flatMap(({ id, use, with: { schema = null } }) =>
    use === 'json_schema' && (isJsonObject(schema) || typeof schema === 'boolean')
      ? schemaDefects(schema).map((defect) => `the schema of check \`${id}\` ${defect}`)
      : [],
  );
  return [...ofArtifacts, ...ofChecks];
}

function schemaDefects(schema: JsonObject | boolean): readonly string[] {
  const compiled = compileSchema(schema);
  return compiled.ok ? [] : compiled.problems.map(({ message }) => message);
}

type Validate = (value: Json) => readonly SchemaProblem[];

// Compiled once per artifact object: workflows are frozen, so the object stands for its schema.
const validators = new WeakMap<Artifact, Validate>();

function validatorOf(artifact: Artifact): Validate | null {
  const known = validators.get(artifact);
  if (known !== undefined) return known;
  const compiled = compileSchema(artifact.schema as JsonObject | boolean);
  if (!compiled.ok) return null;
  validators.set(artifact, compiled.validate);
  return compiled.validate;
}
