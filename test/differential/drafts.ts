import type { Known, PhaseDraft, PhaseId, Target, WorkflowDraft } from '@phasegate/core';
import type { CheckDraft, GateDraft, ParamDraft, RouteDraft } from '@phasegate/core/model';
import type { Random } from './random.ts';

/** The shelf of checks the drafts are written for: one of each class, and one that only what is handed in decides. */
export const KNOWN: Known = {
  checks: {
    word: { parameters: {}, class: 'claimed' },
    seen: { parameters: {}, class: 'observed' },
    proof: { parameters: {}, class: 'verified' },
    given: { parameters: {}, class: 'claimed', reads: 'subject' },
  },
};

/** A workflow as an author might write it; perhaps not a valid one. */
export function anyDraft(random: Random): WorkflowDraft {
  // A small part is all loops, so that limits no short walk comes near are reached too.
  const loopy = random.chance(0.04);
  if (!loopy && random.chance(0.03)) return approvedDraft(random);
  const ids = anyIds(random).slice(0, loopy ? 2 : 2 + random.int(5));
  const permissive = random.chance(0.12);
  return {
    id: 'generated',
    params: anyParams(random),
    enforcement: { mode: permissive ? 'permissive' : 'strict', maxReclaims: random.int(4) },
    entry: (random.chance(0.95) ? ids[0] : random.pick(ids)) as PhaseId,
    phases: ids.map((id, index) =>
      loopy ? loopyPhase(random, ids, index) : anyPhase(random, { ids, index, id }),
    ),
  };
}

/** A value is approved, a handler says something else under its name, and then it is read. */
function approvedDraft(random: Random): WorkflowDraft {
  const fields = FIELDS.filter(({ name }) => name === 'text' || name === 'share');
  const context = random.chance(0.5) ? ['text', 'k'] : ['share', 'k'];
  const human = { prompt: 'Go on?', context, options: [{ label: 'yes' }, { label: 'no', next: null }] };
  const condition = random.pick(CONDITIONS.filter((one) => /^[^r].*\.(text|share|k) /u.test(one)));
  return {
    id: 'approved',
    params: {},
    enforcement: { mode: 'strict', maxReclaims: 1 },
    entry: 'PLAN',
    phases: [
      { id: 'PLAN', ...(random.chance(0.7) ? { fields } : {}), gates: [{ id: 'ship', human }] },
      { id: 'BUILD', work: { kind: 'handler', ref: 'steps/1' } },
      { id: 'TEST', next: { condition, onTrue: 'SHIP', onFalse: null } },
      { id: 'SHIP' },
    ],
  };
}

/** True for a draft that is walked far, as all its ways lead back. */
export function isLoopy({ phases }: { readonly phases: readonly { readonly name?: string }[] }): boolean {
  return phases[0]?.name === 'loop';
}

function anyIds(random: Random): readonly PhaseId[] {
  if (random.chance(0.25)) return [0, 1, 2, 3, 4, 5];
  return random.chance(0.2)
    ? ['PLAN', 2, 'TEST', 7, 'SHIP', 'toString']
    : ['PLAN', 'BUILD', 'TEST', 'REVIEW', 'SHIP', 'END'];
}

const PARAMS: Readonly<Record<string, ParamDraft>> = {
  mode: { type: 'string', choices: ['quick', 'full'], default: 'full' },
  size: { type: 'integer', min: 1, max: 5, required: true },
  rate: { type: 'number', min: 0 },
  sure: { type: 'boolean', constant: true },
  areas: { type: 'list', default: ['north', 'south'] },
};

function anyParams(random: Random): Readonly<Record<string, ParamDraft>> {
  return Object.fromEntries(
    Object.entries(PARAMS).filter(([name]) => random.chance(name === 'areas' ? 0.7 : 0.25)),
  );
}

type Place = { readonly ids: readonly PhaseId[]; readonly index: number; readonly id: PhaseId };

