import {
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  type PhaseDraft,
  type WorkflowDraft,
} from '@phasegate/core';
import {
  type GateDraft,
  ONE_RUN_PER,
  type ParamDraft,
  type PropertyDraft,
  RINGS,
  readPhaseId,
  WORKSPACE_USES,
} from '@phasegate/core/model';
import { gateDraft } from './gateDraft.ts';
import { phaseDraft } from './phaseDraft.ts';
import type { SchemaReader } from './schemaFiles.ts';
import type { SourceMap } from './sourceMap.ts';
import { defined, phaseIdOf, type Spot, Spots, textOf } from './spots.ts';
import type { YamlPath } from './yamlTree.ts';

/** One more than a workflow may have, so that too many are still too many. */
const MAX_PHASES = 1001;

/**
 * Translates a contract into a draft. Takes what has the right shape and passes over the rest in silence: the
 * shape is judged elsewhere, and whatever can still be checked shall be.
 */
export function draftOf(value: JsonObject, map: SourceMap, readSchema: SchemaReader): WorkflowDraft {
  const spots = new Spots(map);
  const root: Spot = { value, at: [] };
  const version = spots.get(root, 'version', ['version']);
  const named = spots.get(root, 'schemas', ['schemas']);
  const schemas = spots.members(named, ['schemas'], (spot, path) => {
    if (typeof spot.value === 'string') return readSchema(spot.value, spot.at, path) ?? true;
    // One that is not available allows anything, so that its name stays known.
    return isJsonObject(spot.value) || typeof spot.value === 'boolean' ? spot.value : true;
  });
  return {
    id: spots.text(root, 'workflow', ['id']) ?? 'workflow',
    ...defined({
      title: spots.text(root, 'title', ['title']),
      version: typeof version.value === 'number' ? map.sourceOf(version.at) : textOf(version.value),
      description: spots.text(root, 'description', ['description']),
      entry: phaseIdOf(spots.get(root, 'entry', ['entry']).value),
      params: spots.members(spots.get(root, 'params', ['params']), ['params'], (spot) =>
        paramDraft(spot.value),
      ),
      tools: spots.members(
        spots.get(root, 'tools', ['tools']),
        ['tools'],
        (spot, path) => spots.textsOf(spot, path) ?? [],
      ),
      schemas,
      enforcement: enforcementDraft(spots, spots.get(root, 'enforcement', ['enforcement'])),
      capabilities: spots.texts(root, 'capabilities', ['capabilities']),
      oneRunPer: spots.choice(root, 'one_run_per', ['oneRunPer'], ONE_RUN_PER),
      start: spots.text(root, 'start', ['start']),
      database: databaseDraft(spots, spots.get(root, 'database', ['database'])),
      gates: gatesDraft(spots, spots.get(root, 'gates', ['gates'])),
      properties: spots.items(spots.get(root, 'properties', ['properties']), ['properties'], (spot, path) =>
        propertyDraft(spots, spot, path),
      ),
    }),
    phases: phasesDraft(spots, spots.get(root, 'phases', ['phases']), {
      readSchema,
      schemas: new Set(Object.keys(schemas ?? {})),
    }),
  };
}

function enforcementDraft(spots: Spots, spot: Spot): WorkflowDraft['enforcement'] {
  if (!isJsonObject(spot.value)) return undefined;
  const tokens = spots.get(spot, 'phase_tokens', ['enforcement', 'tokenSeconds']);
  const mode = spots.choice(spot, 'mode', ['enforcement', 'mode'], ['strict', 'permissive', 'advisory']);
  return defined({
    mode: mode === 'advisory' ? ('permissive' as const) : mode,
    ring: spots.choice(spot, 'ring', ['enforcement', 'ring'], RINGS),
    workspace: spots.choice(spot, 'workspace', ['enforcement', 'workspace'], WORKSPACE_USES),
    tokenSeconds: spots.number(tokens, 'expiry_seconds', ['enforcement', 'tokenSeconds']),
    leaseSeconds: spots.number(spot, 'lease_seconds', ['enforcement', 'leaseSeconds']),
    maxReclaims: spots.number(spot, 'max_reclaims', ['enforcement', 'maxReclaims']),
  });
}

