import { type Json, type JsonObject, type Phase, phaseById, type Run } from '@phasegate/core';
import { checkpointOf, itemsFor, scopeFor } from '@phasegate/core/engine';
import { declaredNames, edgesOf, hasFreeResult } from '@phasegate/core/model';
import type { ContractTests } from '../runtime/ports.ts';
import { TESTER } from './bed.ts';
import { namedValues, routeExpression, valuesToTry } from './conditionValues.ts';
import { type JsonPath, valueAt } from './jsonPath.ts';
import { evidenceWith, sampleEvidence } from './sampleEvidence.ts';

/** Where a case is about. */
export interface Place {
  readonly phase: Phase;
  /** Of the workflow as it was loaded, in order. */
  readonly phases: readonly Phase[];
  readonly tests: ContractTests | null;
  /** How often the phase has been entered. */
  readonly times: number;
}

/** A run at the phase, what to submit there, and whether that was made up. */
export type Placed =
  | { readonly ok: true; readonly run: Run; readonly evidence: JsonObject; readonly madeUp: boolean }
  | { readonly ok: false; readonly reason: string };

/**
 * Puts a fresh run where a case is about: after the steps before it, in its iteration. What those left is taken from
 * the contract tests; where they say nothing it is made up, with what the phase and its way on ask for.
 */
export function placeRun(fresh: Run, place: Place): Placed {
  const { phase, phases, tests, times } = place;
  const given = tests?.evidence[String(phase.id)];
  const own = given === undefined ? sampleEvidence(phase) : { ok: true as const, evidence: given };
  if (!own.ok) return { ok: false, reason: noEvidence(phase, own.reason) };
  const earlier = phases
    .slice(
      0,
      phases.findIndex(({ id }) => id === phase.id),
    )
    .filter((one) => isEntered(one, fresh.params));
  let run: Run = {
    ...fresh,
    visits: { ...Object.fromEntries(earlier.map(({ id }) => [String(id), 1])), [String(phase.id)]: times },
    iterations: times === 1 ? {} : { [String(phase.id)]: times - 1 },
  };
  for (const one of earlier) run = completed(run, one, tests);

  let { evidence } = own;
  for (const { path, values, by, evenIfMade } of wishes(run, phase, evidence)) {
    const there =
      valueAt(by === 'itself' ? evidence : { ...checkpointOf(run), ...evidence }, path) !== undefined;
    if (there && !(evenIfMade && isMadeUp(run, { path, tests }))) continue;
    const may = by !== 'earlier' && given === undefined;
    const filled = may ? evidenceWith(phase, evidence, { path, values }) : null;
    if (filled !== null) evidence = filled;
    else if (by !== 'itself') run = filledBefore(run, { earlier, tests, path, values });
  }
  const items = itemsFor(run, phase);
  if (!items.ok) return { ok: false, reason: `${items.reason}: nothing before it gives them` };
  const work = { ...run.work, items: items.items };
  return { ok: true, run: { ...run, work }, evidence, madeUp: given === undefined };
}

interface Wish {
  readonly path: JsonPath;
  readonly values: readonly Json[];
  /** Who may give it: the phase itself, one before it, or either. */
  readonly by: 'itself' | 'earlier' | 'either';
  /** What was made up without knowing of the wish gives way to it. */
  readonly evenIfMade: boolean;
}

/** What must be somewhere: the phase's own items, what its condition names, and the items of where it leads. */
function wishes(run: Run, phase: Phase, evidence: JsonObject): readonly Wish[] {
  const expression = routeExpression(phase);
  const named =
    expression === null
      ? []
      : namedValues(expression, phase)
          .filter(({ path }) => path.length > 0)
          .map(({ path, from, at }): Wish => {
            const scope = scopeFor(run, { phase, evidence });
            const values = valuesToTry(expression, at, scope);
            return { path, values, by: BY[from], evenIfMade: false };
          });
  const leads = edgesOf(phase).flatMap(({ to }) => phaseById(run.workflow, to)?.parallel ?? []);
  return [
    ...(phase.parallel === null ? [] : [items(phase.parallel.key, 'earlier')]),
    ...named,
    ...leads.map(({ key }) => items(key, phase.work.kind === 'handler' ? 'earlier' : 'either')),
  ];
}

const BY = { result: 'itself', checkpoint: 'either', state: 'earlier' } as const;

function items(key: string, by: Wish['by']): Wish {
  return { path: key.split('.'), values: ITEMS, by, evenIfMade: true };
}

/** Nobody said what is at a path: neither a param nor the contract tests. */
function isMadeUp(run: Run, { path, tests }: Pick<Wish, 'path'> & Pick<Place, 'tests'>): boolean {
  const given = run.completions.filter(({ phase }) => tests?.evidence[String(phase)] !== undefined);
  return valueAt(checkpointOf({ ...run, completions: given }), path) === undefined;
}

/** Two of each kind that lists are made of. */
const ITEMS: readonly Json[] = [
  ['item-1', 'item-2'],
  [{ id: 'item-1' }, { id: 'item-2' }],
  [1, 2],
  [{ name: 'item-1' }, { name: 'item-2' }],
];

function completed(run: Run, phase: Phase, tests: ContractTests | null): Run {
  const given = tests?.evidence[String(phase.id)];
  const made = given === undefined ? sampleEvidence(phase) : { ok: true as const, evidence: given };
  const evidence = made.ok ? made.evidence : {};
  const items = itemsFor(run, phase);
  const keys = items.ok && items.items !== null ? Object.keys(items.items) : null;
  const result = keys === null ? evidence : { items: Object.fromEntries(keys.map((key) => [key, evidence])) };
  const completion = {
    phase: phase.id,
    visit: 1,
    at: run.startedAt,
    by: TESTER.name,
    outcome: 'ok' as const,
    evidence: result,
    ...(phase.humanGate === null ? {} : { approved: {} }),
  };
  return { ...run, completions: [...run.completions, completion] };
}

/** The same with the value in what the last earlier step left that may have left it, and about which nothing was said. */
function filledBefore(
  run: Run,
  {
    earlier,
    tests,
    path,
    values,
  }: Pick<Wish, 'path' | 'values'> & Pick<Place, 'tests'> & { readonly earlier: readonly Phase[] },
): Run {
  const name = String(path[0]);
  const declaring = earlier.filter((phase) => declaredNames(phase).includes(name));
  // Where nobody declares the name, only a free result can hold it.
  const holding = declaring.length > 0 ? declaring : earlier.filter(hasFreeResult);
  for (const phase of holding.toReversed()) {
    if (tests?.evidence[String(phase.id)] !== undefined || phase.parallel !== null) continue;
    if (phase.work.kind === 'handler') {
      if (path.length > 1) continue;
      return { ...run, state: { ...run.state, [name]: values[0] ?? null } };
    }
    const index = run.completions.findIndex((completion) => completion.phase === phase.id);
    const before = run.completions[index];
    const evidence = before && evidenceWith(phase, before.evidence, { path, values });
    if (!before || !evidence) continue;
    return { ...run, completions: run.completions.with(index, { ...before, evidence }) };
  }
  return run;
}

function isEntered({ onlyWhen = {} }: Phase, params: JsonObject): boolean {
  return Object.entries(onlyWhen).every(([name, values]) => {
    const value = params[name];
    return value === undefined || values.some((one) => JSON.stringify(one) === JSON.stringify(value));
  });
}

function noEvidence({ id }: Phase, reason: string): string {
  return `no evidence could be made up (${reason}): give it under \`evidence: { ${id}: … }\` of the contract tests`;
}
