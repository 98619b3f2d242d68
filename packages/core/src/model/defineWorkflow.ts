import { halfPairIn, type Json } from '../json.ts';
import { CAPABILITY_FORM, isCapability } from './capabilities.ts';
import { checkGraph } from './compile/checkGraph.ts';
import { checkNames } from './compile/checkNames.ts';
import { checkOwnDecision } from './compile/checkOwnDecision.ts';
import { checkUnusedGates } from './compile/checkUnusedGates.ts';
import type { CompileContext, Known } from './compile/compileContext.ts';
import { checkDatabaseGates, compileDatabase } from './compile/compileDatabase.ts';
import { MOST_IN_CONTEXT } from './compile/compileGates.ts';
import { compilePhase } from './compile/compilePhase.ts';
import { compileProperties } from './compile/compileProperties.ts';
import type { DraftProblem, GateDraft, ParamDraft, WorkflowDraft } from './draft.ts';
import { nameIn } from './names.ts';
import { paramProblem } from './params.ts';
import { type IsTold, type LeftOut, Problems } from './problems.ts';
import { compileSchema } from './schema/jsonSchema.ts';
import { placeholdersIn } from './template.ts';
import { isToolName } from './tools.ts';
import { whoMay } from './whoMay.ts';
import {
  type Content,
  ONE_RUN_PER,
  type Param,
  type ParamDomain,
  type Phase,
  type PhaseId,
  type Workflow,
} from './workflow.ts';
import { isWorkflowId, notAnId } from './workflowId.ts';

/** A workflow with notes for its author, or the problems it has; of very many only the first. */
export type Defined =
  | ({ readonly ok: true; readonly workflow: Workflow; readonly notes: readonly DraftProblem[] } & More)
  | ({ readonly ok: false; readonly problems: readonly DraftProblem[] } & More);

/** Where there are too many problems to give all of them. */
interface More {
  readonly leftOut?: LeftOut;
}

const DEFAULT_TOKEN_SECONDS = 7200;
const HALF_PAIR =
  'half of a surrogate pair (`\\ud800` to `\\udfff` alone) is not a character: write it whole';

/**
 * The only constructor of a workflow. Checks everything a definition promises and reports all problems at once, but for
 * those that are not to be told; what it returns is frozen.
 */
export function defineWorkflow(draft: WorkflowDraft, known: Known, isTold?: IsTold): Defined {
  const problems = new Problems(isTold);
  if (!isWorkflowId(draft.id)) problems.error(['id'], 'bad_id', notAnId(draft.id));
  checkEnforcement(draft, problems);
  const params = compileParams(draft.params ?? {}, problems);
  const context: CompileContext = {
    draft,
    known,
    problems,
    params,
    groups: compileGroups(draft, problems),
    schemas: checkSchemas(draft, problems),
    evidenceNames: evidenceNames(draft),
    coveredNames: coveredNames(draft),
    declared: new Map(),
    comparedGlobs: new Map(),
  };
  const phases = compilePhases(context);
  const workflow: Workflow = {
    id: draft.id,
    title: draft.title ?? draft.id,
    version: draft.version ?? null,
    description: draft.description ?? '',
    params,
    enforcement: {
      mode: draft.enforcement?.mode ?? 'strict',
      ring: draft.enforcement?.ring ?? 'served',
      tokenSeconds: draft.enforcement?.tokenSeconds ?? DEFAULT_TOKEN_SECONDS,
      workspace: draft.enforcement?.workspace ?? 'exclusive',
      ...leasesOf(draft),
    },
    entry: draft.entry ?? phases[0]?.id ?? '',
    phases,
    code: draft.code ?? null,
    module: draft.module ?? null,
    templates: draft.templates ?? null,
    ...compileCapabilities(draft, problems),
    ...compileOneRunPer(draft, problems),
    ...(whoMay(draft.start, ['start'], problems) === 'human' ? { start: 'human' as const } : {}),
    ...(draft.source === undefined ? {} : { source: draft.source }),
    ...compileDatabase(draft, problems),
    ...compileProperties(draft, phases, problems),
  };
  checkUnusedGates(context);
  checkNames(workflow, problems);
  checkDatabaseGates(workflow, problems);
  checkTemplates(workflow, problems);
  checkGraph(workflow, problems);
  checkOwnDecision(workflow, known, problems);
  // INVARIANT: two workflows that differ have two hashes. What runs go by, and what a human accepted, is told by it.
  if (halfPairIn(workflow) !== null) problems.error(halfPairIn(draft) ?? [], 'bad_value', HALF_PAIR);
  if (problems.failed) return { ok: false, problems: problems.list, ...problems.more };
  return { ok: true, workflow: deepFreeze(workflow), notes: problems.list, ...problems.more };
}

