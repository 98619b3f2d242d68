import { type Json, own } from '../json.ts';
import { DEFAULT_VISITS } from '../model/compile/checkGraph.ts';
import { leadsBack } from '../model/edges.ts';
import { type Expression, evaluate, pathsOf } from '../model/expression/expression.ts';
import { coveredAt, nameIn } from '../model/names.ts';
import type { Outcome, Phase, PhaseId, Target } from '../model/workflow.ts';
import type { Asking } from './deciding.ts';
import { standOf } from './itemStand.ts';
import { type Item, type Run, timesOf } from './run.ts';
import { approvedCheckpointOf, type Judged, routeScopeFor, routeSubjectFor, valueAt } from './scope.ts';
import { contestedReason } from './values.ts';

/** Where a completed phase leads. */
export type Routed =
  | { readonly kind: 'to'; readonly target: Target; readonly iterated: boolean }
  /** Something must be looked at first. */
  | { readonly kind: 'asking' }
  | { readonly kind: 'unanswerable'; readonly reason: string }
  | { readonly kind: 'unmapped'; readonly outcome: Outcome }
  | { readonly kind: 'exhausted'; readonly message: string };

/** Follows a phase's route: by name, condition or outcome, counting how often a way back is taken. */
export function routeFrom(run: Run, judged: Judged & { readonly outcome: Outcome }, asking: Asking): Routed {
  const { phase, outcome } = judged;
  const route = phase.next;
  const { onEmpty } = phase.parallel ?? {};
  if (onEmpty !== undefined && outcome === 'ok' && standOf(run.work.items).total === 0) {
    return bounded(run, phase, onEmpty);
  }
  if (route.kind === 'to') return bounded(run, phase, route.target);
  if (route.kind === 'outcomes') {
    const target = Object.hasOwn(route.map, outcome) ? route.map[outcome] : route.otherwise;
    return target === undefined ? { kind: 'unmapped', outcome } : bounded(run, phase, target);
  }
  const answer = answerCondition(run, judged, asking);
  if (answer.kind !== 'answer') return answer;
  return bounded(run, phase, answer.value ? route.onTrue : route.onFalse);
}

/** The items of a parallel phase about to be entered, null for an ordinary one, or why there are none. */
export function itemsFor(
  run: Run,
  phase: Phase,
):
  | { readonly ok: true; readonly items: Readonly<Record<string, Item>> | null }
  | { readonly ok: false; readonly reason: string } {
  if (phase.parallel === null) return { ok: true, items: null };
  const { key } = phase.parallel;
  const values = valueAt(approvedCheckpointOf(run, phase, { own: [] }), key);
  if (!Array.isArray(values)) return { ok: false, reason: noList(run, phase, key) };
  if (values.length > MOST_ITEMS) {
    return {
      ok: false,
      reason: `\`${key}\` holds ${values.length} items, and at most ${MOST_ITEMS} are worked on`,
    };
  }
  const attempts = timesOf(run.owed ?? {}, phase.id);
  const items = new Map<string, Item>();
  const unfit = values.flatMap((value: Json, index) => keyProblem(itemName(value, index), index));
  if (unfit.length > 0) {
    const more = unfit.length > SHOWN ? ` and ${unfit.length - SHOWN} more` : '';
    return { ok: false, reason: `\`${key}\` has ${unfit.slice(0, SHOWN).join(', ')}${more}` };
  }
  values.forEach((value: Json, index) => {
    let name = itemName(value, index);
    while (items.has(name)) name = `${name}#${index + 1}`;
    items.set(name, { status: 'pending', value, evidence: null, attempts, error: null });
  });
  // Made of entries, so that an item called `__proto__` is one.
  return { ok: true, items: Object.fromEntries(items) };
}

const MOST_ITEMS = 10_000;
/** A key stands in tokens, leases, folders and lines of text, and must fit into all of them. */
const LONGEST_KEY = 200;
const SHOWN = 5;
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

