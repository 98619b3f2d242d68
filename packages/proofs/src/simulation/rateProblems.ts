import { didYouMean, OUTCOMES, type Outcome, type Phase, type Workflow } from '@phasegate/core/model';
import type { PhaseRates, RateName, Rates } from './rates.ts';

/** Something wrong with what was said of a phase. */
export interface RateProblem {
  /** Where, from the phase's id on. */
  readonly path: readonly (string | number)[];
  /** Whether the name is at fault rather than the value. */
  readonly key: boolean;
  readonly code: 'unknown_phase' | 'unknown_option' | 'unknown_outcome' | 'bad_value' | 'no_effect';
  readonly message: string;
}

/** Ten years: beyond, sums of times would mean nothing. */
const MAX_MINUTES = 5_256_000;
const MAX_ITEMS = 1000;

/** Everything wrong with rates, at once: names the workflow does not have, and values that mean nothing. */
export function rateProblems(workflow: Workflow, rates: Rates): readonly RateProblem[] {
  const ids = workflow.phases.map(({ id }) => String(id));
  return Object.entries(rates).flatMap(([id, said]): readonly RateProblem[] => {
    const phase = workflow.phases.find((candidate) => String(candidate.id) === id);
    if (phase !== undefined) return phaseProblems(phase, said);
    const message = `there is no phase \`${id}\`${didYouMean(id, ids)}`;
    return [{ path: [id], key: true, code: 'unknown_phase', message }];
  });
}

/** Outcomes a phase can be left with; `ok` alone where its route asks for none. */
export function outcomesOf({ next, work }: Phase): readonly Outcome[] {
  if (next.kind !== 'outcomes') return ['ok'];
  const has = (outcome: Outcome) => Object.hasOwn(next.map, outcome);
  const other = next.otherwise !== undefined;
  if (work.kind === 'handler') return OUTCOMES.filter((outcome) => has(outcome) || other);
  return OUTCOMES.filter((outcome) => {
    if (outcome === 'skip') return false;
    return has(outcome) || (other && outcome !== 'iterate');
  });
}

function phaseProblems(phase: Phase, said: PhaseRates): readonly RateProblem[] {
  const id = String(phase.id);
  const found: RateProblem[] = [];
  const say = (
    path: readonly (string | number)[],
    message: string,
    code: RateProblem['code'] = 'bad_value',
  ) => void found.push({ path: [id, ...path], key: code !== 'bad_value', code, message });
  const share = (path: readonly (string | number)[], value: number | undefined) => {
    if (value === undefined || (value >= 0 && value <= 1)) return;
    say(path, `\`${path.at(-1)}\` is a share from 0 to 1, not \`${value}\``);
  };
  const each = (
    name: RateName,
    value: number | readonly number[] | undefined,
    test: (one: number) => string,
  ) => {
    if (value === undefined) return;
    if (typeof value !== 'number' && value.length === 0) say([name], `\`${name}\` is an empty list`);
    for (const [place, one] of (typeof value === 'number' ? [value] : value).entries()) {
      const wrong = test(one);
      if (wrong !== '')
        say(typeof value === 'number' ? [name] : [name, place], `\`${name}\` ${wrong}, not \`${one}\``);
    }
  };
  const needs = (names: readonly RateName[], has: boolean, what: string) => {
    for (const name of has ? [] : names) {
      if (said[name] !== undefined) say([name], `phase \`${id}\` has no ${what}`, 'no_effect');
    }
  };
  const sum = (name: RateName, shares: Readonly<Record<string, number | undefined>>) => {
    for (const [key, value] of Object.entries(shares)) share([name, key], value);
    const total = totalOf(shares);
    if (total > 1 + 1e-9) say([name], `the shares of \`${name}\` add up to ${shown(total)}, which is over 1`);
  };

  each('pass', said.pass, (one) => (one >= 0 && one <= 1 ? '' : 'is a share from 0 to 1'));
  for (const name of ['minutes', 'decide_minutes', 'resume_minutes'] as const) {
    each(name, said[name], (one) => (one >= 0 && one <= MAX_MINUTES ? '' : `are from 0 to ${MAX_MINUTES}`));
  }
  each('items', said.items, (one) =>
    Number.isInteger(one) && one >= 1 && one <= MAX_ITEMS ? '' : `are a whole number from 1 to ${MAX_ITEMS}`,
  );
  for (const name of ['blocked', 'condition', 'resume', 'stop'] as const) share([name], said[name]);
  const acted = (said.resume ?? 0) + (said.stop ?? 0);
  if (acted > 1 + 1e-9) say(['stop'], `\`resume\` and \`stop\` add up to ${shown(acted)}, which is over 1`);
  needs(['items'], phase.parallel !== null, 'items');
  needs(['options', 'decide_minutes'], phase.humanGate !== null, 'human gate');
  needs(['condition'], phase.next.kind === 'when', 'condition on its route');
  needs(['outcomes'], phase.next.kind === 'outcomes', 'map of outcomes');
  if (phase.humanGate !== null && said.options !== undefined) {
    const labels = phase.humanGate.options.map(({ label }) => label);
    for (const label of Object.keys(said.options)) {
      if (labels.includes(label)) continue;
      say(
        ['options', label],
        `there is no option \`${label}\`${didYouMean(label, labels)}`,
        'unknown_option',
      );
    }
    sum('options', said.options);
  }
  if (phase.next.kind === 'outcomes' && said.outcomes !== undefined) {
    const possible: readonly string[] = outcomesOf(phase);
    for (const outcome of Object.keys(said.outcomes)) {
      if (possible.includes(outcome)) continue;
      const message = `phase \`${id}\` has no way for the outcome \`${outcome}\`${didYouMean(outcome, possible)}`;
      say(['outcomes', outcome], message, 'unknown_outcome');
    }
    sum('outcomes', said.outcomes);
    const { outcomes } = said;
    if (possible.every((outcome) => Object.hasOwn(outcomes, outcome)) && totalOf(outcomes) < 1 - 1e-9)
      say(
        ['outcomes'],
        `the shares of \`outcomes\` add up to ${shown(totalOf(outcomes))}; the rest is missing`,
      );
  }
  return found;
}

function totalOf(shares: Readonly<Record<string, number | undefined>>): number {
  return Object.values(shares).reduce<number>((total, share) => total + (share ?? 0), 0);
}

function shown(value: number): string {
  return String(Math.round(value * 10_000) / 10_000);
}