/** Reads an id as the author wrote it: a number if it is all digits, else a string. */
export function readPhaseId(text: string | number): PhaseId {
  if (typeof text === 'number') return text;
  return /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text;
}

function checkEnforcement(draft: WorkflowDraft, problems: Problems): void {
  const { ring, tokenSeconds, leaseSeconds, maxReclaims } = draft.enforcement ?? {};
  if (ring === 'hooked+isolated') {
    problems.error(
      ['enforcement', 'ring'],
      'not_enforceable',
      `this release cannot enforce the ring \`${ring}\`; \`served\`, \`hooked\`, \`sandboxed\` and \`isolated\` are the rings it has`,
    );
  }
  if (tokenSeconds !== undefined && !isWithin(tokenSeconds, 60, 86_400)) {
    problems.error(
      ['enforcement', 'tokenSeconds'],
      'bad_value',
      'a phase token lives a whole number of seconds from 60 to 86400',
    );
  }
  if (leaseSeconds !== undefined && !isWithin(leaseSeconds, 1, 86_400)) {
    problems.error(
      ['enforcement', 'leaseSeconds'],
      'bad_value',
      'a lease lasts a whole number of seconds from 1 to 86400',
    );
  }
  if (maxReclaims !== undefined && !isWithin(maxReclaims, 0, 100)) {
    problems.error(
      ['enforcement', 'maxReclaims'],
      'bad_value',
      'a run is handed out again a whole number of times from 0 to 100',
    );
  }
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

/** Only what was written: a workflow from before there were leases keeps its hash. */
function leasesOf({ enforcement = {} }: WorkflowDraft): Partial<Workflow['enforcement']> {
  const { leaseSeconds, maxReclaims } = enforcement;
  return {
    ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
    ...(maxReclaims === undefined ? {} : { maxReclaims }),
  };
}

function compileOneRunPer({ oneRunPer }: WorkflowDraft, problems: Problems): Pick<Workflow, 'oneRunPer'> {
  if (oneRunPer === undefined) return {};
  if (ONE_RUN_PER.includes(oneRunPer)) return { oneRunPer };
  problems.error(['oneRunPer'], 'bad_value', 'there is one run per `target` or per `workflow`');
  return {};
}

const MOST_CAPABILITIES = 50;

function compileCapabilities(
  { capabilities = [] }: WorkflowDraft,
  problems: Problems,
): Pick<Workflow, 'capabilities'> {
  if (capabilities.length > MOST_CAPABILITIES)
    problems.error(
      ['capabilities'],
      'bad_value',
      `a workflow asks for at most ${MOST_CAPABILITIES} capabilities`,
    );
  capabilities.slice(0, MOST_CAPABILITIES).forEach((name, index) => {
    if (isCapability(name)) return;
    const shown = name.length > 64 ? 'this' : `\`${name}\``;
    problems.error(['capabilities', index], 'bad_value', `${shown} is not a capability: ${CAPABILITY_FORM}`);
  });
  return capabilities.length === 0 ? {} : { capabilities: [...new Set(capabilities)] };
}

function compileGroups(
  draft: WorkflowDraft,
  problems: Problems,
): Readonly<Record<string, readonly string[]>> {
  const groups = draft.tools ?? {};
  for (const [name, members] of Object.entries(groups)) {
    if (isToolName(name))
      problems.error(['tools', name], 'bad_group', `\`${name}\` is a tool, so it cannot name a group`);
    if (members.length > MOST_IN_GROUP)
      problems.error(['tools', name], 'bad_group', `a group holds at most ${MOST_IN_GROUP} tools`);
    members.forEach((member, index) => {
      if (isToolName(member)) return;
      problems.error(
        ['tools', name, index],
        'unknown_tool',
        `\`${member}\` is not a tool; a group holds tools only`,
      );
    });
  }
  // Every phase may name every group.
  return Object.fromEntries(
    Object.entries(groups).map(([name, members]) => [name, members.slice(0, MOST_IN_GROUP)]),
  );
}

const MOST_IN_GROUP = 500;

function checkSchemas(draft: WorkflowDraft, problems: Problems): ReadonlySet<string> {
  for (const [name, schema] of Object.entries(draft.schemas ?? {})) {
    const compiled = compileSchema(schema);
    if (compiled.ok) continue;
    for (const defect of compiled.problems) {
      problems.error(['schemas', name, ...defect.path], 'bad_schema', `schema \`${name}\` ${defect.message}`);
    }
  }
  return new Set(Object.keys(draft.schemas ?? {}));
}

/** An unresolved placeholder must never reach an agent, so every value a template names has to be there. */
function checkTemplates(workflow: Workflow, problems: Problems): void {
  const { templates } = workflow;
  const check = (
    content: Content | null,
    template: string | undefined,
    path: readonly (string | number)[],
  ) => {
    if (content?.kind !== 'template') return;
    if (template === undefined) problems.error(path, 'no_template', 'there is no template to fill');
    const missing = placeholdersIn(template ?? '').filter((name) => !Object.hasOwn(content.values, name));
    for (const name of missing)
      problems.error(path, 'unresolved_placeholder', `nothing is known to put for \`[${name}]\``);
  };
  workflow.phases.forEach((phase, index) => {
    check(phase.content, templates?.phase, ['phases', index, 'content']);
    phase.tasks.forEach((task, number) => {
      check(task.content, templates?.task, ['phases', index, 'tasks', number, 'content']);
    });
  });
}

function evidenceNames(draft: WorkflowDraft): ReadonlySet<string> {
  const names = new Set<string>();
  for (const phase of draft.phases) {
    for (const field of phase.fields ?? []) names.add(field.name);
    for (const artifact of phase.artifacts ?? []) names.add(artifact.type);
  }
  return names;
}

/** Everything the phases with a human gate declare, and the names in the gates' contexts. */
function coveredNames(draft: WorkflowDraft): ReadonlySet<string> {
  const gateOf = (named: string | GateDraft) =>
    typeof named === 'string'
      ? Object.hasOwn(draft.gates ?? {}, named)
        ? draft.gates?.[named]
        : undefined
      : named;
  const names = new Set<string>();
  for (const phase of draft.phases) {
    const human = (phase.gates ?? [])
      .map((named) => gateOf(named)?.human)
      .find((found) => found !== undefined);
    if (human === undefined) continue;
    for (const field of phase.fields ?? []) names.add(field.name);
    for (const artifact of phase.artifacts ?? []) names.add(artifact.type);
    for (const path of (human.context ?? []).slice(0, MOST_IN_CONTEXT)) names.add(nameIn(path));
  }
  return names;
}

function compilePhases(context: CompileContext): readonly Phase[] {
  const { draft, problems } = context;
  if (draft.phases.length === 0)
    problems.error(['phases'], 'no_phases', 'a workflow needs at least one phase');
  if (draft.phases.length > 1000)
    problems.error(['phases'], 'too_many_phases', 'a workflow has at most 1000 phases');
  const numbered = draft.phases.every((phase) => typeof phase.id === 'number');
  const seen = new Map<string, number>();
  const phases: Phase[] = [];
  draft.phases.forEach((phase, index) => {
    const first = seen.get(String(phase.id));
    if (first !== undefined) {
      problems.error(['phases', index, 'id'], 'duplicate_phase', `phase \`${phase.id}\` is defined twice`);
      return;
    }
    seen.set(String(phase.id), index);
    phases.push(compilePhase(context, index, numbered ? (phase.id as number) : index + 1));
  });
  return phases;
}

function compileParams(
  drafts: Readonly<Record<string, ParamDraft>>,
  problems: Problems,
): Readonly<Record<string, Param>> {
  // Made of entries, so that a param called `__proto__` is one.
  const params: [string, Param][] = [];
  for (const [name, draft] of Object.entries(drafts)) {
    const param = compileParam(name, draft, problems);
    params.push([name, param]);
    if (param.default === undefined) continue;
    const problem = paramProblem(param, param.default);
    if (problem !== null)
      problems.error(['params', name, 'default'], 'bad_default', `the default of \`${name}\` ${problem}`);
  }
  return Object.fromEntries(params);
}

const PARAM_TYPES: readonly Param['type'][] = ['string', 'integer', 'number', 'boolean', 'list', 'object'];

function compileParam(name: string, draft: ParamDraft, problems: Problems): Param {
  const type = draft.type ?? inferType(draft);
  const known = PARAM_TYPES.find((candidate) => candidate === type);
  if (known === undefined) {
    const hint = problems.hint(type, () => PARAM_TYPES);
    problems.error(
      ['params', name, 'type'],
      'bad_type',
      `param \`${name}\` has the unknown type \`${type}\`${hint}`,
    );
  }
  return {
    type: known ?? 'string',
    description: draft.description ?? '',
    domain: compileDomain(name, draft, known ?? 'string', problems),
    required: draft.required ?? false,
    ...(whoMay(draft.setBy, ['params', name, 'setBy'], problems) === 'human'
      ? { setBy: 'human' as const }
      : {}),
    ...(draft.default === undefined ? {} : { default: draft.default }),
  };
}

function inferType(draft: ParamDraft): string {
  const sample: Json | undefined =
    draft.default ?? draft.choices?.[0] ?? draft.constant ?? draft.min ?? draft.max;
  if (typeof sample === 'number') return Number.isInteger(sample) ? 'integer' : 'number';
  if (typeof sample === 'boolean') return 'boolean';
  if (Array.isArray(sample)) return 'list';
  return sample !== null && typeof sample === 'object' ? 'object' : 'string';
}

function compileDomain(
  name: string,
  draft: ParamDraft,
  type: Param['type'],
  problems: Problems,
): ParamDomain | null {
  const { min, max } = draft;
  const kinds = [draft.choices, draft.constant, min ?? max].filter((part) => part !== undefined).length;
  if (kinds > 1) {
    problems.error(
      ['params', name],
      'bad_domain',
      `param \`${name}\` takes choices, a constant or a range, not several`,
    );
  }
  if (draft.constant !== undefined) return { kind: 'constant', value: draft.constant };
  if (draft.choices !== undefined) {
    if (draft.choices.length === 0)
      problems.error(['params', name, 'choices'], 'bad_domain', `param \`${name}\` has no choices`);
    return { kind: 'choice_set', choices: draft.choices };
  }
  if (min === undefined && max === undefined) return null;
  if (type !== 'integer' && type !== 'number') {
    problems.error(
      ['params', name],
      'bad_domain',
      `param \`${name}\` has a range, so its type must be integer or number`,
    );
  }
  if (min !== undefined && max !== undefined && min > max) {
    problems.error(
      ['params', name, 'min'],
      'bad_domain',
      `param \`${name}\` has a minimum above its maximum`,
    );
  }
  if (type === 'integer' && min !== undefined && max !== undefined)
    return { kind: 'bounded_int', lo: min, hi: max };
  return { kind: 'range', min: min ?? null, max: max ?? null };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
