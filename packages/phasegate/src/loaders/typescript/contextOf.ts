import type { KnownNames } from '@phasegate/core/engine';
import { namedView } from './namedView.ts';

/** A JSON object, not yet looked at. */
type Fields = Readonly<Record<string, unknown>>;

/** Where the names of a context come from, beside the data. */
export interface ContextNames {
  /** Names that are declared though nothing may be there yet. */
  readonly known: Partial<KnownNames>;
  /** Opens the workflow's database at the first look at it; absent where the workflow has none. */
  readonly db?: () => unknown;
}

/** Names that every `ctx` has, null where there is nothing. */
const ALWAYS = ['runId', 'step', 'step_id', 'result', 'item', 'iteration', 'target', 'attempt'];
const DECLARE = 'in `requiredEvidence` or `requiredArtifacts`';

/**
 * What a workflow's function is given: params by their own names, the evidence of this step, and the run's state.
 * A name that is declared and absent is null, so that `ctx.book !== null` asks what it seems to ask; to read a name
 * that nobody declares is an error for the same reason. Only `state` is open: what is in it is up to the handlers.
 */
export function contextOf(given: Fields, { known, db }: ContextNames): Fields {
  const { phase, params: _params, state: _state, result, ...rest } = given;
  const state = structuredClone(fieldsOf(given.state));
  const declared = known.params ?? [];
  const evidence = known.artifacts ?? [];
  const params = frozenView({
    root: 'ctx.params',
    data: fieldsOf(given.params),
    known: declared,
    cure: (name) => `declare \`${name}\` in \`params\` of the workflow`,
  });
  const view = namedView({
    root: 'ctx',
    data: {
      ...Object.fromEntries(declared.map((name) => [name, null])),
      ...params,
      ...rest,
      ...(isFields(result) ? { result: resultOf(result, phase, known) } : {}),
      artifacts: frozenView({
        root: 'ctx.artifacts',
        data: fieldsOf(given.artifacts),
        known: evidence,
        cure: (name) => `declare \`${name}\` ${DECLARE} of a step`,
      }),
      approved: frozenView({
        root: 'ctx.approved',
        data: fieldsOf(given.approved),
        known: known.approved ?? [],
        cure: (name) => `put \`${name}\` into the \`context\` of a human gate`,
      }),
      step: phase,
      step_id: phase,
      params,
      workflow_params: params,
      state,
      step_state: state,
      checkpoint: checkpointOf(fieldsOf(given.checkpoint), known),
    },
    known: [...ALWAYS, ...(known.roots ?? [])],
    cure: (name) => {
      if (name === 'db') return 'declare `database` in the workflow';
      if (evidence.includes(name)) return `read \`ctx.artifacts.${name}\``;
      if (Object.hasOwn(state, name)) return `read \`ctx.state.${name}\``;
      return `declare \`${name}\` in \`params\` of the workflow`;
    },
  });
  if (db !== undefined) Object.defineProperty(view, 'db', { enumerable: true, get: db });
  return view;
}

function resultOf(result: Fields, phase: unknown, { result: declared }: Partial<KnownNames>): Fields {
  return frozenView({
    root: 'ctx.result',
    data: result,
    known: declared ?? [],
    cure: (name) => {
      const declare = `declare \`${name}\` ${DECLARE} of step \`${String(phase)}\``;
      return declared == null ? `${declare}, or ask \`'${name}' in ctx.result\` first` : declare;
    },
  });
}

/** The checkpoint, whose completed steps can be asked for by name too. */
function checkpointOf(checkpoint: Fields, known: Partial<KnownNames>): Fields {
  const completed = Array.isArray(checkpoint.completedSteps) ? [...checkpoint.completedSteps] : [];
  Object.defineProperty(completed, 'includes', {
    enumerable: false,
    value: (wanted: unknown) =>
      typeof wanted === 'object'
        ? Array.prototype.includes.call(completed, wanted)
        : completed.some(
            (result) => isPassed(fieldsOf(result)) && String(fieldsOf(result).step) === String(wanted),
          ),
  });
  return frozenView({
    root: 'ctx.checkpoint',
    data: { ...checkpoint, completedSteps: completed },
    known: known.checkpoint ?? [],
    cure: (name) => `declare \`${name}\` ${DECLARE} of a step, or ask \`'${name}' in ctx.checkpoint\` first`,
  });
}

/** What a human rejected, or nobody decided in time, was handed in, but not completed; an override completes nothing. */
function isPassed({ outcome }: Fields): boolean {
  return outcome !== 'rejected' && outcome !== 'expired' && outcome !== 'overridden';
}

function frozenView(named: Parameters<typeof namedView>[0]): Fields {
  return freeze(namedView(named));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
  return value;
}
