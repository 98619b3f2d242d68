import type { Phase, PhaseId, Workflow } from '@phasegate/core/model';
import {
  DEFAULT_VISITS,
  declaredNames,
  type Expression,
  edgesOf,
  isJsonObject,
  type Json,
  type JsonObject,
  leadsBack,
  own,
  pathsOf,
} from '@phasegate/core/model';
import { type GivenList, listsOf, pathOf } from './givenItems.ts';
import { paramsToTry } from './paramsToTry.ts';
import { atomsOf } from './partialTruth.ts';
import { clashOf, conditionOf, leavingConditions } from './phaseConditions.ts';
import type { Finding } from './report.ts';

/** A workflow in which everything that depends on evidence is asked for, so that it can be answered every way. */
export interface Abstraction {
  /** What the engine is given: no evidence, no tasks, conditions as questions, lists that are made up. */
  readonly workflow: Workflow;
  /** What each parallel phase works on. */
  readonly lists: ReadonlyMap<PhaseId, GivenList>;
  readonly conditions: ReadonlyMap<PhaseId, Expression>;
  /** Answers a condition on evidence can have at all, by phase. */
  readonly answers: ReadonlyMap<PhaseId, readonly boolean[]>;
  /** The names each phase hands in: what another one reads under them it can change. */
  readonly declared: ReadonlyMap<PhaseId, readonly string[]>;
  readonly tried: ReadonlySet<string>;
  /** Every combination of the params that are tried. */
  readonly starts: readonly JsonObject[];
  /** How high a visit is counted. */
  readonly visitCap: number;
  /** Phases whose visits matter, by the phase a run is in. */
  readonly liveVisits: ReadonlyMap<string, ReadonlySet<string>>;
  /** Phases whose iterations matter, by the phase a run is in. */
  readonly liveIterations: ReadonlyMap<string, ReadonlySet<string>>;
  /** The ids as text of all a phase can lead to, and its own. */
  readonly ahead: ReadonlyMap<string, ReadonlySet<string>>;
  readonly notes: readonly Finding[];
}

/** Takes from a workflow what nobody knows before it runs. */
export function abstractionOf(workflow: Workflow, maxParams: number): Abstraction {
  const expressions = workflow.phases.flatMap(expressionsOf);
  const { tried, starts, notes } = paramsToTry(workflow, expressions, maxParams);
  const conditions = new Map<PhaseId, Expression>();
  const answers = new Map<PhaseId, readonly boolean[]>();
  const lists = listsOf(workflow);
  const phases = workflow.phases.map((phase): Phase => {
    const { next } = phase;
    if (next.kind === 'when' && next.condition.kind === 'expression') {
      conditions.set(phase.id, next.condition.expression);
      answers.set(phase.id, answersOf(workflow, phase, next.condition.expression));
    }
    const condition = next.kind === 'when' && !isKnownByItself(phase, tried) ? ASKED : null;
    return {
      ...phase,
      tasks: [],
      evidence: { fields: [], artifacts: [] },
      parallel: phase.parallel === null ? null : { ...phase.parallel, key: pathOf(lists, phase.id) },
      // What a human is shown decides nothing, and nothing is in the explored runs to be shown.
      humanGate: phase.humanGate === null ? null : { ...phase.humanGate, context: [] },
      next: next.kind === 'when' && condition !== null ? { ...next, condition } : next,
    };
  });
  return {
    workflow: { ...workflow, phases, params: triedParams(workflow, tried) },
    lists,
    conditions,
    answers,
    declared: new Map(workflow.phases.map((phase) => [phase.id, declaredNames(phase)])),
    tried,
    starts,
    visitCap: Math.max(DEFAULT_VISITS, ...expressions.flatMap((one) => iterationLimits(one, starts))),
    ...liveCounters(workflow),
    notes,
  };
}

const ASKED = { kind: 'function', ref: 'asked', source: 'asked' } as const;

/**
 * Whether the engine answers a condition by itself. A phase without items may be gone through several times at once, where
 * a question has one answer for all of them, and the count of visits has not.
 */
function isKnownByItself({ parallel, next }: Phase, tried: ReadonlySet<string>): boolean {
  if (parallel === null || next.kind !== 'when' || next.condition.kind !== 'expression') return false;
  return pathsOf(next.condition.expression).every(
    ({ root, steps }) => root === 'iteration' || (root === 'params' && tried.has(String(steps[0]))),
  );
}

function expressionsOf(phase: Phase): readonly Expression[] {
  const checks = [...phase.preconditions, ...phase.postconditions, ...phase.blockers].map(conditionOf);
  const { next } = phase;
  const route =
    next.kind === 'when' && next.condition.kind === 'expression' ? [next.condition.expression] : [];
  return [...checks.filter((check) => check !== null), ...route];
}