function keyProblem(name: string, index: number): readonly string[] {
  if (name.length > LONGEST_KEY) {
    return [
      `a key of ${name.length} characters at item ${index + 1} (at most ${LONGEST_KEY}; give it an \`id\`)`,
    ];
  }
  return UNFIT.test(name) ? [`a line end or control character in the key of item ${index + 1}`] : [];
}

function noList(run: Run, phase: Phase, key: string): string {
  const name = nameIn(key);
  const contested = contestedReason(run, name);
  if (contested !== null) return contested;
  const approved = coveredAt(run.workflow, phase.id).has(name) ? ' that a human approved' : '';
  return `\`${key}\` holds no list of items${approved}`;
}

function answerCondition(
  run: Run,
  judged: Judged,
  asking: Asking,
):
  | { readonly kind: 'answer'; readonly value: boolean }
  | Extract<Routed, { kind: 'asking' | 'unanswerable' }> {
  const { phase } = judged;
  if (phase.next.kind !== 'when') throw new TypeError('only a conditional route has a condition');
  const { condition } = phase.next;
  if (condition.kind === 'expression') {
    const result = evaluate(condition.expression, routeScopeFor(run, judged));
    if (result.ok) return { kind: 'answer', value: result.value };
    const reason = `\`${condition.source}\`: ${result.error.message}`;
    return { kind: 'unanswerable', reason: [reason, ...contestedIn(run, condition.expression)].join('; ') };
  }
  const look = {
    kind: 'condition' as const,
    id: `${phase.id}/next`,
    ref: condition.ref,
    subject: routeSubjectFor(run, judged),
  };
  const fact = asking.fact(look);
  if (fact === undefined) return { kind: 'asking' };
  return fact.result.ok
    ? { kind: 'answer', value: fact.result.value }
    : { kind: 'unanswerable', reason: `\`${condition.source}\`: ${fact.result.reason}` };
}

function contestedIn(run: Run, expression: Expression): readonly string[] {
  return pathsOf(expression).flatMap(({ root, steps: [name] }) => {
    const reason = root === 'checkpoint' && typeof name === 'string' ? contestedReason(run, name) : null;
    return reason === null ? [] : [reason];
  });
}

/** An exhausted loop never loops on: it follows `onExhausted`, or a human must act. */
function bounded(run: Run, phase: Phase, target: Target): Routed {
  if (target === null || !leadsBack(run.workflow, phase.id, target))
    return { kind: 'to', target, iterated: false };
  const limit = phase.next.kind === 'to' ? null : phase.next.maxIterations;
  const taken = timesOf(run.iterations, phase.id);
  if (limit !== null ? taken < limit : timesOf(run.visits, target) < DEFAULT_VISITS) {
    return { kind: 'to', target, iterated: true };
  }
  const instead = phase.next.kind === 'to' ? undefined : phase.next.onExhausted;
  if (instead !== undefined) {
    const again = instead !== null && leadsBack(run.workflow, phase.id, instead);
    if (!again || timesOf(run.visits, instead) < DEFAULT_VISITS) {
      return { kind: 'to', target: instead, iterated: false };
    }
    return { kind: 'exhausted', message: visitedOut(instead) };
  }
  const message =
    limit !== null
      ? `the way back from \`${phase.id}\` to \`${target}\` was taken ${limit} times, which is its limit`
      : visitedOut(target);
  return { kind: 'exhausted', message };
}

function visitedOut(target: PhaseId): string {
  return `phase \`${target}\` was visited ${DEFAULT_VISITS} times, which is the limit of an unbounded loop`;
}

function itemName(value: Json, index: number): string {
  if (typeof value === 'string' && value !== '') return value;
  for (const key of ['key', 'id', 'name']) {
    const name = own(value, key);
    if (typeof name === 'string' && name !== '') return name;
    if (typeof name === 'number') return String(name);
  }
  return String(index + 1);
}
