import { isJsonObject, type Json, type JsonObject, own, type PhaseId } from '@phasegate/core';
import { approvalGate, asksHuman, type GateDraft } from '@phasegate/core/model';
import type { DefinitionProblem, PhaseModel } from '../../runtime/ports.ts';
import { gateDraft } from './gateDraft.ts';
import { phaseDraft } from './phaseDraft.ts';
import { isPhaseModelKey, phaseModelSchema } from './phaseModelSchema.ts';
import { shapeInOne } from './shapeProblems.ts';
import { SourceMap } from './sourceMap.ts';
import { camelCase } from './spelling.ts';
import { type Spot, Spots } from './spots.ts';
import type { YamlPath, YamlTree } from './yamlTree.ts';

/** A part of a file that may hold the keys of a phase. */
export interface ModelSource {
  readonly tree: YamlTree;
  /** Where in the file the keys stand. */
  readonly at: YamlPath;
  readonly id: PhaseId;
}

/** Reads them as the loader of contracts does; what is wrong is in `problems`. */
export function readPhaseModel({ tree, at, id }: ModelSource): PhaseModel {
  const { file } = tree;
  const problems: DefinitionProblem[] = [];
  const placeOf = (path: YamlPath, part?: 'key' | 'value') => ({
    file,
    ...tree.lines.at(tree.offsetOf(path, part)),
  });
  const error: Complaint = (path, code, message) => {
    problems.push({ place: placeOf(path), code, message });
  };
  const value = modelKeysOf(valueAt(tree.value, at));
  for (const { path, code, message, at: part } of shapeInOne(value, phaseModelSchema))
    problems.push({ place: placeOf([...at, ...path], part), code, message });
  const map = new SourceMap(tree);
  const spots = new Spots(map);
  const spot: Spot = { value, at };
  const readSchema = (named: string, place: YamlPath) => {
    error(place, 'bad_schema', `\`${named}\`: in a folder a schema is written in place`);
    return undefined;
  };
  const { id: _, ...draft } = phaseDraft({ spots, readSchema, schemas: new Set() }, id, { spot, path: [] });
  const asked = humanAsked({ spot, spots }, id, error);
  const gates = [...(draft.gates ?? []), ...gatesOf(spots, spot, draft.gates?.length ?? 0)];
  const all = asked.gate !== null && !gates.some(asksHuman) ? [...gates, asked.gate] : gates;
  return {
    file,
    draft: all.length === 0 ? draft : { ...draft, gates: all },
    noHuman: asked.none,
    problems,
    locate: (path) => {
      const place = map.locate(path);
      return place === null ? null : placeOf(place.path);
    },
  };
}

type Complaint = (path: YamlPath, code: string, message: string) => void;

function valueAt(value: Json | undefined, path: YamlPath): JsonObject {
  let here: Json | undefined = value;
  for (const step of path) here = own(here, String(step));
  return isJsonObject(here) ? here : {};
}

function modelKeysOf(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => isPhaseModelKey(key)));
}

/** The `blockers` and `human` of the file itself: it is a gate. */
function gatesOf(spots: Spots, spot: Spot, index: number): readonly GateDraft[] {
  if (own(spot.value, 'blockers') === undefined && own(spot.value, 'human') === undefined) return [];
  return [gateDraft(spots, spot, ['gates', index])];
}

interface Asked {
  readonly gate: GateDraft | null;
  readonly none: boolean;
}

/** `human_approval_required: true`, and what `human_gate` says. */
function humanAsked(
  { spot, spots }: { readonly spot: Spot; readonly spots: Spots },
  id: PhaseId,
  complain: Complaint,
): Asked {
  const required = spots.flag(spot, 'human_approval_required', ['approval']) === true;
  const human = spots.get(spot, 'human_gate', ['gates', 0, 'human']);
  const simple = required ? approvalGate(id) : null;
  if (isJsonObject(human.value)) {
    const key = own(spot.value, 'human_gate') === undefined ? camelCase('human_gate') : 'human_gate';
    const inGate = { value: { human: human.value }, at: spot.at };
    spots.map.put(['gates', 0, 'human'], [...spot.at, key]);
    return { gate: gateDraft(spots, inGate, ['gates', 0]), none: false };
  }
  if (typeof human.value !== 'string') return { gate: simple, none: false };
  const error = (code: string, message: string): Asked => {
    complain(human.at, code, message);
    return { gate: simple, none: false };
  };
  const [, reasoned = ''] = /^none\b[\s:,(–—-]*(.*?)\)?$/is.exec(human.value.trim()) ?? [];
  const reason = spots.text(spot, 'human_gate_reason', ['reason']) ?? reasoned;
  if (!/^none\b/i.test(human.value.trim()))
    return error(
      'bad_value',
      '`human_gate` is `none`, or a map with `prompt` and `options` as `human` has it',
    );
  if (required)
    return error('conflict', '`human_approval_required: true` and `human_gate: none` contradict each other');
  if (reason.trim().length < SHORTEST_REASON)
    return error('missing_key', '`human_gate: none` needs its reason in `human_gate_reason`');
  return { gate: null, none: true };
}

const SHORTEST_REASON = 3;
