import type {
  Command,
  Fact,
  Facts,
  Json,
  JsonObject,
  Outcome,
  Phase,
  PhaseId,
  Principal,
  Workflow,
} from '@phasegate/core';
import type { Asked } from './interpreter.ts';
import type { Random } from './random.ts';
import type { Item, State } from './state.ts';

const AGENTS: readonly Principal[] = [
  { kind: 'agent', name: 'ann' },
  { kind: 'agent', name: 'ben' },
];
const HUMANS: readonly Principal[] = [
  { kind: 'human', name: 'ada' },
  { kind: 'human', name: 'bob' },
  { kind: 'human', name: 'cyd' },
];
const ENGINE: Principal = { kind: 'engine', name: 'phasegate' };

/** As much of a run as commands are made for. */
export type Standing = Pick<State, 'workflow' | 'status' | 'phase' | 'epoch' | 'holder' | 'fetched'> & {
  readonly questions: { readonly count: number } | null;
  readonly gate: { readonly name: string } | null;
  readonly items: ReadonlyMap<string, Pick<Item, 'status' | 'holder'>>;
};

/** Who starts a run, and with what. */
export function anyStart(random: Random, { params }: Workflow) {
  const by = random.chance(0.85) ? (AGENTS[0] as Principal) : (HUMANS[0] as Principal);
  const good: Record<string, Json> = {
    mode: 'quick',
    size: 3,
    rate: 0.5,
    sure: true,
    areas: random.chance(0.002) ? TOO_MANY : anyList(random),
  };
  const bad: Record<string, Json> = { mode: 'slow', size: 9, rate: -1, sure: false, areas: 'all' };
  const given: Record<string, Json> = {};
  for (const name of Object.keys(params)) {
    if (name !== 'size' && random.chance(0.4)) continue;
    given[name] = (random.chance(0.98) ? good : bad)[name] as Json;
  }
  if (random.chance(0.01)) given.other = 1;
  if (random.chance(0.01)) delete given.size;
  return { by, given, queued: random.chance(0.1) };
}

/** The next command: mostly one that may well be allowed as the run stands, else anything by anyone. */
export function anyAsked(random: Random, s: Standing, at: number): Omit<Asked, 'facts'> {
  const asked = random.chance(0.8) ? fitting(random, s) : anything(random, s);
  const late = asked.command.kind === 'expire' && random.chance(0.5) ? 100 : 0;
  return {
    ...asked,
    at: at + late,
    shown: random.chance(0.98) ? 'card' : random.pick(['other card', undefined]),
  };
}

/** The one who holds the run says something else every time, and nothing that can be done. */
export function anyBabble({ holder, phase }: Standing, at: number): Omit<Asked, 'facts'> {
  const command = { kind: 'fetch_task', phase: `${phase} ${at}`, task: 1 } as const;
  return { command, by: { kind: 'agent', name: holder ?? 'ann' }, at, shown: 'card' };
}

/** Answers to every question that can come up in a phase or on entering another: most are good, some left open. */
export function anyFacts(random: Random, workflow: Workflow, s: Standing | null): Facts {
  const here = s?.phase ?? null;
  const again = s?.gate ? ['again', ...[...s.items.keys()].map((key) => `again:${key}`)] : [];
  const facts: Record<string, Fact> = {};
  for (const phase of workflow.phases) {
    for (const check of phase.preconditions) {
      facts[`enter:${check.id}`] = anyResult(random, 0.85);
      for (const label of ['yes', 'no']) facts[`enter:${label}:${check.id}`] = anyResult(random, 0.7);
    }
    // A parallel phase without items is left as soon as it is entered.
    if (phase.id !== here && phase.parallel === null) continue;
    for (const check of [...phase.postconditions, ...phase.blockers]) {
      facts[`leave:${check.id}`] = anyResult(random, 0.8);
      for (const stage of again) facts[`${stage}:${check.id}`] = anyResult(random, 0.9);
    }
    for (const check of phase.blockers) facts[`join:${check.id}`] = anyResult(random, 0.7);
    if (phase.work.kind === 'handler') facts[`${phase.id}/handler`] = anyHandled(random, phase);
    if (phase.next.kind === 'when') facts[`${phase.id}/next`] = anyAnswer(random);
  }
  for (const id of Object.keys(facts)) if (random.chance(0.02)) delete facts[id];
  return facts;
}

