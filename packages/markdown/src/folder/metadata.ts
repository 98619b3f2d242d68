import { isJsonObject, own, type PhaseId } from '@phasegate/core';
import {
  didYouMean,
  ONE_RUN_PER,
  type OneRunPer,
  type ParamDraft,
  readPhaseId,
  WORKSPACE_USES,
  type WorkspaceUse,
} from '@phasegate/core/model';
import type { DefinitionPath } from '@phasegate/core/ports';
import type { PlacedObject } from './jsonTree.ts';
import { WITHOUT_MEANING } from './keysWithoutMeaning.ts';
import { DESCRIPTIVE_KEYS, DESCRIPTIVE_PHASE_KEYS, READ_KEYS, READ_PHASE_KEYS } from './metadataKeys.ts';
import { PlacedFields } from './placedFields.ts';
import type { Place, Report } from './report.ts';

/** What `metadata.json` says, as far as it could be read. */
export interface Metadata {
  readonly id: string;
  readonly title: string;
  readonly version: string | undefined;
  readonly description: string;
  /** Null where it is not given, or cannot be known before the source is read. */
  readonly totalPhases: { readonly count: number; readonly at: Place } | null;
  readonly startPhase: number | null;
  readonly phases: readonly MetadataPhase[] | null;
  readonly dynamic: DynamicConfig | null;
  readonly params: Readonly<Record<string, ParamDraft>>;
  readonly start: string | undefined;
  /** What an agent must be able to do to claim a run. */
  readonly capabilities: readonly string[];
  /** What only one unfinished run may be there for. */
  readonly oneRunPer: OneRunPer | undefined;
  /** Whether runs that write share the workspace. */
  readonly workspace: WorkspaceUse | undefined;
  readonly at: PlacedObject['at'];
}

/** One phase as `metadata.json` describes it. */
export interface MetadataPhase {
  /** Null for a range such as `1-N`, which describes the phases of a source. */
  readonly id: PhaseId | null;
  readonly name: string | undefined;
  readonly purpose: string;
  /** Files its tasks are said to be in. */
  readonly files: readonly { readonly name: string; readonly at: Place }[];
  /** Names of evidence its `checkpoint` asks for. */
  readonly evidence: readonly string[];
  /** Where the keys it shares with contracts stand. */
  readonly model: { readonly source: PlacedObject; readonly at: DefinitionPath };
  readonly at: Place;
}

/** Where the phases of a dynamic workflow come from. */
export interface DynamicConfig {
  readonly sourceType: string | undefined;
  readonly sourcePathKey: string;
  readonly templates: {
    readonly phase: { readonly path: string; readonly at: Place };
    readonly task: { readonly path: string; readonly at: Place };
  };
  readonly parser: { readonly name: string; readonly at: Place };
}

/** Reads `metadata.json`; whatever is wrong with it is reported, and nothing is made up. Null without an id. */
export function readMetadata(tree: PlacedObject, folder: string, report: Report): Metadata | null {
  const fields = new PlacedFields(tree, report);
  fields.noteUnknown(READ_KEYS, DESCRIPTIVE_KEYS);
  const id = fields.demandText('workflow_type');
  const dynamic = readDynamic(fields);
  const params = readParams(fields, dynamic);
  const phases = fields.list('phases')?.map((phase) => readPhase(phase, tree, dynamic !== null)) ?? null;
  noteRepeated(phases, report);
  if (fields.flag('strict_mode') === false)
    fields.note(
      'strict_mode',
      'not_obeyed',
      '`strict_mode: false` is not obeyed: every phase is held to its evidence',
    );
  const metadata = {
    title: fields.text('title') ?? fields.text('name') ?? id ?? folder,
    version: readVersion(fields),
    description: fields.text('description') ?? '',
    totalPhases: readTotal(fields, dynamic !== null),
    startPhase: fields.whole('start_phase') ?? null,
    phases,
    dynamic,
    params,
    capabilities: fields.texts('capabilities') ?? [],
    oneRunPer: readOneRunPer(fields),
    workspace: readWorkspace(fields),
    start: fields.text('start'),
    at: tree.at,
  };
  if (id === undefined) return null;
  if (spelling(id) !== spelling(folder)) {
    const message = `\`workflow_type\` is \`${id}\`, and the folder is \`${folder}\`: the two must be the same name`;
    fields.error('workflow_type', 'name_mismatch', message);
  }
  return { id, ...metadata };
}

