import type { Facts, Json, JsonObject, Outcome, Phase, Target } from '@phasegate/core';
import type { Check, GateOption } from '@phasegate/core/model';
import type { Asked } from './interpreter.ts';
import type { Seen, Visit } from './names.ts';
import { approved, contested, declared, get, meaning, read, readArtifact, readPath, wayOf } from './names.ts';
import type { Done, Item, Of, State, Would } from './state.ts';
import {
  claimRun,
  codesOf,
  end,
  escalate,
  goOn,
  need,
  object,
  openItems,
  phaseOf,
  Refusal,
  refuse,
  refuseHere,
  set,
  stuck,
  unrefused,
  untouched,
  visitsOf,
} from './state.ts';
import { answerOf, failing, namesIn } from './values.ts';

/** One item, or a phase without any, is as good as done. */
export function finish(s: State, asked: Asked, done: Done, { item, expected }: Finishing): Would {
  const isFail = done.outcome === 'fail';
  if (item === undefined) return isFail ? follow(s, asked, done, expected) : pass(s, asked, done, expected);
  const { evidence, outcome, update, word, letThrough = false, would } = done;
  set(item, { status: 'completed', holder: null, evidence, outcome, update, word, letThrough, would });
  goOn(s);
  if (openItems(s).length > 0) return stuck(s, 'attempts') ?? would;
  if (s.holder !== done.by) claimRun(s, done.by);
  return join(s, asked, done, expected);
}

type Finishing = { item: Item | undefined; expected: Target | undefined };

/** Every item is done: they speak together, and where that is refused all of them are open again. */
export function join(s: State, asked: Asked, { phase, by }: Done, expected: Target | undefined): Would {
  // In the order of an object's keys, as a run is stored: numbers first, then as in the list.
  const items = Object.values(Object.fromEntries(s.items));
  const has = (outcome: Outcome) => items.some((item) => item.outcome === outcome);
  const isSkipped = items.length > 0 && items.every((item) => item.outcome === 'skip');
  const of = <T>(get: (item: Item) => T) =>
    Object.fromEntries([...s.items].map(([key, item]) => [key, get(item)]));
  const words = [...s.items].flatMap(([key, { word }]) => (word ? [[key, word]] : []));
  const done: Done = {
    phase,
    by,
    word: words.length > 0 ? { items: Object.fromEntries(words) } : undefined,
    evidence: { items: of((item) => item.evidence) },
    outcome: has('fail') ? 'fail' : has('iterate') ? 'iterate' : isSkipped ? 'skip' : 'ok',
    outcomes: of((item) => item.outcome),
    update: Object.assign({}, ...items.map((item) => item.update)),
    would: items.flatMap((item) => item.would),
    letThrough: items.some((item) => item.letThrough),
  };
  try {
    if (done.outcome === 'fail') return follow(s, asked, done, expected);
    const failed = object(s, failing(asked.facts, 'join', phase.blockers), { counted: true });
    done.would.push(...failed);
    done.letThrough ||= failed.length > 0;
    return pass(s, asked, done, expected);
  } catch (refusal) {
    const isHint = refusal instanceof Refusal && refusal.whys[0]?.startsWith('not_the_next_phase');
    if (!isHint) for (const item of items) set(item, freshItem(item.attempts));
    throw refusal;
  }
}

/** The work is good: a human is asked where the phase has a gate, else the way on is taken. */
function pass(s: State, asked: Asked, done: Done, expected: Target | undefined): Would {
  const { humanGate, next, work } = done.phase;
  if (humanGate === null) return follow(s, asked, done, expected);
  const isWay = next.kind !== 'outcomes' || wayOf(next, done.outcome) !== undefined;
  if (!isWay && humanGate.options.some((option) => option.next === undefined))
    refuse(s, [`outcome_not_allowed ${done.outcome}`], { counted: work.kind === 'handler' });
  const shown = new Set(humanGate.context.map(firstOf));
  const unclear = [...shown].map((name) => [
    name,
    ...contested(asIf(s, { ...done, letThrough: false }), name),
  ]);
  const whys = unclear.filter(({ length }) => length > 1).map((why) => `context_unclear ${why}`);
  if (whys.length > 0) refuse(s, whys);
  const shut = shutBy(s, asked.facts, done, humanGate.options);
  if (shut.length > 0) refuse(s, shut);
  const name = `${humanGate.id}#${++s.gates}`;
  const gate = { name, since: asked.at, done, votes: [] };
  return set(s, { status: 'waiting', gate }) ?? done.would;
}