function loopyPhase(random: Random, ids: readonly PhaseId[], index: number): PhaseDraft {
  const [first, second] = ids as [PhaseId, PhaseId];
  const condition = { ref: 'again', source: 'again()' };
  const max = random.chance(0.4) ? { maxIterations: 1 + random.int(12) } : {};
  const end: Target = random.chance(0.3) ? null : random.chance(0.3) ? first : second;
  const exhausted = random.chance(0.3) ? { onExhausted: end } : {};
  if (index === 1)
    return {
      id: second,
      next: random.chance(0.5) ? { to: null } : { condition, onTrue: first, onFalse: null },
    };
  const id = first;
  if (random.chance(0.3))
    return {
      id,
      name: 'loop',
      next: { outcomes: { ok: second, iterate: first, _default: null }, ...max, ...exhausted },
    };
  return { id, name: 'loop', next: { condition, onTrue: first, onFalse: second, ...max, ...exhausted } };
}

function anyPhase(random: Random, place: Place): PhaseDraft {
  const handler = random.chance(0.2);
  const next = anyNext(random, place, handler);
  const route = JSON.stringify(next);
  return {
    id: place.id,
    ...(handler ? { work: { kind: 'handler', ref: `steps/${place.index}` } } : {}),
    tasks: random.chance(0.2) ? [{ name: 'one' }, { name: 'two' }].slice(random.int(2)) : [],
    preconditions: anyChecks(random, 0.15),
    postconditions: anyChecks(random, 0.35),
    ...anyDeclared(random, route),
    gates: [
      ...(random.chance(0.2) ? [{ blockers: anyChecks(random, 1) }] : []),
      ...(random.chance(0.3) ? [anyGate(random, place)] : []),
    ],
    ...(random.chance(0.22) ? { parallel: anyParallel(random, place) } : {}),
    ...next,
  };
}

/** A good part asks for nothing, so that its result is free. */
function anyDeclared(random: Random, route: string): Pick<PhaseDraft, 'fields' | 'artifacts'> {
  if (random.chance(0.35)) return {};
  return {
    fields: FIELDS.filter(({ name }) => random.chance(0.2) || route.includes(`result.${name}`)),
    artifacts: ARTIFACTS.filter(() => random.chance(0.15)),
  };
}

function anyParallel(random: Random, { ids }: Place): NonNullable<PhaseDraft['parallel']> {
  const key = random.pick(['areas', 'areas', 'list', 'list', 'data.parts', 'plan.parts']);
  if (random.chance(0.75)) return { key };
  return { key, onEmpty: random.chance(0.2) ? null : random.pick(ids) };
}

const ARTIFACTS: NonNullable<PhaseDraft['artifacts']> = [{ type: 'notes' }, { type: 'plan' }];

const FIELDS: NonNullable<PhaseDraft['fields']> = [
  { name: 'flag', type: 'bool' },
  { name: 'maybe', type: 'bool', falseOk: true },
  { name: 'n', type: 'int', rule: 'positive' },
  { name: 'text', type: 'str', rule: 'non_empty' },
  { name: 'list', type: 'list', rule: 'positive' },
  { name: 'share', type: 'number', rule: 'optional' },
  { name: 'data', type: 'object', rule: 'non_empty' },
];

function anyChecks(random: Random, often: number): readonly CheckDraft[] {
  if (!random.chance(often)) return [];
  const one = (): CheckDraft => ({
    ...asked(),
    ...(random.chance(0.15) ? { severity: 'warning' as const } : {}),
  });
  const asked = (): CheckDraft => {
    if (random.chance(0.2)) return { ref: 'checks/one' };
    const check = random.pick(['word', 'seen', 'proof', 'given']);
    if (check === 'word' || check === 'given') return { check };
    return {
      check,
      needs:
        check === 'seen'
          ? random.pick(['claimed', 'observed'])
          : random.pick(['claimed', 'observed', 'verified']),
    };
  };
  return random.chance(0.3) ? [one(), one()] : [one()];
}