function readOneRunPer(fields: PlacedFields): OneRunPer | undefined {
  const written = fields.text('one_run_per');
  const found = ONE_RUN_PER.find((scope) => scope === written);
  if (written !== undefined && found === undefined)
    fields.error('one_run_per', 'bad_value', '`one_run_per` is `target` or `workflow`');
  return found;
}

function readWorkspace(fields: PlacedFields): WorkspaceUse | undefined {
  const written = fields.text('workspace');
  const found = WORKSPACE_USES.find((use) => use === written);
  if (written !== undefined && found === undefined)
    fields.error('workspace', 'bad_value', '`workspace` is `exclusive` or `shared`');
  return found;
}

/** Dashes and underscores are the same in a name. */
function spelling(name: string): string {
  return name.replaceAll('-', '_');
}

function readVersion(fields: PlacedFields): string | undefined {
  const version = own(fields.object, 'version');
  return typeof version === 'number' ? String(version) : fields.text('version');
}

function readTotal(fields: PlacedFields, dynamic: boolean): Metadata['totalPhases'] {
  if (dynamic) {
    const total = own(fields.object, 'total_phases');
    if (typeof total === 'string' || total === undefined) return null;
    if (fields.whole('total_phases') !== undefined)
      fields.note(
        'total_phases',
        'not_read',
        '`total_phases` is not read: the source says how many phases there are',
      );
    return null;
  }
  const count = fields.whole('total_phases');
  return count === undefined ? null : { count, at: fields.at('total_phases') };
}

function readPhase(fields: PlacedFields, source: PlacedObject, dynamic: boolean): MetadataPhase {
  fields.refuseUnknown([...READ_PHASE_KEYS, ...DESCRIPTIVE_PHASE_KEYS], WITHOUT_MEANING.metadataPhase);
  if (fields.flag('evidence_gate_enabled') === false) {
    const message = '`evidence_gate_enabled: false` is not obeyed: the phase is held to its evidence';
    fields.note('evidence_gate_enabled', 'not_obeyed', message);
  }
  const checkpoint = fields.below('checkpoint');
  checkpoint?.refuseUnknown(['required_evidence'], WITHOUT_MEANING.checkpoint);
  if (fields.flag('skippable') === true) {
    const message =
      '`skippable: true` is not obeyed: the way around a phase is a `next` with a condition in the phase before it';
    fields.note('skippable', 'not_obeyed', message);
  }
  const files = (fields.list('tasks') ?? []).flatMap((task) => {
    const name = task.text('file');
    return name === undefined ? [] : [{ name, at: task.at('file') }];
  });
  return {
    id: readId(fields, dynamic),
    name: fields.text('phase_name') ?? fields.text('name'),
    purpose: fields.text('purpose') ?? fields.text('description') ?? '',
    files,
    model: { source, at: fields.path },
    evidence: checkpoint?.texts('required_evidence') ?? [],
    at: fields.at('phase_number'),
  };
}

function readId(fields: PlacedFields, dynamic: boolean): PhaseId | null {
  const number = own(fields.object, 'phase_number');
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  if (typeof number === 'string' && PHASE_ID.test(number)) return readPhaseId(number);
  if (dynamic && typeof number === 'string') return null;
  if (number === undefined) fields.error('phase_number', 'missing_key', 'a phase needs `phase_number`');
  else
    fields.error(
      'phase_number',
      'bad_value',
      '`phase_number` must be a whole number, or one with a letter such as `1A`',
    );
  return null;
}

/** How a phase may be called: a number, perhaps with a letter. */
export const PHASE_ID = /^\d{1,6}[A-Za-z]?$/;

function noteRepeated(phases: readonly MetadataPhase[] | null, report: Report): void {
  const seen = new Set<string>();
  for (const { id, at } of phases ?? []) {
    if (id === null) continue;
    if (seen.has(String(id)))
      report.error(at, { code: 'duplicate_phase', message: `phase \`${id}\` is described twice` });
    seen.add(String(id));
  }
}

const CONFIG_KEYS = ['source_type', 'source_path_key', 'templates', 'parser'];