/** Why nobody could pass a gate: every yes would be refused for what is handed in, and no no leads to another phase. */
function shutBy(s: State, facts: Facts, done: Done, options: readonly GateOption[]): string[] {
  const { id, next } = done.phase;
  const isAsked = next.kind === 'when' && next.condition.kind === 'function';
  if (isAsked || s.workflow.enforcement.mode === 'permissive') return [];
  const ways = options.flatMap((option) => {
    // Anyone who is turned away at a gate leaves no trace.
    const trial: State = { ...s, status: 'waiting' };
    let means = '';
    const meant = against(() => {
      means = choiceOf(trial, facts, done, option);
    });
    if (meant.length > 0) return [meant.map((why) => `${why} of ${option.label}`)];
    if (means === 'no') return option.next == null || option.next === id ? [] : [[]];
    return [against(() => tryOut(trial, facts, { done, option, isYes: means === 'yes' }))];
  });
  return ways.some((whys) => whys.length === 0) ? [] : [...new Set(ways.flat())];
}

/** Goes the way of an option on a run that is thrown away, as far as what is handed in decides about it. */
function tryOut(trial: State, facts: Facts, { done, option, isYes }: Trying): void {
  const decided: Done = isYes ? { ...done, said: shownOf(trial, done) } : done;
  trial.settled = [...trial.settled, settledBy(done, option, { input: null, approves: isYes })];
  const to = option.next ?? wayOn(trial, facts, decided)?.to ?? null;
  const state = { ...trial.state, ...done.update };
  enter(trial, facts, to, { s: trial, state, done: [...trial.done, visitOf(decided)] }, option.label);
}

type Trying = { done: Done; option: GateOption; isYes: boolean };

function against(happen: () => void): string[] {
  try {
    happen();
    return [];
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal.whys;
    throw refusal;
  }
}

function settledBy(
  { phase }: Done,
  { label }: GateOption,
  said: { input: string | null; approves: boolean },
): State['settled'][number] {
  return { gate: phase.humanGate?.id ?? '', phase: phase.id, option: label, ...said };
}

/** Enough humans chose an option: it means yes, no, or just that the phase goes its own way. */
export function settle(s: State, asked: Asked, done: Done, option: GateOption): Would {
  const { settled } = s;
  const input = (asked.command as Of<'decide'>).input ?? null;
  // The texts leave open whether a route may read the decision that it gives a meaning to; the engine says no.
  const means = choiceOf(s, asked.facts, done, option);
  const isYes = means === 'yes';
  const moved = isYes ? movedOn(s, asked, done) : [];
  if (moved.length > 0 && s.workflow.enforcement.mode === 'strict') refuseHere(s, moved);
  const decided: Done = { ...done, would: [...done.would, ...codesOf(moved)] };
  decided.letThrough ||= moved.length > 0;
  const shown = shownOf(s, decided);
  s.settled = [...settled, settledBy(done, option, { input, approves: isYes })];
  if (option.next === null) return end(s, 'stopped');
  try {
    if (means !== 'follows') decided.said = isYes ? shown : 'no';
    if (option.next === undefined) return follow(s, asked, decided, undefined);
    return cross(s, asked, decided, { to: option.next });
  } catch (refusal) {
    s.settled = settled;
    throw refusal;
  }
}

/** A human leads on past all that speaks against it, by a way that is written: what stops a run is no way to its end. */
export function overrideTo(s: State, asked: Asked, phase: Phase, to: Target): Would {
  const { next, parallel, humanGate } = phase;
  const options = (humanGate?.options ?? []).map((option) => option.next);
  const own = next.kind === 'outcomes' ? [wayOf(next, 'ok')] : waysIn(next).slice(0, 2);
  const failed = next.kind === 'outcomes' ? wayOf(next, 'fail') : undefined;
  // Where every option has a way of its own, the phase's is left to its failure.
  const isDecided = humanGate !== null && !options.includes(undefined);
  const rest = !isDecided ? waysIn(next) : failed === undefined ? [] : [failed, waysIn(next).at(-1)];
  const ways = [...own, ...rest, ...options.filter((way) => way !== null), parallel?.onEmpty];
  need(ways.includes(to), 'not_the_next_phase');
  const { status } = s;
  const done: Done = {
    phase,
    evidence: {},
    outcome: 'ok',
    update: {},
    by: asked.by.name,
    would: [],
    said: 'past',
  };
  try {
    s.status = 'waiting';
    return cross(s, asked, done, { to });
  } catch (refusal) {
    s.status = status;
    throw refusal;
  }
}