function anyResult(random: Random, passing: number): Fact {
  const reason = random.chance(0.5) ? '' : 'because';
  if (!random.chance(passing))
    return {
      kind: 'check',
      result: { status: random.pick(['failed', 'errored', 'timed_out']), reason, class: 'verified' },
    };
  return {
    kind: 'check',
    result: {
      status: 'passed',
      reason,
      class: random.pick(['verified', 'verified', 'verified', 'observed', 'claimed']),
    },
  };
}

function anyHandled(random: Random, phase: Phase): Fact {
  if (random.chance(0.1))
    return {
      kind: 'handler',
      result: { ok: false, reason: random.pick(['threw', 'hung']), timedOut: false },
    };
  const isSkipped = phase.parallel !== null && phase.next.kind === 'outcomes' && random.chance(0.35);
  const said = random.chance(phase.next.kind === 'outcomes' ? 0.4 : 0.85)
    ? 'ok'
    : random.pick<Outcome>(['skip', 'fail', 'iterate', 'skip']);
  const outcome = isSkipped ? 'skip' : said;
  const state = random.chance(0.7) ? anyState(random) : {};
  return { kind: 'handler', result: { ok: true, outcome, state } };
}

/** Mostly keys of its own, at times those of evidence, of params and of the engine. */
function anyState(random: Random): JsonObject {
  if (random.chance(0.6)) return { k: random.int(2) };
  return random.pick<JsonObject>([
    { flag: random.chance(0.5), text: 'good' },
    { flag: false, text: 'bad', share: 0.5 },
    { list: anyList(random) },
    { extra: 1, k: 1 },
    { areas: ['east'] },
    { gateDecision: { option: 'yes' } },
  ]);
}

function anyAnswer(random: Random): Fact {
  if (random.chance(0.08))
    return { kind: 'condition', result: { ok: false, reason: random.pick(['threw', 'hung']) } };
  return { kind: 'condition', result: { ok: true, value: random.chance(0.6) } };
}

type Made = { readonly command: Command; readonly by: Principal };

/** What anyone who is asked to act as the run stands would do. */
function fitting(random: Random, s: Standing): Made {
  if (s.status === 'queued')
    return {
      command: { kind: 'claim', ...(random.chance(0.2) ? oneItem(random, s) : {}) },
      by: random.pick(AGENTS),
    };
  if (s.status === 'escalated' && random.chance(0.2))
    return { command: anyOverride(random, s, 'no way'), by: random.pick(HUMANS) };
  if (s.status === 'escalated') return { command: { kind: 'resume' }, by: random.pick(HUMANS) };
  if (s.questions !== null)
    return {
      command: { kind: 'answer', question: 1 + random.int(s.questions.count), text: 'so' },
      by: random.pick(HUMANS),
    };
  if (s.gate !== null && random.chance(0.05)) return { command: { kind: 'expire' }, by: ENGINE };
  if (s.gate !== null) return { command: decision(random, s, true), by: random.pick(HUMANS) };
  if (s.phase === null) return anything(random, s);
  const phase = s.workflow.phases.find(({ id }) => id === s.phase) as Phase;
  const open = [...s.items].filter(([, item]) => item.status === 'pending');
  const [key, item] = open.length === 0 ? [] : random.pick(open);
  const holder = item?.holder ?? s.holder ?? open.find(([, one]) => one.holder !== null)?.[1].holder;
  const by = AGENTS.find(({ name }) => name === holder) ?? (AGENTS[0] as Principal);
  const task = phase.tasks.findIndex((_, index) => !s.fetched.includes(index + 1)) + 1;
  if (task > 0 && random.chance(0.8)) return { command: { kind: 'fetch_task', phase: phase.id, task }, by };
  if (key !== undefined && item?.holder === null && random.chance(0.35))
    return { command: { kind: 'claim', item: key }, by: random.pick(AGENTS) };
  return { command: completion(random, s, { phase, item: key }), by };
}

