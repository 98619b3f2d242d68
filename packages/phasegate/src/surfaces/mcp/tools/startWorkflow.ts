import {
  canonicalJson,
  type JsonObject,
  own as ownValue,
  type Param,
  PhasegateError,
  type RunSummary,
  type RunView,
  type StartRequest,
} from '@phasegate/core';
import { kindOf, UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { goalProblem, normaliseGoal, sameTarget } from '@phasegate/core/model';
import { encodeLeniency, encodeNotStarted, encodeOverview, encodeSessionPhase } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { createTurns } from '../../../limits/turns.ts';
import type { CatalogWorkflow } from '../../../runtime/ports.ts';
import { objectArgument, optionalText, textArgument, wrongCall } from '../arguments.ts';
import { remember } from '../session.ts';
import { MCP } from '../spell.ts';
import { type McpTool, MOVING, type ToolCall } from '../tool.ts';

/** `start_workflow`: the first phase of a new run, or the current one of the agent's own run under way. */
export const startWorkflow: McpTool = {
  name: 'start_workflow',
  title: 'Start a workflow',
  description:
    'Start a workflow, or take up your own unfinished run of it with the same target and options. Gives the session_id all other tools need, the titles of the phases, and the first phase. Do what phase_content says, then make the call in next_action.',
  input: {
    workflow_type: { type: 'string', description: 'an id of `list_workflows`' },
    goal: {
      type: 'string',
      description:
        'what the run is to achieve, in your words, at most 2,000 characters; a run under way keeps its own',
    },
    target_file: { type: 'string', description: 'what the work is about' },
    options: {
      anyOf: [{ type: 'object' }, { type: 'string' }],
      description: 'the params of the workflow: an object, or the JSON text of one',
    },
  },
  required: ['workflow_type'],
  output: SESSION_ANSWERS.start_workflow,
  annotations: MOVING,
  alwaysLoad: true,
  call: (args, call) => oneAtATime(call.agent ?? '', () => start(args, call)),
};

// An agent may call twice at once; looking for its run and making one must not be torn apart. A start may take long,
// so that nobody waits for another agent's.
const turns = createTurns({ what: 'starts', atOnce: 1, waiting: 16 });

async function oneAtATime<T>(agent: string, act: () => Promise<T>): Promise<T> {
  const end = await turns.take(agent);
  try {
    return await act();
  } finally {
    end();
  }
}

async function start(args: JsonObject, call: ToolCall): Promise<JsonObject> {
  const { phasegate, catalog, run } = call;
  const name = textArgument(args, 'workflow_type');
  const target = optionalText(args, 'target_file') ?? null;
  const goal = goalArgument(args);
  const params = objectArgument(args, 'options');
  const loaded = await catalog.load(name, { params, target }).catch((error: unknown) => error);
  if (!isLoaded(loaded)) {
    // A run has its own copy of all it needs: files that were broken or removed since must not hide it.
    const kept = await unfinished({ workflow: name, target, fits: (given) => contains(given, params) }, call);
    if (kept !== undefined && (run === undefined || kept.run === run))
      return describeStarted(kept, call, resumedWith(kept, goal));
    // The runtime refuses it too, and that is recorded.
    if (loaded instanceof PhasegateError && loaded.unaccepted !== undefined && run === undefined)
      await phasegate.start({ workflow: name, target, params, ...goal });
    throw loaded;
  }
  const { workflow } = loaded;
  if (run !== undefined) return describeServed(workflow.id, call, { run, goal });
  const own = await unfinished(
    { workflow: workflow.id, target, fits: (given) => same(given, filled(params, workflow.params)) },
    call,
  );
  if (own !== undefined) return describeStarted(own, call, resumedWith(own, goal));
  const { verdict, view } = await phasegate.start({ workflow: name, target, params, ...goal });
  if (view === null) {
    const again = `start_workflow(workflow_type=${JSON.stringify(name)}, options={…}) with this corrected`;
    return encodeNotStarted(verdict.blockers, again, MCP);
  }
  return describeStarted(view, call, { resumed: false, ...encodeLeniency(verdict, view, MCP) });
}

// A run that waits for a human is taken up too: starting afresh must be no way around a gate.

interface Wanted {
  readonly workflow: string;
  readonly target: string | null;
  /** Whether a run with these params is meant. */
  fits(params: JsonObject): boolean;
}

async function unfinished(wanted: Wanted, { phasegate }: ToolCall): Promise<RunView | undefined> {
  const { workflow, target } = wanted;
  // Not all at once: those that ended are more with every day, and those that others hold are not the caller's.
  const listed = await Promise.all(
    UNFINISHED_STATUSES.map((status) => phasegate.runs({ workflow, status, held: true })),
  );
  const newestFirst = (one: RunSummary, other: RunSummary) =>
    one.startedAt === other.startedAt ? 0 : one.startedAt < other.startedAt ? 1 : -1;
  for (const summary of listed.flat().sort(newestFirst)) {
    // Nobody's cannot be taken up.
    if (summary.holder === null || !sameTarget(summary.target, target)) continue;
    const view = await phasegate.view(summary.run);
    if (wanted.fits(view.params)) return view;
  }
  return undefined;
}

function same(one: JsonObject, other: JsonObject): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function contains(all: JsonObject, some: JsonObject): boolean {
  return same(all, { ...all, ...some });
}

function isLoaded(loaded: unknown): loaded is CatalogWorkflow {
  return typeof loaded === 'object' && loaded !== null && 'workflow' in loaded;
}

function filled(given: JsonObject, params: Readonly<Record<string, Param>>): JsonObject {
  const presets = Object.entries(params).flatMap(([name, { default: preset }]) =>
    preset === undefined ? [] : [[name, preset] as const],
  );
  return { ...Object.fromEntries(presets), ...given };
}

type AskedGoal = Pick<StartRequest, 'goal'>;

/** Unlike other texts, an empty one is not left out: anyone who writes a goal means one. */
function goalArgument(args: JsonObject): AskedGoal {
  const goal = ownValue(args, 'goal') ?? undefined;
  if (goal === undefined) return {};
  if (typeof goal !== 'string')
    throw wrongCall(
      `\`goal\` must be text, got ${kindOf(goal)}`,
      'say in words what the run is to achieve, or leave it out',
    );
  const problem = goalProblem(goal);
  if (problem !== null) throw wrongCall(problem);
  return { goal };
}

/** A goal is for the whole run: another one changes nothing, which the one who gave it must know. */
function resumedWith(view: RunView, { goal }: AskedGoal): JsonObject {
  if (goal === undefined || view.goal?.text === normaliseGoal(goal)) return { resumed: true };
  const message = `your run of this workflow is not finished and keeps ${view.goal === undefined ? 'having no goal' : 'the goal it was started with'}; the goal you gave now was not taken`;
  return { resumed: true, message };
}

async function describeServed(
  workflow: string,
  call: ToolCall,
  { run, goal }: { readonly run: string; readonly goal: AskedGoal },
): Promise<JsonObject> {
  const view = await call.phasegate.view(run);
  if (view.workflow === workflow) return describeStarted(view, call, resumedWith(view, goal));
  throw new PhasegateError('not_permitted', `this server serves the session \`${run}\` and starts no other`);
}

async function describeStarted(view: RunView, call: ToolCall, how: JsonObject): Promise<JsonObject> {
  remember(call, view);
  const workflow_overview = encodeOverview(await call.phasegate.overview(view.run));
  const { run: session_id, trusted } = view;
  return { session_id, ...how, trusted, workflow_overview, ...encodeSessionPhase(view, MCP) };
}
