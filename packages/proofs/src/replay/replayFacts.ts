import type { Fact, Facts, Look, Subject } from '@phasegate/core/engine';
import type { Json } from '@phasegate/core/model';
import { jsonEqual } from '@phasegate/core/model';
import type { Replaying } from './replayReport.ts';

/** A question and the answer it got. */
export interface Answered {
  readonly look: Look;
  readonly fact: Fact;
}

/** What deciding again came to. */
export interface Settled<T> {
  /** Null where the way on hangs on something nobody looked at. */
  readonly decision: T | null;
  readonly answered: readonly Answered[];
  /** Checks nobody looked at; the decision took them as passed. */
  readonly open: readonly Look[];
}

/**
 * Decides with the answers there are. A check without one is taken as passed and named: what is refused even so is
 * refused whatever it would have found, and nothing else may be concluded.
 */
export async function settle<T extends object>(
  deciding: (facts: Facts) => T | { readonly looks: readonly Look[] },
  answer: (look: Look) => Fact | null | Promise<Fact | null>,
): Promise<Settled<T>> {
  const answered: Answered[] = [];
  const open: Look[] = [];
  const facts: Record<string, Fact> = {};
  for (;;) {
    const step = deciding(facts);
    if (!('looks' in step)) return { decision: step, answered, open };
    for (const look of step.looks) {
      const fact = (await answer(look)) ?? asItWas(look);
      if (fact !== null) answered.push({ look, fact });
      else open.push(look);
      if (fact === null && look.kind !== 'check') return { decision: null, answered, open };
      facts[look.id] = fact ?? TAKEN_AS_PASSED;
    }
  }
}

/** Answers what the changed workflow asks: as it was answered then, or by asking again what reads its subject only. */
export function answersFrom(
  then: readonly Answered[],
  { reads, look: ask }: Pick<Replaying, 'reads' | 'look'>,
): (look: Look) => Fact | null | Promise<Fact | null> {
  return (look) => {
    const recalled = recall(look, then, reads);
    if (recalled !== null) return recalled;
    const again = look.kind === 'check' && !isFunction(look) && reads(look.check.use) === 'subject';
    return again ? ask(look) : null;
  };
}

/** Whether the question was answered then, by code that is not the changed workflow's. */
export function answeredByOtherCode(look: Look, then: readonly Answered[]): boolean {
  if (look.kind === 'tree') return false;
  const asked = look.subject;
  if (asked.code === null || (look.kind === 'check' && !isFunction(look))) return false;
  return then.some(
    ({ look: one }) =>
      one.kind !== 'tree' &&
      one.subject.code !== asked.code &&
      sameName(look, one) &&
      sameSubject(asked, one.subject),
  );
}

/** A question that nobody can answer now, in words. */
export function lookName(look: Look): string {
  if (look.kind === 'handler') return `the handler \`${look.ref}\``;
  if (look.kind === 'condition') return `the condition \`${look.ref}\``;
  if (look.kind === 'tree') return 'the workspace';
  const { label, use } = look.check;
  return label === use ? `the check \`${use}\`` : `the check \`${label}\` (${use})`;
}

/** Nobody compared the workspace where something else was refused first, and no workflow changes what it was. */
function asItWas(look: Look): Fact | null {
  return look.kind === 'tree' ? { kind: 'tree', result: { ok: true, tree: look.tree, outside: [] } } : null;
}

const TAKEN_AS_PASSED: Fact = {
  kind: 'check',
  result: { status: 'passed', reason: 'nobody looked', class: 'verified' },
};

/** INVARIANT: an answer serves the very same question only, never one that merely stands in the same place. */
function recall(look: Look, then: readonly Answered[], reads: Replaying['reads']): Fact | null {
  const same = then.filter((one) => sameQuestion(look, one.look, reads));
  const inPlace = same.find((one) => one.look.id === look.id);
  if (inPlace !== undefined) return inPlace.fact;
  const [first] = same;
  // Asked twice with two answers: the world moved in between, and nobody knows which one would have been found.
  const agreed = same.every((one) => jsonEqual(asJson(one.fact), asJson(first?.fact ?? one.fact)));
  return first === undefined || !agreed ? null : first.fact;
}

function sameQuestion(asked: Look, then: Look, reads: Replaying['reads']): boolean {
  // What the workspace was is a fact for anyone; what was outside the scope then is judged by the scope of now.
  if (asked.kind === 'tree' || then.kind === 'tree') return asked.kind === then.kind;
  if (!sameName(asked, then)) return false;
  if (asked.kind !== 'check' || isFunction(asked)) return sameCode(asked.subject, then.subject);
  return reads(asked.check.use) === 'workspace' || sameSubject(asked.subject, then.subject);
}

function sameName(asked: Look, then: Look): boolean {
  if (asked.kind === 'tree' || then.kind === 'tree') return asked.kind === then.kind;
  if (asked.kind !== 'check') return asked.kind === then.kind && asked.ref === then.ref;
  return (
    then.kind === 'check' &&
    asked.check.use === then.check.use &&
    jsonEqual(asked.check.with, then.check.with)
  );
}

function sameCode(asked: Subject, then: Subject): boolean {
  return asked.code !== null && asked.code === then.code && sameSubject(asked, then);
}

function sameSubject(asked: Subject, then: Subject): boolean {
  return jsonEqual(dataOf(asked), dataOf(then));
}

/** The names a function may read follow from its code, which is compared on its own. */
function dataOf({ code: _code, known: _known, ...data }: Subject): Json {
  return asJson(data);
}

function isFunction(look: Extract<Look, { kind: 'check' }>): boolean {
  return look.check.use === 'function';
}

function asJson(value: object): Json {
  return value as unknown as Json;
}
