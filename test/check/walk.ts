import {
  type Circumstance,
  type Command,
  checksFor,
  checksForStart,
  type Decision,
  decide,
  decideStart,
  type Fact,
  type Json,
  type JsonObject,
  type Look,
  type Outcome,
  type Phase,
  type Principal,
  phaseById,
  type Run,
  type RunEvent,
  type Workflow,
} from '@phasegate/core';
import { evaluate, parseExpression } from '@phasegate/core/model';
import type { Random } from '../differential/random.ts';

/** How the world answers what the engine asks; conditions that are written down are evaluated whatever it says. */
export type World = (look: Look) => Fact;

const AGENTS: readonly Principal[] = [
  { kind: 'agent', name: 'ann' },
  { kind: 'agent', name: 'ben' },
];
/** Names of the humans; where a gate names its approvers, they are the first of these. */
export const APPROVERS: readonly string[] = ['ada', 'bob', 'cyd', 'dan'];
const HUMANS: readonly Principal[] = APPROVERS.map((name) => ({ kind: 'human', name }));
const ENGINE: Principal = { kind: 'engine', name: 'phasegate' };
const NOW = '2026-01-01T00:00:00.000Z';
const LATER = '2027-01-01T00:00:00.000Z';

/** Starts a run for real; null where it is refused. */
export function startFor(
  workflow: Workflow,
  params: JsonObject,
  world: World,
  by: Principal = AGENTS[0] as Principal,
): { readonly run: Run; readonly events: readonly RunEvent[] } | null {
  const starting = { id: 'run', workflow, workflowHash: '', target: null, params, ring: 'served' } as const;
  const asked = { ...starting, trusted: true, queued: false };
  const facts: Record<string, Fact> = {};
  const circumstance: Circumstance = { principal: by, now: NOW, facts };
  for (const look of checksForStart(asked, circumstance)) facts[look.id] = answer(look, world);
  const started = decideStart(asked, { ...circumstance, facts });
  return started.run === null ? null : started;
}

/** Has the engine decide, looking at whatever it asks for. */
export function decideFor(
  run: Run,
  { command, by, late = false }: Asked,
  world: World,
): Decision & { readonly facts: Readonly<Record<string, Fact>> } {
  const facts: Record<string, Fact> = {};
  const circumstance = { principal: by, now: late ? LATER : NOW, shown: 'card' };
  for (;;) {
    const looks = checksFor(run, command, { ...circumstance, facts });
    if (looks.length === 0) return { ...decide(run, command, { ...circumstance, facts }), facts };
    for (const look of looks) facts[look.id] = answer(look, world);
  }
}

function answer(look: Look, world: World): Fact {
  if (look.kind !== 'check' || look.check.use !== 'expression') return world(look);
  const parsed = parseExpression(String(look.check.with.condition));
  const result = parsed.ok ? evaluate(parsed.expression, look.subject.scope) : { ok: false as const };
  const status = !result.ok ? 'errored' : result.value ? 'passed' : 'failed';
  return { kind: 'check', result: { status, reason: '', class: 'claimed' } };
}

/** A world in which anything may be found. */
export function anyWorld(random: Random): World {
  return (look) => {
    switch (look.kind) {
      case 'check': {
        const status = random.chance(0.75) ? 'passed' : random.pick(['failed', 'errored'] as const);
        const reason = random.chance(0.5) ? '' : 'because';
        return {
          kind: 'check',
          result: { status, reason, class: random.chance(0.95) ? 'verified' : 'claimed' },
        };
      }
      case 'handler': {
        if (random.chance(0.1))
          return { kind: 'handler', result: { ok: false, reason: 'threw', timedOut: false } };
        const outcome = random.pick<Outcome>(['ok', 'ok', 'ok', 'skip', 'fail', 'iterate']);
        const state = random.chance(0.7) ? { k: random.int(2) } : {};
        return { kind: 'handler', result: { ok: true, outcome, state } };
      }
      case 'condition':
        return random.chance(0.05)
          ? { kind: 'condition', result: { ok: false, reason: 'threw' } }
          : { kind: 'condition', result: { ok: true, value: random.chance(0.5) } };
      case 'tree':
        throw new Error('no run here has a workspace');
    }
  };
}

/** A command and who gives it. */
export interface Asked {
  readonly command: Command;
  readonly by: Principal;
  readonly late?: boolean;
}