function completion(
  random: Random,
  s: Standing,
  { phase, item }: { phase: Phase; item: string | undefined },
): Command {
  const { next } = phase;
  const said: readonly Outcome[] =
    next.kind === 'outcomes' && phase.work.kind !== 'handler' ? (Object.keys(next.map) as Outcome[]) : [];
  // Where a gate stands the engine holds an expected way against all its ways, which is tested beside it.
  const hinted = phase.humanGate === null && next.kind === 'to' && random.chance(0.15);
  return {
    kind: 'complete',
    phase: phase.id,
    evidence: anyEvidence(random, phase, random.chance(0.93)),
    ...(said.length > 0 && random.chance(0.6)
      ? { outcome: random.pick(said), reason: random.chance(0.9) ? 'no luck' : ' ' }
      : {}),
    ...(item === undefined ? {} : { item }),
    ...(hinted && next.kind === 'to'
      ? { target: random.chance(0.8) ? next.target : random.pick(s.workflow.phases).id }
      : {}),
  };
}

function anyEvidence(random: Random, { evidence: { fields, artifacts } }: Phase, good: boolean): JsonObject {
  const values: Record<string, Json> = {
    flag: random.chance(0.85),
    maybe: random.chance(0.5),
    n: random.chance(0.05) ? 0 : 1 + random.int(3),
    text: random.chance(0.6) ? 'good' : 'bad',
    list: anyList(random),
    data: { parts: anyList(random) },
    plan: { parts: anyList(random) },
    share: random.chance(0.5) ? 0.5 : 0.25,
    notes: 'written',
    extra: random.int(2),
    k: 1,
    areas: anyList(random),
    mode: 'quick',
    gateDecision: { option: 'yes' },
    results: { PLAN: { flag: true } },
  };
  const asked = [...fields.map(({ name }) => name), ...artifacts.map(({ type }) => type)];
  const names = Object.keys(values);
  const given = asked.length > 0 ? asked.filter((name) => name !== 'share' || random.chance(0.5)) : [];
  if (asked.length === 0) given.push(...names.filter((name) => random.chance(name === 'extra' ? 0.6 : 0.25)));
  else if (random.chance(0.07)) given.push(...[random.pick(names), random.pick(names)].slice(random.int(2)));
  const evidence: Record<string, Json> = Object.fromEntries(
    given.map((name) => [name, values[name] as Json]),
  );
  if (random.chance(0.08))
    evidence[random.pick(['notes', 'commands_executed'])] = random.pick<Json>(['said', ['ls'], 'said', 5]);
  if (random.chance(0.004)) Object.assign(evidence, FLOOD);
  if (good || given.length === 0) return evidence;
  const name = random.pick(given);
  if (random.chance(0.4)) delete evidence[name];
  else evidence[name] = random.pick(BAD);
  return evidence;
}

const FLOOD: JsonObject = Object.fromEntries(Array.from({ length: 24 }, (_, index) => [`spare ${index}`, 1]));
const TOO_MANY: readonly Json[] = Array.from({ length: 10_001 }, () => 0);
const BAD: readonly Json[] = [null, 0, -1, 2.5, '', 'text', true, [], {}, ['one'], { parts: 'none' }];

function anyList(random: Random): readonly Json[] {
  return random.pick<readonly Json[]>([
    ['north', 'south'],
    ['north'],
    ['one', 'one'],
    [{ id: 7 }, { name: 'x' }, 3],
    ['a', '', null],
    ['__proto__'],
    ['a#3', 'a', 'a'],
    [],
  ]);
}

function decision(random: Random, s: Standing, good: boolean): Command {
  const gate = random.chance(good ? 0.98 : 0.5)
    ? (s.gate?.name ?? 'ship#1')
    : random.pick(['ship#1', 'ship#9', '']);
  const input = random.chance(0.7) ? { input: random.chance(0.9) ? 'fine' : '  ' } : {};
  const option = random.pick(good ? ['yes', 'yes', 'no'] : ['yes', 'no', 'maybe']);
  return {
    kind: 'decide',
    gate,
    option,
    shown: random.chance(0.97) ? 'card' : 'old card',
    signature: 'signed',
    ...input,
  };
}