/** Every way a route can take, and last where it leads when it went back too often. */
function waysIn(next: Phase['next']): (Target | undefined)[] {
  if (next.kind === 'to') return [next.target];
  const ways = next.kind === 'when' ? [next.onTrue, next.onFalse] : Object.values(next.map);
  return [...ways, ...(next.kind === 'when' ? [] : [next.otherwise]), next.onExhausted];
}

/** What was observed or verified is looked at again: the work of each item, and what stands behind the gate. */
function movedOn(s: State, { facts }: Asked, { phase, outcome }: Done): string[] {
  const again = ({ recheck }: Check) => recheck === true;
  const work = outcome === 'skip' ? [] : phase.postconditions.filter(again);
  const items = [...s.items].filter(([, item]) => item.outcome !== 'skip');
  const stages = phase.parallel ? items.map(([key]) => `again:${key}`) : ['again'];
  const failed = stages.flatMap((stage) => failing(facts, stage, work));
  return [...failed, ...failing(facts, 'again', phase.blockers.filter(again))];
}

/** What a choice means by the way that is really taken; `follows` is neither yes nor no. */
function choiceOf(s: State, facts: Facts, done: Done, option: GateOption): 'yes' | 'no' | 'follows' {
  const { id, next } = done.phase;
  const means = meaning(s.workflow, done.phase, option);
  if (means !== 'way') return means;
  if (option.next === undefined && next.kind !== 'when') {
    const isOk = next.kind === 'to' || wayOf(next, done.outcome) === wayOf(next, 'ok');
    return isOk || done.outcome === 'ok' ? 'yes' : 'follows';
  }
  const way = wayOn(s, facts, done);
  if (option.next !== undefined) return way?.to === option.next ? 'yes' : 'no';
  return !way || isBack(s, id, way.to) ? 'follows' : 'yes';
}

/** Whether a way leads to the phase itself or one written before it. */
function isBack({ workflow: { phases } }: State, from: Target, to: Target): boolean {
  const place = (id: Target) => phases.findIndex((one) => one.id === id);
  return to !== null && place(to) <= place(from);
}

