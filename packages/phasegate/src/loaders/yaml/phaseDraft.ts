import { isJsonObject, type Json, own, type PhaseDraft, type PhaseId } from '@phasegate/core';
import { type ArtifactDraft, EVIDENCE_RULES, type GateDraft } from '@phasegate/core/model';
import { checkDrafts, gateDraft } from './gateDraft.ts';
import { routeDraft } from './routeDraft.ts';
import type { SchemaReader } from './schemaFiles.ts';
import { defined, type Spot, type Spots, textOf } from './spots.ts';
import type { YamlPath } from './yamlTree.ts';

/** What a phase is translated with. */
export interface PhaseTools {
  readonly spots: Spots;
  readonly readSchema: SchemaReader;
  /** Names of the contract's schemas. */
  readonly schemas: ReadonlySet<string>;
}

/** Translates one phase. */
export function phaseDraft(
  tools: PhaseTools,
  id: PhaseId,
  { spot, path }: { spot: Spot; path: YamlPath },
): PhaseDraft {
  const { spots } = tools;
  const at = (key: string) => [...path, key];
  return {
    id,
    ...defined({
      name: spots.text(spot, 'name', at('name')),
      description: spots.text(spot, 'description', at('description')),
      instructions: spots.text(spot, 'instructions', at('instructions')),
      work: workDraft(spots, spot, at('work')),
      allowedTools: spots.texts(spot, 'allowed_tools', at('allowedTools')),
      forbiddenTools: spots.texts(spot, 'forbidden_tools', at('forbiddenTools')),
      toolConstraints: spots.members(
        spots.get(spot, 'tool_constraints', at('toolConstraints')),
        at('toolConstraints'),
        (tool, place) =>
          defined({
            allowed: spots.texts(tool, 'allowed', [...place, 'allowed']),
            denied: spots.texts(tool, 'denied', [...place, 'denied']),
          }),
      ),
      writes: spots.texts(spot, 'writes', at('writes')),
      network: networkDraft(spots, spots.get(spot, 'network', at('network')), at('network')),
      tasks: spots.items(spots.get(spot, 'tasks', at('tasks')), at('tasks'), (task, place) =>
        taskDraft(spots, task, place),
      ),
      onlyWhen: spots.members(
        spots.get(spot, 'only_when', at('onlyWhen')),
        at('onlyWhen'),
        (values, place) => spots.items(values, place, ({ value }) => value) ?? [],
      ),
      preconditions: checkDrafts(
        spots,
        spots.get(spot, 'preconditions', at('preconditions')),
        at('preconditions'),
      ),
      postconditions: checkDrafts(
        spots,
        spots.get(spot, 'postconditions', at('postconditions')),
        at('postconditions'),
      ),
      fields: evidenceDraft(spots, spots.get(spot, 'required_evidence', at('fields')), at('fields')),
      artifacts: artifactDrafts(tools, spot, at('artifacts')),
      gates: gateDrafts(spots, spot, at('gates')),
      parallel: parallelDraft(spots, spot, at('parallel')),
      timeout: spots.text(spot, 'timeout', at('timeout')) ?? spots.number(spot, 'timeout', at('timeout')),
      next: routeDraft(spots, spot, at('next')),
    }),
  };
}

function networkDraft(spots: Spots, spot: Spot, path: YamlPath): PhaseDraft['network'] {
  if (spot.value === undefined) return undefined;
  return defined({ hosts: spots.texts(spot, 'hosts', [...path, 'hosts']) });
}

function workDraft(spots: Spots, spot: Spot, path: YamlPath): PhaseDraft['work'] {
  const command = spots.text(spot, 'command', path);
  if (command !== undefined) return { kind: 'command', command };
  const dispatch = spots.get(spot, 'dispatch', path);
  const agent = spots.text(dispatch, 'agent', [...path, 'agent']);
  if (agent === undefined) return undefined;
  return {
    kind: 'dispatch',
    agent,
    ...defined({
      script: spots.text(dispatch, 'script', [...path, 'script']),
      prompt: spots.text(dispatch, 'prompt', [...path, 'prompt']),
      supportsQuestions: spots.flag(dispatch, 'supports_questions', [...path, 'supportsQuestions']),
    }),
  };
}

function parallelDraft(spots: Spots, spot: Spot, path: YamlPath): PhaseDraft['parallel'] {
  const parallel = spots.flag(spot, 'parallel', path);
  const key = spots.text(spot, 'parallel_key', [...path, 'key']);
  if (parallel !== true || key === undefined) return undefined;
  return { key, ...defined({ onEmpty: spots.target(spot, 'on_empty', [...path, 'onEmpty']) }) };
}