function anyGate(random: Random, { ids, index }: Place): GateDraft {
  const approvers = random.chance(0.3) ? ['ada', 'bob'] : [];
  const says = (often: number, yes: number) => (random.chance(often) ? { approves: random.chance(yes) } : {});
  const anywhere = (): Target => random.pick([...ids, ids[index + 1] ?? null, ids[index + 1] ?? null]);
  const options = [
    {
      label: 'yes',
      ...(random.chance(0.65) ? says(0.15, 1) : { next: anywhere(), ...says(0.4, 0.7) }),
      requiresInput: random.chance(0.15),
    },
    ...(random.chance(0.7)
      ? [
          {
            label: 'no',
            next: random.chance(0.4) ? null : random.pick(ids),
            ...says(0.6, 0.2),
            requiresInput: random.chance(0.3),
          },
        ]
      : []),
  ];
  return {
    ...(random.chance(0.5) ? { id: 'ship' } : {}),
    human: {
      prompt: 'Go on?',
      context: CONTEXT.filter((name) => random.chance(name === 'extra' ? 0.35 : 0.12)),
      options,
      approvers,
      quorum: random.chance(0.3) ? 2 : 1,
      ...(random.chance(0.3) ? { timeout: { after: '60s', then: random.pick(['park', 'stop']) } } : {}),
    },
  };
}

const CONTEXT = ['flag', 'share', 'text', 'plan.parts', 'data', 'areas', 'k', 'extra', 'gateDecision'];

function anyNext(random: Random, { ids, index }: Place, handler: boolean): { readonly next?: RouteDraft } {
  const following = ids[index + 1] ?? null;
  const other = (): Target => (random.chance(0.15) ? null : random.pick(ids));
  const loop = {
    ...(random.chance(0.6) ? { maxIterations: 1 + random.int(2) } : {}),
    ...(random.chance(0.3) ? { onExhausted: other() } : {}),
  };
  const kind = random.int(handler ? 8 : 6);
  if (kind === 0) return {};
  if (kind === 1) return { next: { to: following } };
  if (kind < 4) {
    const [onTrue, onFalse] = random.chance(0.5) ? [following, other()] : [other(), following];
    return { next: { condition: anyCondition(random), onTrue, onFalse, ...loop } };
  }
  const ways = {
    fail: other(),
    iterate: random.pick(ids.slice(0, index + 1)),
    skip: other(),
    _default: other(),
  };
  const given = Object.entries(ways).filter(([name]) => random.chance(name === 'iterate' ? 0.6 : 0.4));
  return {
    next: {
      outcomes: { ...(random.chance(0.9) ? { ok: following } : {}), ...Object.fromEntries(given) },
      ...loop,
    },
  };
}

function anyCondition(
  random: Random,
): RouteDraft extends infer R ? (R extends { condition: infer C } ? C : never) : never {
  if (random.chance(0.35)) return { ref: 'goes', source: 'goes()' };
  return random.pick(CONDITIONS);
}

const CONDITIONS = [
  'result.flag === true',
  'iteration === 1',
  'state.k === 1',
  "result.text === 'good'",
  'artifacts.flag === true',
  'artifacts.share === 0.5',
  'checkpoint.share === 0.5',
  "checkpoint.mode === 'quick'",
  "artifacts.text === 'good'",
  'checkpoint.flag === true',
  "checkpoint.text === 'good'",
  'checkpoint.extra === 1',
  'checkpoint.k === 1',
  'approved.flag === true',
  "approved.text === 'good'",
  "checkpoint.gateDecision.option === 'yes'",
  "checkpoint.decisions.ship.option === 'yes'",
  'checkpoint.results.PLAN.flag === true',
  'checkpoint.results.BUILD.extra === 1',
];
