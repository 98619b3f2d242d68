import {
  canonicalJson,
  type GateDraft,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  type PhaseDraft,
  type PhaseId,
} from '@phasegate/core';
import { gateDraft } from '../yaml/gateDraft.ts';
import { phaseDraft } from '../yaml/phaseDraft.ts';
import { isPhaseModelKey, phaseModelSchema } from '../yaml/phaseModelSchema.ts';
import { shapeProblems } from '../yaml/shapeProblems.ts';
import { SourceMap } from '../yaml/sourceMap.ts';
import { type Spot, Spots } from '../yaml/spots.ts';
import { camelCase } from '../yaml/strictMap.ts';
import type { YamlPath } from '../yaml/yamlTree.ts';
import type { PlacedObject } from './jsonTree.ts';
import type { Place, Report } from './report.ts';

/** What a file says of a phase in the keys of the contract. */
export interface PhaseModel {
  readonly file: string;
  readonly draft: Partial<PhaseDraft>;
  /** Whether it says, with a reason, that nobody approves here. */
  readonly noHuman: boolean;
  /** Where a part of the draft stands, by its path in the phase; null where this file says nothing of it. */
  locate(path: YamlPath): Place | null;
}

/** A part of a file that may hold such keys. */
export interface ModelSource {
  readonly source: PlacedObject;
  /** Where in the file the keys stand. */
  readonly at: YamlPath;
  readonly id: PhaseId;
}

/** Reads them as the loader of contracts does; what is wrong is reported. */
export function readPhaseModel({ source, at, id }: ModelSource, report: Report): PhaseModel {
  const { tree } = source;
  const value = modelKeysOf(valueAt(source.value, at));
  const file = tree.file;
  for (const { path, code, message, at: part } of shapeProblems(value, phaseModelSchema))
    report.error(source.at([...at, ...path], part), { code, message });
  const map = new SourceMap(tree);
  const spots = new Spots(map);
  const spot: Spot = { value, at };
  const readSchema = (named: string, place: YamlPath) => {
    const message = `\`${named}\`: in a folder a schema is written in place`;
    report.error(source.at(place), { code: 'bad_schema', message });
    return undefined;
  };
  const { id: _, ...draft } = phaseDraft({ spots, readSchema, schemas: new Set() }, id, { spot, path: [] });
  const asked = humanAsked({ spot, spots, source }, id, report);
  const gates = [...(draft.gates ?? []), ...gatesOf(spots, spot, draft.gates?.length ?? 0)];
  const all = asked.gate !== null && !gates.some(hasHuman) ? [...gates, asked.gate] : gates;
  return {
    file,
    draft: all.length === 0 ? draft : { ...draft, gates: all },
    noHuman: asked.none,
    locate: (path) => {
      const place = map.locate(path);
      return place === null ? null : { file, ...tree.lines.at(tree.offsetOf(place.path)) };
    },
  };
}

function valueAt(value: JsonObject, path: YamlPath): JsonObject {
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

function hasHuman(gate: string | GateDraft): boolean {
  return typeof gate === 'string' || gate.human !== undefined;
}

interface Asked {
  readonly gate: GateDraft | null;
  readonly none: boolean;
}

/** `human_approval_required: true`, and what `human_gate` says. */
function humanAsked(
  { spot, spots, source }: { readonly spot: Spot; readonly spots: Spots; readonly source: PlacedObject },
  id: PhaseId,
  report: Report,
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
    report.error(source.at(human.at), { code, message });
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

/** What a bare "yes, a human approves this" means: on, or back into the phase with a reason. */
function approvalGate(id: PhaseId): GateDraft {
  return {
    human: {
      prompt: `Is phase ${id} approved?`,
      options: [{ label: 'Approve' }, { label: 'Reject', next: id, requiresInput: true }],
    },
  };
}

const LISTS = ['preconditions', 'postconditions', 'fields', 'artifacts', 'gates', 'forbiddenTools'] as const;

/** What all files say of a phase together: checks, evidence and gates add up, anything else is said once. */
export function mergeModels(id: PhaseId, models: readonly PhaseModel[], report: Report): Partial<PhaseDraft> {
  const merged: Record<string, unknown> = {};
  const from: Record<string, string> = {};
  for (const model of models) {
    for (const [key, value] of Object.entries(model.draft)) {
      const known = merged[key];
      if (known === undefined) {
        merged[key] = value;
        from[key] = model.file;
      } else if ((LISTS as readonly string[]).includes(key)) {
        merged[key] = unique([...(known as readonly Json[]), ...(value as readonly Json[])]);
      } else if (canonicalJson(known as Json) !== canonicalJson(value as Json)) {
        const message = `\`${from[key]}\` and \`${model.file}\` say different things of \`${key}\` of phase \`${id}\`; say it in one place`;
        report.error(model.locate([key]) ?? { file: model.file, line: 1, column: 1 }, {
          code: 'conflict',
          message,
        });
      }
    }
  }
  const draft = merged as Partial<PhaseDraft>;
  return draft.gates === undefined ? draft : { ...draft, gates: withoutSimple(id, draft.gates) };
}

/** The short form asks for any human's yes; one that is written out says more and is enough. */
function withoutSimple(
  id: PhaseId,
  gates: NonNullable<PhaseDraft['gates']>,
): NonNullable<PhaseDraft['gates']> {
  const simple = canonicalJson(approvalGate(id) as unknown as Json);
  const others = gates.filter((gate) => canonicalJson(gate as unknown as Json) !== simple);
  return others.some(hasHuman) ? others : gates;
}

function unique(values: readonly Json[]): readonly Json[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}
