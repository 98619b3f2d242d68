import type { JsonObject } from '../../json.ts';
import { checkpointPathProblem } from '../checkpointPath.ts';
import type { ArtifactDraft, PhaseDraft, RouteDraft } from '../draft.ts';
import { parseDuration } from '../duration.ts';
import { hostProblem } from '../hosts.ts';
import { onlyWhenChecks } from '../onlyWhen.ts';
import type { DraftPath } from '../problems.ts';
import { compileSchema } from '../schema/jsonSchema.ts';
import {
  type Artifact,
  type EvidenceField,
  type EvidenceRules,
  OUTCOMES,
  type Outcome,
  type Phase,
  type Route,
  type Target,
  type Work,
} from '../workflow.ts';
import { compileCheck, compileChecks } from './compileCheck.ts';
import { compileCondition } from './compileCondition.ts';
import type { CompileContext, PhasePlace } from './compileContext.ts';
import { compileGates } from './compileGates.ts';
import { compileTools } from './compileTools.ts';
import { compileVerifications } from './compileVerifications.ts';

/** Compiles one phase; problems go to the context. */
export function compilePhase(context: CompileContext, index: number, number: number): Phase {
  const phase = context.draft.phases[index] as PhaseDraft;
  const place: PhasePlace = { context, phase, path: ['phases', index] };
  const name = phase.name ?? String(phase.id);
  const evidence = compileEvidence(place);
  const gates = compileGates(place);
  const work = compileWork(phase);
  const next = compileRoute(place, index);
  checkWork(place, work, next);
  return {
    id: phase.id,
    number,
    name,
    description: phase.description ?? '',
    instructions: phase.instructions ?? '',
    content: phase.content ?? null,
    sourceId: phase.sourceId ?? null,
    render: phase.render ?? null,
    work,
    tasks: (phase.tasks ?? []).map((task) => ({
      name: task.name,
      instructions: task.instructions ?? '',
      acceptanceCriteria: task.acceptanceCriteria ?? [],
      content: task.content ?? null,
    })),
    ...compileTools(place),
    ...compileNetwork(place),
    preconditions: [
      ...compileChecks(place, phase.preconditions ?? [], 'preconditions'),
      ...onlyWhenChecks(place),
    ],
    evidence,
    postconditions: [
      ...compileChecks(place, phase.postconditions ?? [], 'postconditions'),
      ...compileVerifications(place),
    ],
    blockers: gates.blockers.map((blocker, position) =>
      compileCheck(place, { ...blocker, id: `${phase.id}/blockers/${position}` }),
    ),
    humanGate: gates.human,
    parallel: compileParallel(place),
    next,
    ...compileTimeout(place),
    ...(phase.args === undefined ? {} : { args: phase.args }),
    ...(phase.onlyWhen === undefined ? {} : { onlyWhen: phase.onlyWhen }),
  };
}

function compileWork(phase: PhaseDraft): Work {
  const work = phase.work;
  if (work === undefined) return { kind: 'agent' };
  if (work.kind !== 'dispatch') return work;
  return {
    kind: 'dispatch',
    agent: work.agent,
    script: work.script ?? null,
    prompt: work.prompt ?? null,
    supportsQuestions: work.supportsQuestions ?? false,
  };
}

function checkWork({ context, path }: PhasePlace, work: Work, next: Route): void {
  if (work.kind === 'command' && work.command.trim() === '') {
    context.problems.error([...path, 'work', 'command'], 'bad_command', 'the command is empty');
  }
  if (next.kind !== 'outcomes') return;
  const handled = work.kind === 'handler' || work.kind === 'dispatch';
  if (next.map.skip !== undefined && !handled) {
    context.problems.note(
      [...path, 'next', 'outcomes', 'skip'],
      'unreachable_outcome',
      '`skip` comes from handlers only, and this phase has none',
    );
  }
}

function compileNetwork({ context, phase, path }: PhasePlace): Pick<Phase, 'hosts'> {
  const hosts = phase.network?.hosts ?? [];
  hosts.forEach((host, index) => {
    const problem = hostProblem(host);
    if (problem !== null) context.problems.error([...path, 'network', 'hosts', index], 'bad_value', problem);
  });
  return hosts.length === 0 ? {} : { hosts };
}

