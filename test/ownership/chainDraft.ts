import type { PhaseDraft, WorkflowDraft } from '@phasegate/core';
import type { RouteDraft } from '@phasegate/core/model';
import { anyDraft } from '../differential/drafts.ts';
import type { Random } from '../differential/random.ts';

/** Any workflow, or one in which a value is handed in, perhaps approved, and read two phases later. */
export function chainDraft(random: Random): WorkflowDraft {
  if (random.chance(0.25)) return anyDraft(random);
  const name = random.pick(['flag', 'text', 'list']);
  const declares = { fields: FIELDS.filter((field) => field.name === name) };
  const plan: PhaseDraft = {
    id: 'PLAN',
    ...(random.chance(0.8) ? declares : {}),
    ...(random.chance(0.6)
      ? { gates: [gate(random, name)] }
      : { next: outcomes('BUILD', random.pick(['PLAN', 'BUILD'])) }),
  };
  const build: PhaseDraft = {
    id: 'BUILD',
    ...(random.chance(0.65) ? declares : {}),
    ...(random.chance(0.2) ? { work: { kind: 'handler', ref: 'steps/1' } } : {}),
    ...(random.chance(0.3) ? { parallel: { key: 'areas' } } : {}),
    next: outcomes('TEST', random.pick(['BUILD', 'TEST'])),
  };
  const test: PhaseDraft = {
    id: 'TEST',
    ...(random.chance(0.3) ? { parallel: { key: random.pick(['areas', 'list']) } } : {}),
    next: {
      condition: reading(random, name),
      onTrue: 'SHIP',
      onFalse: random.pick(['SHIP', 'END', 'BUILD']),
    },
  };
  const ship: PhaseDraft = {
    id: 'SHIP',
    ...(random.chance(0.3) ? declares : {}),
    ...(random.chance(0.3) ? { gates: [gate(random, name)] } : {}),
  };
  return {
    id: 'chain',
    params: {
      mode: { type: 'string', choices: ['quick', 'full'], default: 'full' },
      ...(random.chance(0.7) ? { areas: { type: 'list', default: ['north', 'south'] } } : {}),
    },
    enforcement: { mode: random.chance(0.15) ? 'permissive' : 'strict' },
    entry: 'PLAN',
    phases: [plan, build, test, ship, { id: 'END' }],
  };
}

const FIELDS = [
  { name: 'flag', type: 'bool', falseOk: true },
  { name: 'text', type: 'str', rule: 'non_empty' },
  { name: 'list', type: 'list', rule: 'positive' },
] as const;

function gate(random: Random, name: string): NonNullable<PhaseDraft['gates']>[number] {
  const options = [{ label: 'yes' }, { label: 'no', next: random.chance(0.5) ? null : 'PLAN' }];
  return {
    id: 'ship',
    human: { prompt: '?', context: random.pick([[], [], [name, 'k'], ['plan.parts']]), options },
  };
}

function outcomes(ok: string, fail: string): RouteDraft {
  return { outcomes: { ok, fail }, maxIterations: 3 };
}

function reading(random: Random, name: string): string {
  const read = name === 'text' ? "text === 'good'" : 'flag === true';
  if (random.chance(0.3))
    return random.pick(["checkpoint.gateDecision.option === 'yes'", "checkpoint.mode === 'quick'"]);
  return `${random.pick(['artifacts', 'checkpoint', 'approved'])}.${read}`;
}