function taskDraft(spots: Spots, spot: Spot, path: YamlPath) {
  const name = spots.text(spot, 'name', [...path, 'name']);
  if (name === undefined) return undefined;
  return {
    name,
    ...defined({
      instructions: spots.text(spot, 'instructions', [...path, 'instructions']),
      acceptanceCriteria: spots.texts(spot, 'acceptance_criteria', [...path, 'acceptanceCriteria']),
    }),
  };
}

function evidenceDraft(spots: Spots, spot: Spot, path: YamlPath): PhaseDraft['fields'] {
  const listed: readonly Spot[] = isJsonObject(spot.value)
    ? Object.entries(spot.value).map(([name, value]) => ({ value, at: [...spot.at, name] }))
    : Array.isArray(spot.value)
      ? spot.value.map((value: Json, index) => ({ value, at: [...spot.at, index] }))
      : [];
  if (spot.value === undefined) return undefined;
  const fields: NonNullable<PhaseDraft['fields']>[number][] = [];
  for (const field of listed) {
    const at = [...path, fields.length];
    const step = field.at.at(-1);
    const name = typeof step === 'string' ? step : textOf(own(field.value, 'name'));
    const type = spots.text(field, 'type', [...at, 'type']);
    if (name === undefined || type === undefined) continue;
    spots.map.put(at, field.at);
    fields.push({
      name,
      type,
      ...defined({
        rule: spots.choice(field, 'rule', [...at, 'rule'], EVIDENCE_RULES),
        falseOk: spots.flag(field, 'false_ok', [...at, 'falseOk']),
        description: spots.text(field, 'description', [...at, 'description']),
      }),
    });
  }
  return fields;
}

/** Artifacts, and after them the bare names among the evidence: any value will do for such a name. */
function artifactDrafts(tools: PhaseTools, spot: Spot, path: YamlPath): PhaseDraft['artifacts'] {
  const { spots } = tools;
  const artifacts = spots.items(spots.get(spot, 'required_artifacts', path), path, (artifact, place) =>
    artifactDraft(tools, artifact, place),
  );
  const evidence = spots.get(spot, 'required_evidence', [...path.slice(0, -1), 'fields']);
  const listed: readonly Json[] = Array.isArray(evidence.value) ? evidence.value : [];
  const bare = listed.flatMap((value, index) => {
    if (typeof value !== 'string') return [];
    const at = [...path, (artifacts?.length ?? 0) + index];
    spots.map.put(at, [...evidence.at, index]);
    return [{ type: value }];
  });
  return bare.length === 0 ? artifacts : [...(artifacts ?? []), ...bare];
}

function artifactDraft(tools: PhaseTools, spot: Spot, path: YamlPath): ArtifactDraft | undefined {
  if (typeof spot.value === 'string') return { type: spot.value };
  const type = tools.spots.text(spot, 'type', [...path, 'type']);
  if (type === undefined) return undefined;
  const schema = tools.spots.get(spot, 'schema', [...path, 'schema']);
  return {
    type,
    ...defined({
      description: tools.spots.text(spot, 'description', [...path, 'description']),
      schema: artifactSchema(tools, schema, [...path, 'schema']),
      verify: own(spot.value, 'verify'),
      bound: tools.spots.flag(spot, 'bound', [...path, 'bound']),
    }),
  };
}

/** The name of a schema, one in place, or, if it looks like a path and is not a name, one in a file. */
function artifactSchema(tools: PhaseTools, { value, at }: Spot, path: YamlPath): ArtifactDraft['schema'] {
  if (isJsonObject(value) || typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  if (tools.schemas.has(value) || !/[/\\]|\.(?:json|ya?ml)$/i.test(value)) return value;
  return tools.readSchema(value, at, path) ?? true;
}

function gateDrafts(spots: Spots, spot: Spot, path: YamlPath): PhaseDraft['gates'] {
  const read = (item: Spot, at: YamlPath): string | GateDraft | undefined => {
    if (typeof item.value === 'string') return item.value;
    return isJsonObject(item.value) ? gateDraft(spots, item, at) : undefined;
  };
  const several = spots.get(spot, 'gates', path);
  if (several.value !== undefined) return spots.items(several, path, read);
  const single = spots.get(spot, 'gate', [...path, 0]);
  const gate = read(single, [...path, 0]);
  return gate === undefined ? undefined : [gate];
}
