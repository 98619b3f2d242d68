import { canonicalJson, type JsonObject, type PhaseDraft, type WorkflowDraft } from '@phasegate/core';
import {
  type DraftProblem,
  type FunctionRef,
  ONE_RUN_PER,
  type ParamDraft,
  type PropertyDraft,
  RINGS,
  WORKSPACE_USES,
} from '@phasegate/core/model';
import { Compilation, defined, type FunctionKind, type Path, type WorkflowFunction } from './compilation.ts';
import { compileDatabase } from './compileDatabase.ts';
import { compileGate } from './compileGate.ts';
import { compileParam } from './compileParams.ts';
import { compileStep } from './compileStep.ts';
import type { WorkflowDefinition } from './definition.ts';
import type { TypedDefinition } from './typedDefinition.ts';

/** A workflow written in code: its draft as pure JSON, and the functions the draft refers to. */
export interface DefinedWorkflow {
  readonly kind: 'phasegate.workflow';
  readonly draft: WorkflowDraft;
  readonly functions: Readonly<Record<FunctionRef, WorkflowFunction>>;
  /** What each function is for. */
  readonly kinds: Readonly<Record<FunctionRef, FunctionKind>>;
  /** The `Arg`s of each step, by its id as text. */
  readonly args: Readonly<Record<string, Readonly<Record<string, ParamDraft>>>>;
  /** What could not be put into the draft, by its place in it. */
  readonly problems: readonly DraftProblem[];
}

const KEYS = [
  'type',
  'name',
  'version',
  'description',
  'initialStep',
  'params',
  'start',
  'tools',
  'schemas',
  'enforcement',
  'capabilities',
  'oneRunPer',
  'database',
  'gates',
  'steps',
  'properties',
];

/**
 * Writes a workflow down in code. Never throws: what cannot be part of a workflow is in `problems`, and the
 * meaning of the rest is checked when the workflow is loaded.
 */
export function defineWorkflow<
  const Params extends NonNullable<WorkflowDefinition['params']>,
  const Schemas extends NonNullable<WorkflowDefinition['schemas']>,
  Helpers,
  const Evidence extends readonly unknown[],
  const Artifacts extends readonly unknown[],
  const Args extends readonly unknown[],
>(definition: TypedDefinition<Params, Schemas, Helpers, Evidence, Artifacts, Args>): DefinedWorkflow {
  const compilation = new Compilation();
  const fields = compilation.fields(definition ?? null, [], KEYS) ?? {};
  if (typeof definition === 'object' && definition !== null) {
    if (fields.type === undefined) compilation.problem([], 'missing_key', 'a workflow needs a `type`');
    if (fields.steps === undefined) compilation.problem([], 'missing_key', 'a workflow needs `steps`');
  }
  const args: Record<string, Readonly<Record<string, ParamDraft>>> = {};
  const phases = compilation.list(fields.steps, ['phases'], (item, path) => {
    const phase = compileStep(compilation, item, path);
    const found =
      phase &&
      compilation.map((item as { args?: unknown }).args, [...path, 'args'], (arg, at) =>
        compileParam(compilation, arg, at),
      );
    if (phase && found) {
      args[String(phase.id)] = found;
      return { ...phase, args: Object.keys(found) };
    }
    // A step that cannot be read keeps its place, so that the places of the others stay right.
    return phase ?? ({ id: `step ${String(path.at(-1))}` } satisfies PhaseDraft);
  });
  const params = compilation.map(fields.params, ['params'], (param, at) =>
    compileParam(compilation, param, at),
  );
  const draft: WorkflowDraft = {
    id: compilation.text(fields.type, ['id']) ?? '',
    ...defined({
      title: compilation.text(fields.name, ['title']),
      version: compilation.text(fields.version, ['version']),
      description: compilation.text(fields.description, ['description']),
      params: withArgs(compilation, params, args, phases ?? []),
      tools: compilation.map(fields.tools, ['tools'], (group, at) => compilation.texts(group, at)),
      schemas: compilation.map(fields.schemas, ['schemas'], (schema, at) =>
        compileSchema(compilation, schema, at),
      ),
      enforcement: compileEnforcement(compilation, fields.enforcement),
      start: compilation.text(fields.start, ['start']),
      capabilities: compilation.texts(fields.capabilities, ['capabilities']),
      oneRunPer: compilation.choice(fields.oneRunPer, ['oneRunPer'], ONE_RUN_PER),
      database: compileDatabase(compilation, fields.database),
      gates: compilation.map(fields.gates, ['gates'], (gate, path, name) =>
        compileGate(compilation, gate, { path, owner: `gates/${name}` }),
      ),
      entry: compilation.id(fields.initialStep, ['entry']),
      properties: compilation.list(fields.properties, ['properties'], (item, path) =>
        compileProperty(compilation, item, path),
      ),
    }),
    phases: phases ?? [],
  };
  const { functions, kinds, problems } = compilation;
  return deepFreeze({ kind: 'phasegate.workflow', draft, functions, kinds, args, problems });
}

