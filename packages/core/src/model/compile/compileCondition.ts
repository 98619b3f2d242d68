import { isJsonObject, type JsonObject, own } from '../../json.ts';
import { checkpointNameProblem } from '../checkpointPath.ts';
import { type Expression, parseExpression, pathsOf, SCOPE_ROOTS } from '../expression/expression.ts';
import type { DraftPath } from '../problems.ts';
import { didYouMean } from '../suggest.ts';
import type { Condition, FunctionRef } from '../workflow.ts';
import type { PhasePlace } from './compileContext.ts';

/** Parses a condition and checks that what it names can exist. */
export function compileCondition(
  place: PhasePlace,
  draft: string | { readonly ref: FunctionRef; readonly source: string },
  path: DraftPath,
): Condition {
  if (typeof draft !== 'string') return { kind: 'function', ref: draft.ref, source: draft.source };
  const parsed = parseExpression(draft);
  if (!parsed.ok) {
    place.context.problems.error(
      path,
      'bad_condition',
      `the condition does not parse: ${parsed.error.message}`,
      parsed.error.at,
    );
    const expression: Expression = { kind: 'literal', value: false, at: 0 };
    return { kind: 'expression', source: draft, expression };
  }
  for (const named of pathsOf(parsed.expression)) {
    const problem = pathProblem(place, named.root, named.steps);
    if (problem !== null) place.context.problems.error(path, 'unknown_path', problem, named.at);
  }
  return { kind: 'expression', source: draft, expression: parsed.expression };
}

function pathProblem(place: PhasePlace, root: string, steps: readonly (string | number)[]): string | null {
  const { context, phase } = place;
  const artifact = phase.artifacts?.find((candidate) => candidate.type === root);
  const submitted = artifact !== undefined && !(SCOPE_ROOTS as readonly string[]).includes(root);
  if (place.entering && (submitted || root === 'result' || root === 'item')) {
    return `\`${root}\` is not there before phase \`${phase.id}\` is entered; earlier evidence is in \`artifacts\``;
  }
  if (submitted) return ruledOut(schemaOf(place, root), steps, root);
  const first = steps[0];
  switch (root) {
    case 'params':
      if (first === undefined || Object.hasOwn(context.params, String(first))) return null;
      return `there is no param \`${first}\`${didYouMean(String(first), Object.keys(context.params))}`;
    case 'item':
      return phase.parallel ? null : '`item` exists in a parallel phase only';
    case 'artifacts':
      if (first === undefined || context.evidenceNames.has(String(first))) return null;
      return `no phase asks for evidence \`${first}\`${didYouMean(String(first), context.evidenceNames)}`;
    case 'approved':
      if (first === undefined || context.coveredNames.has(String(first))) return null;
      return `no human gate covers \`${first}\`, so nobody approves it${didYouMean(String(first), context.coveredNames)}`;
    case 'result':
      return resultProblem(place, steps);
    case 'checkpoint':
      return first === undefined ? null : checkpointNameProblem(context, String(first));
    case 'state':
    case 'iteration':
      return null;
    default: {
      const roots = [...SCOPE_ROOTS, ...(phase.artifacts ?? []).map((candidate) => candidate.type)];
      return `\`${root}\` is nothing a condition can look at${didYouMean(root, roots)}; it can look at ${roots.join(', ')}`;
    }
  }
}

/** A phase that says what it wants as evidence has nothing else to look at. */
function resultProblem(place: PhasePlace, steps: readonly (string | number)[]): string | null {
  const first = steps[0];
  const declared = [
    ...(place.phase.fields ?? []).map((field) => field.name),
    ...(place.phase.artifacts ?? []).map((artifact) => artifact.type),
  ];
  if (first === undefined || declared.length === 0 || place.phase.parallel) return null;
  if (!declared.includes(String(first))) {
    return `phase \`${place.phase.id}\` asks for no evidence \`${first}\`${didYouMean(String(first), declared)}`;
  }
  return ruledOut(schemaOf(place, String(first)), steps.slice(1), `result.${first}`);
}

function schemaOf(place: PhasePlace, type: string): JsonObject | null {
  const schema = place.phase.artifacts?.find((artifact) => artifact.type === type)?.schema;
  const resolved = typeof schema === 'string' ? own(place.context.draft.schemas, schema) : schema;
  return isJsonObject(resolved) ? resolved : null;
}

/** Follows a path into a schema as far as the schema speaks plainly; only a certain no is a problem. */
function ruledOut(
  schema: JsonObject | null,
  steps: readonly (string | number)[],
  name: string,
): string | null {
  let here: JsonObject | null = schema;
  let walked = name;
  for (const step of steps) {
    if (
      here === null ||
      '$ref' in here ||
      'anyOf' in here ||
      'oneOf' in here ||
      'allOf' in here ||
      'if' in here
    )
      return null;
    const properties = isJsonObject(here.properties) ? here.properties : {};
    const known = typeof step === 'string' && Object.hasOwn(properties, step) ? properties[step] : undefined;
    if (typeof step === 'string' && known === undefined && step !== 'length') {
      if (here.type !== undefined && here.type !== 'object')
        return `\`${walked}\` is \`${String(here.type)}\` by its schema and has no \`${step}\``;
      if (here.additionalProperties === false && here.patternProperties === undefined) {
        return `the schema of \`${walked}\` has no \`${step}\`${didYouMean(step, Object.keys(properties))}`;
      }
    }
    here = isJsonObject(known) ? known : null;
    walked = typeof step === 'number' ? `${walked}[${step}]` : `${walked}.${step}`;
  }
  return null;
}
