import { isJsonObject, type JsonObject, own } from '../../json.ts';
import { checkpointNameProblem } from '../checkpointPath.ts';
import type { ArtifactDraft } from '../draft.ts';
import { type Expression, parseExpression, pathsOf, SCOPE_ROOTS } from '../expression/expression.ts';
import type { DraftPath } from '../problems.ts';
import { didYouMean } from '../suggest.ts';
import type { Condition, FunctionRef } from '../workflow.ts';
import type { Declared, PhasePlace } from './compileContext.ts';

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
  const submitted =
    declaredBy(place).artifacts.has(root) && !(SCOPE_ROOTS as readonly string[]).includes(root);
  if (place.entering && (submitted || root === 'result' || root === 'item')) {
    return `\`${root}\` is not there before phase \`${phase.id}\` is entered; earlier evidence is in \`artifacts\``;
  }
  if (submitted) return ruledOut(schemaOf(place, root), steps, root);
  const first = steps[0];
  switch (root) {
    case 'params':
      if (first === undefined || Object.hasOwn(context.params, String(first))) return null;
      return `there is no param \`${first}\`${context.problems.hint(first, () => Object.keys(context.params))}`;
    case 'item':
      return phase.parallel ? null : '`item` exists in a parallel phase only';
    case 'artifacts':
      if (first === undefined || context.evidenceNames.has(String(first))) return null;
      return `no phase asks for evidence \`${first}\`${context.problems.hint(first, () => context.evidenceNames)}`;
    case 'approved':
      if (first === undefined || context.coveredNames.has(String(first))) return null;
      return `no human gate covers \`${first}\`, so nobody approves it${context.problems.hint(first, () => context.coveredNames)}`;
    case 'result':
      return resultProblem(place, steps);
    case 'checkpoint':
      return first === undefined ? null : checkpointNameProblem(context, String(first));
    case 'state':
    case 'iteration':
      return null;
    default: {
      const roots = [...SCOPE_ROOTS, ...[...declaredBy(place).artifacts.keys()].slice(0, MOST_NAMED)];
      return `\`${root}\` is nothing a condition can look at${context.problems.hint(root, () => roots)}; it can look at ${roots.join(', ')}`;
    }
  }
}

/** A phase that says what it wants as evidence has nothing else to look at. */
function resultProblem(place: PhasePlace, steps: readonly (string | number)[]): string | null {
  const first = steps[0];
  const declared = declaredBy(place).names;
  if (first === undefined || declared.size === 0 || place.phase.parallel) return null;
  if (!declared.has(String(first))) {
    return `phase \`${place.phase.id}\` asks for no evidence \`${first}\`${place.context.problems.hint(first, () => declared)}`;
  }
  return ruledOut(schemaOf(place, String(first)), steps.slice(1), `result.${first}`);
}

/** How many names a message lists beside those that are always there. */
const MOST_NAMED = 30;

/** Made once for each phase: it may have many conditions, and ask for much. */
function declaredBy({ context, phase }: PhasePlace): Declared {
  const known = context.declared.get(phase);
  if (known !== undefined) return known;
  const artifacts = new Map<string, ArtifactDraft>();
  for (const artifact of phase.artifacts ?? [])
    if (!artifacts.has(artifact.type)) artifacts.set(artifact.type, artifact);
  const names = new Set([...(phase.fields ?? []).map((field) => field.name), ...artifacts.keys()]);
  const made = { artifacts, names };
  context.declared.set(phase, made);
  return made;
}

function schemaOf(place: PhasePlace, type: string): JsonObject | null {
  const schema = declaredBy(place).artifacts.get(type)?.schema;
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