/** What a human sees of the gate's context, whole, beside what the phase asks for itself. */
function shownOf(s: State, done: Done): JsonObject {
  const { phase } = done;
  const names = (phase.humanGate?.context ?? [])
    .map(firstOf)
    .filter((name) => !declared(phase).includes(name));
  const values = names.map((name) => [name, read(asIf(s, done), phase, name)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** The run as it would be if the visit ended so. */
function asIf(s: State, done: Done): Seen {
  const visit = visitOf(done);
  return { s, state: { ...s.state, ...done.update }, done: [...s.done, visit], own: visit };
}

function visitOf({ phase, outcome, evidence, letThrough, outcomes, said }: Done): Visit {
  const isNo = said === 'no';
  return {
    phase: phase.id,
    outcome: isNo ? 'rejected' : said === 'past' ? 'overridden' : outcome,
    evidence,
    letThrough,
    outcomes,
    approved: typeof said === 'string' ? undefined : said,
  };
}

/** Where a phase leads by itself, if that can be said. */
function routeOf(s: State, facts: Facts, done: Done): Target | undefined {
  const { id, next, parallel } = done.phase;
  const isEmpty = s.items.size === 0 && done.outcome === 'ok';
  if (isEmpty && parallel?.onEmpty !== undefined) return parallel.onEmpty;
  if (next.kind === 'to') return next.target;
  if (next.kind === 'outcomes') return wayOf(next, done.outcome);
  const seen: Seen = { s, state: { ...s.state, ...done.update }, done: s.done, own: visitOf(done) };
  const scope = (root: string, name: string): Json | undefined => {
    if (root === 'iteration') return visitsOf(s, id);
    if (root === 'artifacts') return readArtifact(seen, done.phase, name);
    if (root === 'approved') return approved(seen, name);
    if (root === 'checkpoint') return read(seen, done.phase, name);
    return get(root === 'result' ? done.evidence : root === 'params' ? s.params : seen.state, name);
  };
  const answer = answerOf(next.condition, scope, facts[`${id}/next`]);
  if (typeof answer === 'string') return refuseHere(s, ['condition_unanswerable']);
  return answer ? next.onTrue : next.onFalse;
}

/** The phase's own way on, and back only as often as it may; null where that was often enough. */
function wayOn(s: State, facts: Facts, done: Done): Way | null | undefined {
  const { id, next } = done.phase;
  const to = routeOf(s, facts, done);
  if (to === undefined) return undefined;
  const { maxIterations = null, onExhausted = undefined } = next.kind === 'to' ? {} : next;
  const isFree =
    maxIterations === null ? visitsOf(s, to) < 10 : (s.iterations.get(String(id)) ?? 0) < maxIterations;
  const back = isBack(s, id, to);
  if (!back || isFree) return { to, back };
  const isDead = onExhausted === undefined || (isBack(s, id, onExhausted) && visitsOf(s, onExhausted) >= 10);
  return isDead ? null : { to: onExhausted };
}

type Way = { to: Target; back?: boolean };

/** Takes the phase's own way on. */
function follow(s: State, asked: Asked, done: Done, expected: Target | undefined): Would {
  const way = wayOn(s, asked.facts, done);
  if (way === undefined) return refuseHere(s, [`outcome_not_allowed ${done.outcome}`]);
  if (way === null) {
    escalate(s, 'iterations');
    refuse(s, ['iterations_exhausted']);
  }
  if (expected !== undefined && expected !== way.to) refuseHere(s, [`not_the_next_phase ${expected}`]);
  return cross(s, asked, done, way);
}

/** Into the next phase, or to the end, if it lets itself be entered. */
function cross(s: State, asked: Asked, done: Done, { to, back }: Way): Would {
  const { phase, by, word } = done;
  const id = String(phase.id);
  const visit = visitOf(done);
  const state = visit.outcome === 'rejected' ? s.state : { ...s.state, ...done.update };
  const tries = Math.max(s.attempts, ...[...s.items.values()].map((item) => Math.min(1, item.attempts)));
  const entered = enter(
    s,
    asked.facts,
    to,
    { s, state, done: [...s.done, visit] },
    undefined,
    done.said === 'past',
  );
  const would = [...done.would, ...entered];
  const owed = visit.outcome === 'fail' ? tries : 0;
  const judged = owed > (s.owed.get(id) ?? 0);
  s.done.push({ ...visit, visit: visitsOf(s, phase.id), by, word, judged });
  if (owed > 0) s.owed.set(id, owed);
  else s.owed.delete(id);
  if (back) s.iterations.set(id, (s.iterations.get(id) ?? 0) + 1);
  const settled = s.settled.filter((one) => one.phase !== to);
  const attempts = s.owed.get(String(to)) ?? 0;
  for (const item of s.items.values()) item.attempts = attempts;
  set(s, { ...untouched(), state, settled, attempts, epoch: s.epoch + 1, phase: to });
  if (to === null) return end(s, 'completed') ?? would;
  s.visits.set(String(to), visitsOf(s, to) + 1);
  goOn(s);
  return leaveEmpty(s, asked) ?? would;
}

/** A parallel phase without items is left as soon as it is entered, if nothing speaks against that. */
function leaveEmpty(s: State, asked: Asked): undefined {
  const phase = phaseOf(s, s.phase);
  if (!phase?.parallel || s.items.size > 0 || s.status !== 'active') return undefined;
  const before = { ...s };
  try {
    join(
      s,
      asked,
      { phase, evidence: {}, outcome: 'ok', update: {}, by: asked.by.name, would: [] },
      undefined,
    );
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    set(s, before);
  }
}

/** What speaks against entering a phase; with nothing serious, its items are laid out. */
export function enter(
  s: State,
  facts: Facts,
  to: Target,
  seen: Seen,
  ahead?: string,
  past = false,
): string[] {
  const phase = phaseOf(s, to);
  const names = phase?.parallel ? namesIn(readPath(seen, phase, phase.parallel.key)) : [];
  const holders = phase?.parallel ? contested(seen, firstOf(phase.parallel.key)) : [];
  if (typeof names === 'string') refuseHere(s, [`items_invalid ${to} ${names} ${holders}`]);
  // Ahead of a human's choice only what is handed in can be held against it.
  const asked = (phase?.preconditions ?? []).filter(({ frozen }) => ahead === undefined || frozen);
  const failed = failing(facts, ahead === undefined ? 'enter' : `enter:${ahead}`, asked);
  const whys = failed.map((why) => why.replace(/^\w+/, 'precondition_failed'));
  if (whys.length > 0 && !past && s.workflow.enforcement.mode === 'strict') refuseHere(s, whys);
  s.items = new Map(names.map((name) => [name, freshItem(0)]));
  return codesOf(whys);
}

const freshItem = (attempts: number): Item => ({
  status: 'pending',
  evidence: null,
  outcome: 'ok',
  update: {},
  word: undefined,
  letThrough: false,
  would: [],
  attempts,
  crashes: 0,
  holder: null,
  ...unrefused(),
});

const firstOf = (path: string) => path.split('.')[0] as string;