const LONGEST_SECONDS = 7 * 86_400;

function compileTimeout({ context, phase, path }: PhasePlace): Pick<Phase, 'timeoutSeconds'> {
  const { timeout } = phase;
  if (timeout === undefined) return {};
  const seconds = typeof timeout === 'number' ? timeout : parseDuration(timeout);
  if (seconds !== null && Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_SECONDS) {
    return { timeoutSeconds: seconds };
  }
  const message =
    'a `timeout` is a whole number of seconds or a duration such as `90s`, `5m` or `2h`, at most `7d`';
  context.problems.error([...path, 'timeout'], 'bad_value', message);
  return {};
}

function compileParallel(place: PhasePlace): Phase['parallel'] {
  const { context, phase, path } = place;
  if (phase.parallel === undefined) return null;
  const { key, onEmpty } = phase.parallel;
  const wrong = checkpointPathProblem(context, key);
  if (wrong !== null) context.problems.error([...path, 'parallel', 'key'], 'bad_path', wrong);
  if (onEmpty === undefined) return { key };
  return { key, onEmpty: target(place, onEmpty, [...path, 'parallel', 'onEmpty']) };
}

const FIELD_TYPES: Readonly<Record<string, EvidenceField['type']>> = {
  int: 'int',
  integer: 'int',
  str: 'str',
  string: 'str',
  list: 'list',
  array: 'list',
  bool: 'bool',
  boolean: 'bool',
  number: 'number',
  float: 'number',
  object: 'object',
  dict: 'object',
};

function compileEvidence(place: PhasePlace): EvidenceRules {
  const { context, phase, path } = place;
  const seen = new Set<string>();
  const once = (name: string, at: DraftPath) => {
    if (seen.has(name))
      context.problems.error(at, 'duplicate_evidence', `evidence \`${name}\` is asked for twice`);
    seen.add(name);
  };
  const fields = (phase.fields ?? []).map((field, index): EvidenceField => {
    once(field.name, [...path, 'fields', index, 'name']);
    const type = Object.hasOwn(FIELD_TYPES, field.type) ? FIELD_TYPES[field.type] : undefined;
    if (type === undefined) {
      const hint = context.problems.hint(field.type, () => Object.keys(FIELD_TYPES));
      const message = `evidence \`${field.name}\` has the unknown type \`${field.type}\`${hint}`;
      context.problems.error([...path, 'fields', index, 'type'], 'bad_type', message);
    }
    return {
      name: field.name,
      type: type ?? 'str',
      rule: ruleOf(place, field, { type: type ?? 'str', at: [...path, 'fields', index] }),
      description: field.description ?? '',
      ...(field.exactly === undefined ? {} : { exactly: field.exactly }),
    };
  });
  const artifacts = (phase.artifacts ?? []).map((artifact, index): Artifact => {
    once(artifact.type, [...path, 'artifacts', index, 'type']);
    return compileArtifact(place, artifact, index);
  });
  return { fields, artifacts, ...(phase.examples === undefined ? {} : { examples: phase.examples }) };
}

/** A boolean says yes unless its definition says that `false` will do: most ask for what was done. */
function ruleOf(
  { context }: PhasePlace,
  { name, rule, falseOk }: NonNullable<PhaseDraft['fields']>[number],
  { type, at }: { readonly type: EvidenceField['type']; readonly at: DraftPath },
): EvidenceField['rule'] {
  if (type !== 'bool') {
    if (falseOk !== undefined || rule === 'is_true') {
      const message = `evidence \`${name}\` is not a boolean, so \`false\` is nothing it can be`;
      context.problems.error([...at, falseOk === undefined ? 'rule' : 'falseOk'], 'bad_value', message);
    }
    return rule ?? 'present';
  }
  if (falseOk === true && rule === 'is_true') {
    const message = `evidence \`${name}\` must be \`true\` and may be \`false\`; say one of the two`;
    context.problems.error([...at, 'falseOk'], 'conflict', message);
  }
  if (rule === 'present' || rule === 'optional') return rule;
  return falseOk === true ? 'present' : 'is_true';
}