function databaseDraft(spots: Spots, spot: Spot): WorkflowDraft['database'] {
  const file = spots.text(spot, 'file', ['database', 'file']);
  if (file === undefined) return undefined;
  return {
    file,
    ...defined({
      migrations: spots.text(spot, 'migrations', ['database', 'migrations']),
      keep: spots.number(spot, 'keep', ['database', 'keep']),
    }),
  };
}

function propertyDraft(spots: Spots, spot: Spot, path: YamlPath): PropertyDraft | undefined {
  const name = spots.text(spot, 'name', [...path, 'name']);
  if (name === undefined) return undefined;
  const names = (key: 'always' | 'never' | 'before') => {
    const { value } = spots.get(spot, key, [...path, key]);
    if (value === undefined) return undefined;
    const list = Array.isArray(value) ? value : [value];
    return list.map((item: Json) => phaseIdOf(item)).filter((id) => id !== undefined);
  };
  return { name, ...defined({ always: names('always'), never: names('never'), before: names('before') }) };
}

function gatesDraft(spots: Spots, spot: Spot): WorkflowDraft['gates'] {
  if (!Array.isArray(spot.value)) {
    return spots.members(spot, ['gates'], (gate, path) => gateDraft(spots, gate, path));
  }
  const gates: [string, GateDraft][] = [];
  const seen = new Set<string>();
  spot.value.forEach((value: Json, index) => {
    const id = textOf(own(value, 'id'));
    if (id === undefined || seen.has(id)) return;
    seen.add(id);
    const gate = { value, at: [...spot.at, index] };
    spots.map.put(['gates', id], gate.at);
    // The name is the list's; a gate in a map has none of its own, and both must come to the same.
    const { id: _, ...rest } = gateDraft(spots, gate, ['gates', id]);
    gates.push([id, rest]);
  });
  return Object.fromEntries(gates);
}

function phasesDraft(
  spots: Spots,
  spot: Spot,
  tools: { readonly readSchema: SchemaReader; readonly schemas: ReadonlySet<string> },
): readonly PhaseDraft[] {
  const listed = isJsonObject(spot.value)
    ? Object.entries(spot.value).map(([key, value]) => ({
        id: readPhaseId(key),
        value,
        at: [...spot.at, key],
      }))
    : Array.isArray(spot.value)
      ? spot.value.map((value: Json, index) => ({
          id: phaseIdOf(own(value, 'id')),
          value,
          at: [...spot.at, index],
        }))
      : [];
  const phases: PhaseDraft[] = [];
  const seen = new Set<string>();
  for (const { id, value, at } of listed.slice(0, MAX_PHASES)) {
    // A second phase of the same id is reported with both places by the loader.
    if (id === undefined || seen.has(String(id))) continue;
    seen.add(String(id));
    const path = ['phases', phases.length];
    spots.map.put(path, at);
    spots.map.put([...path, 'id'], Array.isArray(spot.value) ? [...at, 'id'] : at);
    phases.push(phaseDraft({ spots, ...tools }, id, { spot: { value, at }, path }));
  }
  return phases;
}

function paramDraft(value: Json | undefined): ParamDraft {
  const choices = own(value, 'choices');
  const [min, max, required] = [own(value, 'min'), own(value, 'max'), own(value, 'required')];
  return defined({
    type: textOf(own(value, 'type')),
    description: textOf(own(value, 'description')),
    choices: Array.isArray(choices) ? choices : undefined,
    min: typeof min === 'number' ? min : undefined,
    max: typeof max === 'number' ? max : undefined,
    constant: own(value, 'constant'),
    default: own(value, 'default'),
    required: typeof required === 'boolean' ? required : undefined,
    setBy: textOf(own(value, 'set_by') ?? own(value, 'setBy')),
  });
}