/** Params a run may be started with. */
export function anyParams(random: Random, { params }: Workflow): JsonObject {
  const given: Record<string, Json> = {};
  for (const [name, { domain, type, required }] of Object.entries(params)) {
    if (!required && random.chance(0.4)) continue;
    given[name] =
      domain?.kind === 'choice_set'
        ? random.pick(domain.choices)
        : domain?.kind === 'bounded_int'
          ? domain.lo + random.int(domain.hi - domain.lo + 1)
          : domain?.kind === 'constant'
            ? domain.value
            : type === 'boolean'
              ? random.chance(0.5)
              : type === 'list'
                ? random.pick([['north', 'south'], ['north', 'south'], ['one'], [], ['a', 'b', 'c']])
                : 1;
  }
  return given;
}

/** What an agent, a human or the clock does with a run as it stands; mostly what is asked of them. */
export function anyStep(random: Random, run: Run): Asked | null {
  const phase = phaseById(run.workflow, run.phase);
  if (phase === undefined) return null;
  if (run.status === 'queued') return { command: { kind: 'claim' }, by: random.pick(AGENTS) };
  if (run.status === 'escalated') return { command: { kind: 'resume' }, by: random.pick(HUMANS) };
  if (run.status === 'waiting' && run.wait.for === 'questions')
    return { command: { kind: 'answer', question: 1, text: 'so' }, by: random.pick(HUMANS) };
  if (run.status === 'waiting' && run.wait.for === 'gate') {
    if (random.chance(0.08)) return { command: { kind: 'expire' }, by: ENGINE, late: true };
    const option = random.pick(phase.humanGate?.options ?? []).label;
    const command: Command = {
      kind: 'decide',
      gate: run.wait.gate,
      option,
      input: 'fine',
      shown: 'card',
      signature: '',
    };
    return { command, by: random.pick(HUMANS) };
  }
  const by = AGENTS.find(({ name }) => name === run.holder) ?? (AGENTS[0] as Principal);
  const task = phase.tasks.findIndex((_, index) => !run.work.fetched.includes(index + 1)) + 1;
  if (task > 0 && random.chance(0.9)) return { command: { kind: 'fetch_task', phase: phase.id, task }, by };
  if (random.chance(0.02)) return { command: { kind: 'report_blocked', reason: 'stuck' }, by };
  if (random.chance(0.02))
    return { command: { kind: 'ask', questions: [{ text: 'Which?', options: ['a', 'b'] }] }, by };
  if (random.chance(0.02))
    return { command: { kind: 'release', cause: 'given_back', holder: run.holder ?? '' }, by };
  return { command: completion(random, run, phase), by };
}

function completion(random: Random, run: Run, phase: Phase): Command {
  const items = Object.entries(run.work.items ?? {}).filter(([, { status }]) => status === 'pending');
  const outcome = random.chance(0.5)
    ? { outcome: random.pick<Outcome>(['ok', 'fail', 'iterate', 'skip']) }
    : {};
  const item = items.length === 0 ? {} : { item: (random.pick(items) as [string, unknown])[0] };
  return {
    kind: 'complete',
    phase: phase.id,
    evidence: anyEvidence(phase, random),
    ...(phase.next.kind === 'outcomes' ? outcome : {}),
    ...item,
    reason: 'no luck',
  };
}

/** Evidence with every field a phase asks for, with a source of chance mostly so; at times with more than that. */
export function anyEvidence(phase: Phase, random?: Random): JsonObject {
  const values: Readonly<Record<string, Json>> = {
    flag: random?.chance(0.5) ?? true,
    maybe: random?.chance(0.5) ?? true,
    n: 1,
    text: random?.chance(0.5) ? 'bad' : 'good',
    list: ['north', 'south'],
    data: { parts: ['one', 'two'] },
    notes: 'written',
    rate: 1,
  };
  const asked = [
    ...phase.evidence.fields.map(({ name }) => name),
    ...phase.evidence.artifacts.map(({ type }) => type),
  ];
  // In a free result a name of its own: the check does not follow names that two steps contest.
  const names = asked.length === 0 ? [`done in ${phase.id}`] : asked;
  const evidence: Record<string, Json> = Object.fromEntries(names.map((name) => [name, values[name] ?? 1]));
  if (random === undefined) return evidence;
  if (random.chance(0.05)) delete evidence[random.pick(names)];
  if (random.chance(0.03) && names.includes('flag')) evidence.flag = 'yes';
  if (random.chance(0.02)) evidence.planted = true;
  return evidence;
}