function compileArtifact({ context, path }: PhasePlace, artifact: ArtifactDraft, index: number): Artifact {
  const at = [...path, 'artifacts', index];
  return {
    type: artifact.type,
    description: artifact.description ?? '',
    schema: artifactSchema(),
    ...(artifact.bound === true ? { bound: true } : {}),
  };

  function artifactSchema(): JsonObject | boolean | null {
    if (artifact.schema === undefined) return null;
    if (typeof artifact.schema === 'string') {
      // Only a schema of the author's own: `__proto__` would find one that takes everything.
      const found = context.schemas.has(artifact.schema)
        ? context.draft.schemas?.[artifact.schema]
        : undefined;
      if (found !== undefined) return found;
      const hint = context.problems.hint(artifact.schema, () => context.schemas);
      context.problems.error(
        [...at, 'schema'],
        'unknown_schema',
        `there is no schema \`${artifact.schema}\`${hint}`,
      );
      return null;
    }
    const compiled = compileSchema(artifact.schema);
    for (const defect of compiled.ok ? [] : compiled.problems) {
      const message = `the schema of \`${artifact.type}\` ${defect.message}`;
      context.problems.error([...at, 'schema', ...defect.path], 'bad_schema', message);
    }
    return artifact.schema;
  }
}

function compileRoute(place: PhasePlace, index: number): Route {
  const { context, phase } = place;
  const path = [...place.path, 'next'];
  const draft: RouteDraft = phase.next ?? { to: context.draft.phases[index + 1]?.id ?? null };
  if ('to' in draft) return { kind: 'to', target: target(place, draft.to, path) };
  const limit = draft.maxIterations;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 1000)) {
    const message = '`maxIterations` is a whole number from 1 to 1000';
    context.problems.error([...path, 'maxIterations'], 'bad_value', message);
  }
  const loop = {
    maxIterations: limit ?? null,
    ...(draft.onExhausted === undefined
      ? {}
      : { onExhausted: target(place, draft.onExhausted, [...path, 'onExhausted']) }),
  };
  if ('condition' in draft) {
    return {
      kind: 'when',
      condition: compileCondition(place, draft.condition, [...path, 'condition']),
      onTrue: target(place, draft.onTrue, [...path, 'onTrue']),
      onFalse: target(place, draft.onFalse, [...path, 'onFalse']),
      ...loop,
    };
  }
  return { kind: 'outcomes', ...compileOutcomes(place, draft.outcomes, [...path, 'outcomes']), ...loop };
}

function compileOutcomes(
  place: PhasePlace,
  outcomes: Readonly<Record<string, Target | undefined>>,
  path: DraftPath,
): { readonly map: Partial<Record<Outcome, Target>>; readonly otherwise?: Target } {
  const map: Partial<Record<Outcome, Target>> = {};
  let otherwise: { readonly otherwise?: Target } = {};
  if (Object.keys(outcomes).length === 0) {
    place.context.problems.error(path, 'no_outcomes', 'a map of outcomes needs at least one');
  }
  for (const [key, to] of Object.entries(outcomes)) {
    if (to === undefined) continue;
    const compiled = target(place, to, [...path, key]);
    const outcome = OUTCOMES.find((candidate) => candidate === key);
    if (outcome !== undefined) map[outcome] = compiled;
    else if (key === '_default') otherwise = { otherwise: compiled };
    else {
      const hint = place.context.problems.hint(key, () => [...OUTCOMES, '_default']);
      place.context.problems.error([...path, key], 'unknown_outcome', `\`${key}\` is not an outcome${hint}`);
    }
  }
  return { map, ...otherwise };
}

function target(place: PhasePlace, to: Target, path: DraftPath): Target {
  const ids = place.context.draft.phases.map((phase) => phase.id);
  if (to === null || ids.includes(to)) return to;
  const nearest = place.context.problems.nearest(to, () => ids.map(String));
  const hint = nearest === null ? '' : ` (did you mean \`${nearest}\`?)`;
  const message = `phase \`${place.phase.id}\` leads to \`${to}\`, which is not defined${hint}`;
  place.context.problems.error(path, 'unknown_phase', message);
  // As if it led where it was probably meant to, so that one mistake is not reported again as phases nobody reaches.
  return ids.find((id) => String(id) === nearest) ?? ids[ids.indexOf(place.phase.id) + 1] ?? null;
}