/** Which answers evidence that passes the phase's checks can lead to; both, where the checks themselves clash. */
function answersOf(workflow: Workflow, phase: Phase, condition: Expression): readonly boolean[] {
  // What is wrong with evidence is then told, and the evidence taken.
  const strict = workflow.enforcement.mode !== 'permissive';
  const checks = strict ? leavingConditions(phase) : [];
  const possible = [true, false].filter(
    (answer) =>
      clashOf(workflow, phase, { wanted: [...checks, [condition, answer]], schemas: strict }) === null,
  );
  return possible.length > 0 ? possible : [true, false];
}

function triedParams({ params }: Workflow, tried: ReadonlySet<string>): Workflow['params'] {
  const kept = Object.entries(params).filter(([name]) => tried.has(name));
  return Object.fromEntries(
    kept.map(([name, { default: _, ...param }]) => [name, { ...param, required: false }]),
  );
}

/** Every number that a part of an expression could compare the iteration with, and one more. */
function iterationLimits(expression: Expression, starts: readonly JsonObject[]): readonly number[] {
  return atomsOf(expression).flatMap((atom) => {
    const paths = pathsOf(atom);
    if (!paths.some(({ root }) => root === 'iteration')) return [];
    const names = paths.flatMap(({ root, steps }) => (root === 'params' ? [String(steps[0])] : []));
    const given = names.flatMap((name) => starts.map((start) => own(start, name) ?? null));
    return [...literalsIn(atom), ...given].flatMap(numbersIn).map((number) => Math.ceil(number) + 1);
  });
}

function literalsIn(expression: Expression): readonly Json[] {
  switch (expression.kind) {
    case 'literal':
      return [expression.value];
    case 'list':
      return expression.items.flatMap(literalsIn);
    case 'compare':
      return [expression.left, expression.right].flatMap(literalsIn);
    default:
      return [];
  }
}

/** Numbers and lengths, as a condition may ask for either. */
function numbersIn(value: Json): readonly number[] {
  if (typeof value === 'number') return [value];
  if (typeof value === 'string') return [value.length];
  if (!Array.isArray(value) && !isJsonObject(value)) return [];
  const inner: readonly Json[] = Object.values(value);
  return [inner.length, ...inner.flatMap(numbersIn)];
}

/** A counter that no phase ahead reads says nothing about what can still happen: keeping it would only multiply states. */
function liveCounters(workflow: Workflow): Pick<Abstraction, 'liveVisits' | 'liveIterations' | 'ahead'> {
  const readers = new Map<string, readonly string[]>();
  const counting = new Set<string>();
  for (const phase of workflow.phases) {
    const limit = phase.next.kind === 'to' ? null : phase.next.maxIterations;
    if (limit !== null) counting.add(String(phase.id));
    // Where a loop leads when it is exhausted is bounded by visits, whatever bounds the loop.
    const back = edgesOf(phase).filter(
      ({ by, to }) =>
        (by === 'exhausted' || (limit === null && by !== 'option')) && leadsBack(workflow, phase.id, to),
    );
    const asks = expressionsOf(phase).some((one) => pathsOf(one).some(({ root }) => root === 'iteration'));
    readers.set(String(phase.id), [...back.map(({ to }) => String(to)), ...(asks ? [String(phase.id)] : [])]);
  }
  const reachable = reachabilityOf(workflow);
  const liveVisits = new Map<string, ReadonlySet<string>>();
  const liveIterations = new Map<string, ReadonlySet<string>>();
  for (const phase of workflow.phases) {
    const ahead = reachable.get(String(phase.id)) ?? new Set();
    liveVisits.set(String(phase.id), new Set([...ahead].flatMap((id) => readers.get(id) ?? [])));
    liveIterations.set(String(phase.id), new Set([...ahead].filter((id) => counting.has(id))));
  }
  return { liveVisits, liveIterations, ahead: reachable };
}

/** For each phase, the ids as text of all it can lead to, and its own. */
export function reachabilityOf(workflow: Workflow): ReadonlyMap<string, ReadonlySet<string>> {
  const ways = new Map(
    workflow.phases.map((phase) => [
      String(phase.id),
      [...new Set(edgesOf(phase).flatMap(({ to }) => (to === null ? [] : [String(to)])))],
    ]),
  );
  return new Map(
    workflow.phases.map(({ id }) => {
      const reached = new Set([String(id)]);
      // A set is walked in the order of insertion, what is added on the way included.
      for (const here of reached) for (const next of ways.get(here) ?? []) reached.add(next);
      return [String(id), reached];
    }),
  );
}