function oneItem(random: Random, s: Standing): { readonly item?: string } {
  const keys = [...s.items.keys()];
  return random.chance(0.7) && keys.length > 0 ? { item: random.pick(keys) } : { item: 'elsewhere' };
}

/** Any command at all, by anyone. */
function anything(random: Random, s: Standing): Made {
  const phases = s.workflow.phases.map(({ id }) => id);
  const phase: PhaseId =
    random.chance(0.6) && s.phase !== null ? s.phase : random.pick([...phases, 'NOWHERE']);
  const holder = s.holder ?? 'ann';
  const item = random.chance(s.items.size > 0 ? 0.7 : 0.1) ? oneItem(random, s) : {};
  const reason = random.chance(0.85) ? 'broken' : ' ';
  const worker = random.chance(0.8)
    ? (AGENTS.find(({ name }) => name === holder) as Principal)
    : random.pick([...AGENTS, ...HUMANS]);
  const human = random.chance(0.8) ? random.pick(HUMANS) : random.pick(AGENTS);
  const outcome = random.chance(0.3)
    ? { outcome: random.pick<Outcome>(['ok', 'fail', 'iterate', 'skip']) }
    : {};
  switch (random.int(14)) {
    case 0:
    case 1:
      return {
        command: {
          kind: 'complete',
          phase,
          evidence: anyEvidence(
            random,
            s.workflow.phases.find(({ id }) => id === phase) ?? ANY,
            random.chance(0.7),
          ),
          ...item,
          ...outcome,
        },
        by: worker,
      };
    case 2:
      return { command: { kind: 'fetch_task', phase, task: 1 + random.int(3) }, by: worker };
    case 3:
      return { command: { kind: 'ask', questions: anyQuestions(random) }, by: worker };
    case 4:
      return { command: { kind: 'report_blocked', reason }, by: worker };
    case 5:
    case 6:
      return { command: { kind: 'report_failure', phase, reason, ...item }, by: worker };
    case 7:
      return { command: decision(random, s, random.chance(0.6)), by: human };
    case 8:
      return { command: { kind: 'answer', question: random.int(4), text: reason }, by: human };
    case 9:
      return {
        command: random.chance(0.5) ? { kind: 'resume', note: 'again' } : { kind: 'stop', reason },
        by: human,
      };
    case 10:
      return { command: { kind: 'claim', ...item }, by: worker };
    case 11:
      return anyRelease(random, s, item);
    case 12:
      return { command: anyOverride(random, s, reason), by: human };
    default:
      if (random.chance(0.8)) return { command: { kind: 'expire' }, by: ENGINE };
      return {
        command: { kind: 'escalate', reason: 'code_changed', message: 'changed' },
        by: random.chance(0.7) ? ENGINE : worker,
      };
  }
}

function anyOverride(random: Random, s: Standing, reason: string): Command {
  const { phase, epoch: here, workflow } = s;
  const to = random.chance(0.25) ? null : random.pick(workflow.phases).id;
  const epoch = random.chance(0.95) ? here : here - 1;
  return { kind: 'override', phase: phase ?? workflow.entry, epoch, to, reason, signature: 'signed' };
}

function anyRelease(random: Random, s: Standing, item: { readonly item?: string }): Made {
  const held = item.item === undefined ? s.holder : s.items.get(item.item)?.holder;
  const holder = random.chance(0.85) ? (held ?? 'ann') : 'ben';
  const lost = random.chance(0.6);
  const cause = lost ? random.pick(['lease_expired', 'exited', 'agent_removed'] as const) : 'given_back';
  const by = lost !== random.chance(0.1) ? ENGINE : (AGENTS.find(({ name }) => name === holder) ?? ENGINE);
  return { command: { kind: 'release', cause, holder, ...item }, by };
}

/** Nowhere is a place that asks for nothing. */
const ANY = { evidence: { fields: [], artifacts: [] } } as unknown as Phase;

function anyQuestions(random: Random) {
  const count = random.chance(0.9) ? 1 + random.int(2) : random.pick([0, 4]);
  const options = random.chance(0.9) ? ['left', 'right'] : ['only'];
  return Array.from({ length: count }, (_, index) => ({ text: `Which ${index}?`, options }));
}