function readDynamic(fields: PlacedFields): DynamicConfig | null {
  const wanted = fields.flag('dynamic_phases') === true;
  const config = fields.below('dynamic_config');
  if (!wanted) {
    if (config !== undefined)
      fields.note(
        'dynamic_config',
        'not_read',
        '`dynamic_config` is not read without `dynamic_phases: true`',
      );
    return null;
  }
  if (config === undefined) {
    if (own(fields.object, 'dynamic_config') === undefined)
      fields.error('dynamic_phases', 'missing_key', '`dynamic_phases: true` needs `dynamic_config`');
    return null;
  }
  config.noteUnknown(CONFIG_KEYS, new Set());
  const templates = config.below('templates');
  if (templates === undefined && own(config.object, 'templates') === undefined)
    config.error('templates', 'missing_key', '`dynamic_config.templates` is missing');
  templates?.noteUnknown(['phase', 'task'], new Set());
  const [sourcePathKey, parser] = [config.demandText('source_path_key'), config.demandText('parser')];
  const [phase, task] = [templates?.demandText('phase'), templates?.demandText('task')];
  const sourceType = config.text('source_type');
  if (templates === undefined || !sourcePathKey || !parser || !phase || !task) return null;
  return {
    sourceType,
    sourcePathKey,
    templates: {
      phase: { path: phase, at: templates.at('phase') },
      task: { path: task, at: templates.at('task') },
    },
    parser: { name: parser, at: config.at('parser') },
  };
}

const PARAM_KEYS = [
  'type',
  'description',
  'choices',
  'min',
  'max',
  'constant',
  'default',
  'required',
  'set_by',
];

function readParams(fields: PlacedFields, dynamic: DynamicConfig | null): Metadata['params'] {
  const declared = fields.below('params');
  const params: Record<string, ParamDraft> = {};
  for (const name of Object.keys(declared?.object ?? {})) {
    const param = declared?.below(name);
    if (param !== undefined) params[name] = readParam(param);
  }
  if (dynamic === null) return params;
  const key = dynamic.sourcePathKey;
  const given = Object.hasOwn(params, key) ? params[key] : undefined;
  if (given?.type !== undefined && given.type !== 'string')
    declared?.error(key, 'bad_type', `\`params.${key}\` names the source, so its type must be \`string\``);
  // INVARIANT: without a default the source's path is required, so that a run cannot start without its phases.
  const description = given?.description ?? 'Path of the source the phases come from';
  params[key] = { ...given, type: 'string', description, required: given?.default === undefined };
  return params;
}

function readParam(fields: PlacedFields): ParamDraft {
  for (const key of Object.keys(fields.object)) {
    if (PARAM_KEYS.includes(key)) continue;
    fields.error(key, 'unknown_key', `\`${key}\` is nothing a param has${didYouMean(key, PARAM_KEYS)}`);
  }
  const { object } = fields;
  const [min, max] = [numberAt(fields, 'min'), numberAt(fields, 'max')];
  const [type, description, required] = [
    fields.text('type'),
    fields.text('description'),
    fields.flag('required'),
  ];
  const choices = own(object, 'choices');
  if (choices !== undefined && !Array.isArray(choices))
    fields.error('choices', 'wrong_type', '`choices` must be a list');
  const fallback = own(object, 'default');
  const constant = own(object, 'constant');
  const setBy = fields.text('set_by');
  return {
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(Array.isArray(choices) ? { choices } : {}),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(constant === undefined ? {} : { constant }),
    ...(setBy === undefined ? {} : { setBy }),
  };
}

function numberAt(fields: PlacedFields, key: string): number | undefined {
  const value = own(fields.object, key);
  if (value === undefined || typeof value === 'number') return value;
  fields.error(key, 'wrong_type', `\`${key}\` must be a number`);
  return undefined;
}

/** The id and title a listing shows, and the ids of the phases where they are written. Nothing is checked. */
export function peekMetadata(
  value: unknown,
  folder: string,
): { readonly id: string; readonly title: string; readonly phases: readonly string[] | null } {
  const text = (key: string) => {
    const found = own(value, key);
    return typeof found === 'string' && found.trim() !== '' ? found : undefined;
  };
  const id = text('workflow_type') ?? folder;
  const phases = own(value, 'phases');
  const ids = Array.isArray(phases)
    ? phases.flatMap((phase) => (isJsonObject(phase) ? [String(own(phase, 'phase_number') ?? '?')] : []))
    : null;
  return { id, title: text('title') ?? text('name') ?? id, phases: ids };
}
