import type { Known, PhaseDraft, PhaseId, WorkflowDraft } from '@phasegate/core';
import type { CheckDraft, GateDraft, ParamDraft, PropertyDraft, RouteDraft } from '@phasegate/core/model';
import { anyDraft, KNOWN as CHECKS } from '../differential/drafts.ts';
import type { Random } from '../differential/random.ts';

/** The checks the drafts are written for: those of the differential test, and conditions. */
export const KNOWN: Known = {
  checks: {
    ...CHECKS.checks,
    expression: {
      parameters: { type: 'object' },
      class: 'claimed',
      conditions: ['condition'],
      reads: 'subject',
    },
  },
};

/** A draft of the differential test with promises, required gates and more conditions on params and iterations. */
export function anyPromisingDraft(random: Random): WorkflowDraft {
  const draft = anyDraft(random);
  const params: Readonly<Record<string, ParamDraft>> = { ...draft.params, ...MORE_PARAMS };
  const ids = draft.phases.map(({ id }) => id);
  const phases = draft.phases.map((phase): PhaseDraft => {
    const gates = (phase.gates ?? []).flatMap((gate, place) =>
      typeof gate === 'string' ? [] : [anyGate(random, gate, { ids, label: `${phase.id} gate ${place}` })],
    );
    const next = anyRoute(random, phase, ids);
    const conditions = [anyConditions(random, BEFORE, 0.15), anyConditions(random, CONDITIONS, 0.1)] as const;
    return {
      ...phase,
      ...(phase.parallel === undefined ? {} : { parallel: { key: 'places', ...onEmpty(random, ids) } }),
      gates,
      preconditions: labelled(`${phase.id} before`, [...(phase.preconditions ?? []), ...conditions[0]]),
      postconditions: labelled(`${phase.id} after`, [...(phase.postconditions ?? []), ...conditions[1]]),
      ...(random.chance(0.08) ? { onlyWhen: { level: [random.pick(['low', 'high'])] } } : {}),
      ...next,
      fields: [...(phase.fields ?? []), ...fieldsFor(phase, JSON.stringify([next, conditions]))],
    };
  });
  const gates = phases.flatMap(({ gates: own = [] }) =>
    own.flatMap((gate) =>
      typeof gate === 'object' && gate.human !== undefined && gate.id !== undefined ? [gate.id] : [],
    ),
  );
  return { ...draft, params, phases, properties: anyProperties(random, [...ids.map(String), ...gates]) };
}

function onEmpty(random: Random, ids: readonly PhaseId[]): { readonly onEmpty?: PhaseId | null } {
  return random.chance(0.3) ? { onEmpty: random.pick([...ids, null]) } : {};
}

const MORE_PARAMS: Readonly<Record<string, ParamDraft>> = {
  level: { type: 'string', choices: ['low', 'high'], required: true },
  turns: { type: 'integer', min: 1, max: 3 },
  deep: { type: 'boolean', default: false },
  places: { type: 'list', required: true },
};

/** Conditions that are answered by what is known before a run, or partly by it. */
const CONDITIONS = [
  "params.level === 'low'",
  'params.turns > 1',
  'params.deep',
  '!params.deep',
  'iteration < 3',
  'iteration in [2, 4]',
  'iteration <= params.turns',
  "params.deep || result.text === 'good'",
  "result.text === 'good' || params.deep",
  'result.flag && iteration > 1',
  "params.level === 'low' && result.flag",
];

/** Before a phase is entered there is no result of it. */
const BEFORE = CONDITIONS.filter((condition) => !condition.includes('result.'));

function anyConditions(random: Random, conditions: readonly string[], often: number): readonly CheckDraft[] {
  if (!random.chance(often)) return [];
  const condition = random.pick(conditions);
  return [{ check: 'expression', with: { condition } }];
}

/** The evidence that conditions are about must be asked for. */
function fieldsFor({ fields = [] }: PhaseDraft, written: string): NonNullable<PhaseDraft['fields']> {
  const asked = [
    { name: 'flag', type: 'bool', falseOk: true },
    { name: 'text', type: 'str' },
  ] as const;
  return asked.filter(
    ({ name }) => written.includes(`result.${name}`) && !fields.some((field) => field.name === name),
  );
}

/** Each check under a name of its own, so that a step of a trace says which one it was. */
function labelled(name: string, checks: readonly CheckDraft[]): readonly CheckDraft[] {
  return checks.map((check, place) => ({ ...check, label: `${name} ${place}` }));
}

function anyGate(
  random: Random,
  gate: GateDraft,
  { ids, label }: { readonly ids: readonly PhaseId[]; readonly label: string },
): GateDraft {
  if (gate.human === undefined) return { ...gate, blockers: labelled(label, gate.blockers ?? []) };
  const third = random.chance(0.15)
    ? [{ label: 'third', next: random.pick(ids), approves: random.chance(0.5) }]
    : [];
  return {
    ...gate,
    human: {
      ...gate.human,
      options: [...gate.human.options, ...third].map((option) => meant(random, option)),
      ...(random.chance(0.25)
        ? { context: random.pick([['text'], ['data.parts', 'list'], ['places']]) }
        : {}),
      ...(random.chance(0.5) ? { required: false } : {}),
    },
  };
}

type OptionDraft = NonNullable<GateDraft['human']>['options'][number];

/** Where an option leads elsewhere than the phase does, its author says what choosing it means; elsewhere nobody may. */
function meant(random: Random, { approves, ...option }: OptionDraft): OptionDraft {
  return option.next == null ? option : { ...option, approves: approves ?? random.chance(0.5) };
}

function anyRoute(
  random: Random,
  { next }: PhaseDraft,
  ids: readonly PhaseId[],
): { readonly next?: RouteDraft } {
  if (next === undefined || next === null || typeof next !== 'object' || 'to' in next)
    return next === undefined ? {} : { next };
  const exhausted = random.chance(0.2) ? { onExhausted: random.pick([...ids, null]) } : {};
  const condition = 'condition' in next && random.chance(0.35) ? { condition: random.pick(CONDITIONS) } : {};
  const most = random.chance(0.05) ? { maxIterations: 12 } : {};
  return { next: { ...next, ...condition, ...most, ...exhausted } };
}

function anyProperties(random: Random, names: readonly string[]): readonly PropertyDraft[] {
  const some = (least: number) => {
    const count = least + random.int(2);
    return Array.from({ length: count }, () => random.pick(names));
  };
  return Array.from({ length: random.int(4) }, (_, index): PropertyDraft => {
    const name = `promise ${index}`;
    if (random.chance(0.33)) return { name, always: some(1) };
    return random.chance(0.5) ? { name, never: some(1) } : { name, before: some(2) };
  });
}