/** What a handler reads is a param of the workflow; two steps may share one, but must agree on it. */
function withArgs(
  compilation: Compilation,
  params: Readonly<Record<string, ParamDraft>> | undefined,
  args: Readonly<Record<string, Readonly<Record<string, ParamDraft>>>>,
  phases: readonly PhaseDraft[],
): Readonly<Record<string, ParamDraft>> | undefined {
  const all: Record<string, ParamDraft> = { ...params };
  phases.forEach((phase, index) => {
    for (const [name, arg] of Object.entries(args[String(phase.id)] ?? {})) {
      const path = ['phases', index, 'args', name];
      const known = all[name];
      if (known === undefined) all[name] = arg;
      else if (
        !Object.hasOwn(params ?? {}, name) &&
        canonicalJson(known as JsonObject) !== canonicalJson(arg as JsonObject)
      ) {
        compilation.problem(path, 'conflict', `param \`${name}\` is described differently by another step`);
      }
    }
  });
  return Object.keys(all).length === 0 && params === undefined ? undefined : all;
}

function compileProperty(compilation: Compilation, value: unknown, path: Path): PropertyDraft | undefined {
  const fields = compilation.fields(value, path, ['name', 'always', 'never', 'before']);
  if (fields === undefined) return undefined;
  if (fields.name === undefined) compilation.problem(path, 'missing_key', 'a property needs a `name`');
  const names = (key: string) => {
    const given = fields[key];
    const list = given === undefined || Array.isArray(given) ? given : [given];
    return compilation.list(list, [...path, key], (item, at) => compilation.id(item, at));
  };
  return {
    name: compilation.text(fields.name, [...path, 'name']) ?? '',
    ...defined({ always: names('always'), never: names('never'), before: names('before') }),
  };
}

function compileSchema(
  compilation: Compilation,
  value: unknown,
  path: Path,
): JsonObject | boolean | undefined {
  if (typeof value === 'boolean') return value;
  const fields = compilation.fields(value, path, null);
  return fields && (compilation.json(fields, path) as JsonObject | undefined);
}

function compileEnforcement(compilation: Compilation, value: unknown): WorkflowDraft['enforcement'] {
  const path = ['enforcement'];
  const known = ['mode', 'ring', 'workspace', 'phaseTokens', 'leaseSeconds', 'maxReclaims'];
  const fields = compilation.fields(value, path, known);
  if (fields === undefined) return undefined;
  const mode = compilation.choice(fields.mode, [...path, 'mode'], ['strict', 'permissive', 'advisory']);
  const tokens = compilation.fields(fields.phaseTokens, [...path, 'tokenSeconds'], ['expirySeconds']);
  return defined({
    mode: mode === 'advisory' ? ('permissive' as const) : mode,
    ring: compilation.choice(fields.ring, [...path, 'ring'], RINGS),
    workspace: compilation.choice(fields.workspace, [...path, 'workspace'], WORKSPACE_USES),
    tokenSeconds: compilation.number(tokens?.expirySeconds, [...path, 'tokenSeconds']),
    leaseSeconds: compilation.number(fields.leaseSeconds, [...path, 'leaseSeconds']),
    maxReclaims: compilation.number(fields.maxReclaims, [...path, 'maxReclaims']),
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
