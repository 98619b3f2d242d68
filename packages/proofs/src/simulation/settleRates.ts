import type { HumanGate, Outcome, Phase, Workflow } from '@phasegate/core/model';
import { leadsBack, workerOf } from '@phasegate/core/model';
import type { Abstraction } from '../check/abstractWorkflow.ts';
import { outcomesOf } from './rateProblems.ts';
import type {
  AttemptMinutes,
  Counted,
  PhaseRates,
  RateInput,
  RateName,
  RateSource,
  Rates,
  RecordedPhase,
  RecordedRates,
  SettledPhase,
} from './rates.ts';

/** What is taken where nothing is recorded or given. */
const ASSUMED = { agentMinutes: 10, programMinutes: 1, humanMinutes: 60, items: 2 } as const;

/** Rates of every phase, by id as text, and each number they rest on. */
export interface Settled {
  readonly phases: ReadonlyMap<string, SettledPhase>;
  readonly inputs: readonly RateInput[];
}

/** Takes for each phase what was given, else what was recorded, else what is assumed, and notes which. */
export function settleRates(
  workflow: Workflow,
  { answers }: Abstraction,
  { given, recorded }: { readonly given: Rates; readonly recorded: RecordedRates | null },
): Settled {
  const inputs: RateInput[] = [];
  const phases = new Map(
    workflow.phases.map((phase) => {
      const id = String(phase.id);
      const counted =
        recorded !== null && Object.hasOwn(recorded.phases, id) ? recorded.phases[id] : undefined;
      const said = Object.hasOwn(given, id) ? given[id] : undefined;
      const possible = answers.get(phase.id) ?? [true, false];
      const settling = new Settling(phase, said ?? {}, counted);
      const settled = settling.settle(workflow, possible);
      inputs.push(...settling.inputs);
      return [id, settled];
    }),
  );
  return { phases, inputs };
}

class Settling {
  readonly inputs: RateInput[] = [];
  readonly #phase: Phase;
  readonly #given: PhaseRates;
  readonly #counted: RecordedPhase | undefined;

  constructor(phase: Phase, given: PhaseRates, counted: RecordedPhase | undefined) {
    this.#phase = phase;
    this.#given = given;
    this.#counted = counted;
  }

  settle(workflow: Workflow, possible: readonly boolean[]): SettledPhase {
    const [phase, counted] = [this.#phase, this.#counted];
    const pass = this.#pass();
    const minutes = this.#minutes();
    const blocked = this.#share('blocked', ofAll(counted?.blocked, triesOf(counted)), 0);
    const items = phase.parallel === null ? [] : this.#list('items', counted?.items ?? [], ASSUMED.items);
    const outcomes = this.#outcomes();
    const condition =
      phase.next.kind !== 'when' || possible.length < 2
        ? Number(possible[0] ?? true)
        : this.#condition(workflow);
    const options = phase.humanGate === null ? {} : this.#options();
    const decideMinutes =
      phase.humanGate === null
        ? []
        : this.#list('decide_minutes', counted?.decideMinutes ?? [], inTime(phase.humanGate));
    const { n = 0, resumed = 0, stopped = 0 } = counted?.escalations ?? {};
    const resume = this.#share('resume', { passed: resumed, n }, 0);
    const stop = this.#share('stop', { passed: stopped, n }, 0, 1 - resume);
    const resumeMinutes =
      resume + stop === 0
        ? []
        : this.#list('resume_minutes', counted?.resumeMinutes ?? [], ASSUMED.humanMinutes);
    return {
      pass,
      minutes,
      blocked,
      items,
      outcomes,
      condition,
      options,
      decideMinutes,
      resume,
      stop,
      resumeMinutes,
    };
  }

  #note(rate: RateName, source: RateSource, value: RateInput['value'], n: number | null = null): void {
    this.inputs.push({ phase: this.#phase.id, rate, source, n, value });
  }

  #pass(): readonly number[] {
    const given = this.#given.pass;
    if (given !== undefined) {
      const rates = typeof given === 'number' ? [given] : given;
      this.#note('pass', 'given', rates);
      return rates;
    }
    const [first, later] = this.#counted?.attempts ?? [NONE, NONE];
    const known = [first, later].filter(({ n }) => n > 0);
    const rates = known.length === 0 ? [1] : known.map(({ passed, n }) => passed / n);
    const n = first.n + later.n;
    if (n === 0) this.#note('pass', 'assumed', rates);
    else this.#note('pass', 'recorded', rates, n);
    return rates;
  }

  #minutes(): readonly AttemptMinutes[] {
    const recorded = this.#counted?.minutes ?? [];
    if (this.#given.minutes === undefined && recorded.length > 0) {
      this.#note('minutes', 'recorded', [medianOf(recorded.map(({ work }) => work))], recorded.length);
      return recorded;
    }
    const worker = workerOf(this.#phase);
    const assumed =
      worker === 'command' || worker === 'handler' ? ASSUMED.programMinutes : ASSUMED.agentMinutes;
    return this.#list('minutes', [], assumed).map((work) => ({ work, asked: 0 }));
  }

  #list(
    rate: 'minutes' | 'items' | 'decide_minutes' | 'resume_minutes',
    recorded: readonly number[],
    assumed: number,
  ): readonly number[] {
    const given = this.#given[rate];
    if (given !== undefined) {
      const values = typeof given === 'number' ? [given] : given;
      this.#note(rate, 'given', values);
      return values;
    }
    if (recorded.length > 0) this.#note(rate, 'recorded', [medianOf(recorded)], recorded.length);
    else this.#note(rate, 'assumed', [assumed]);
    return recorded.length > 0 ? recorded : [assumed];
  }

  /** What is assumed to be 0 is said of escalation only: an agent that never gives up needs no line of its own. */
  #share(rate: 'blocked' | 'resume' | 'stop', { passed, n }: Counted, assumed: 0, most = 1): number {
    const given = this.#given[rate];
    const value = Math.min(most, given ?? (n > 0 ? passed / n : assumed));
    if (given !== undefined) this.#note(rate, 'given', given);
    else if (n > 0 && (rate === 'resume' || passed > 0)) this.#note(rate, 'recorded', value, n);
    else if (rate === 'resume') this.#note(rate, 'assumed', value);
    return value;
  }

  #outcomes(): SettledPhase['outcomes'] {
    const possible = outcomesOf(this.#phase);
    const [only = 'ok'] = possible;
    if (possible.length < 2) return { [only]: 1 };
    const given = this.#given.outcomes;
    if (given !== undefined) {
      const unnamed = possible.filter((outcome) => !Object.hasOwn(given, outcome));
      const shares = withRest(given, unnamed.includes('ok') ? ['ok'] : unnamed);
      this.#note('outcomes', 'given', shares);
      return shares;
    }
    const counted = shareOf(this.#counted?.outcomes ?? {}, possible);
    if (counted.n > 0) {
      this.#note('outcomes', 'recorded', counted.shares, counted.n);
      return counted.shares;
    }
    const assumed: Partial<Record<Outcome, number>> = { [possible.includes('ok') ? 'ok' : only]: 1 };
    this.#note('outcomes', 'assumed', assumed as Record<string, number>);
    return assumed;
  }

  #condition(workflow: Workflow): number {
    const given = this.#given.condition;
    if (given !== undefined) {
      this.#note('condition', 'given', given);
      return given;
    }
    const { yes, no } = this.#counted?.condition ?? { yes: 0, no: 0 };
    if (yes + no > 0) {
      this.#note('condition', 'recorded', yes / (yes + no), yes + no);
      return yes / (yes + no);
    }
    const { id, next } = this.#phase;
    // The way that does not lead back, else the first.
    const back = next.kind === 'when' && leadsBack(workflow, id, next.onTrue);
    const assumed = back && next.kind === 'when' && !leadsBack(workflow, id, next.onFalse) ? 0 : 1;
    this.#note('condition', 'assumed', assumed);
    return assumed;
  }

  #options(): SettledPhase['options'] {
    const labels = this.#phase.humanGate?.options.map(({ label }) => label) ?? [];
    const given = this.#given.options;
    if (given !== undefined) {
      const shares = withRest(
        given,
        labels.filter((label) => !Object.hasOwn(given, label)),
      );
      this.#note('options', 'given', shares);
      return shares;
    }
    const { shares, n } = shareOf(this.#counted?.options ?? {}, labels, this.#counted?.undecided ?? 0);
    if (n > 0) {
      this.#note('options', 'recorded', shares, n);
      return shares;
    }
    const assumed = { [labels[0] ?? '']: 1 };
    this.#note('options', 'assumed', assumed);
    return assumed;
  }
}

/** Who is assumed to decide does so before the gate's time is up: else nothing would ever get past it. */
function inTime({ timeout }: HumanGate): number {
  return timeout === null ? ASSUMED.humanMinutes : Math.min(ASSUMED.humanMinutes, timeout.afterSeconds / 120);
}

const NONE: Counted = { passed: 0, n: 0 };

function triesOf(counted: RecordedPhase | undefined): number {
  if (counted === undefined) return 0;
  return counted.attempts[0].n + counted.attempts[1].n + counted.blocked;
}

function ofAll(passed: number | undefined, n: number): Counted {
  return { passed: passed ?? 0, n };
}

function shareOf(
  counts: Readonly<Record<string, number | undefined>>,
  names: readonly string[],
  others = 0,
): { readonly shares: Readonly<Record<string, number>>; readonly n: number } {
  // What the definition no longer has is not chosen any more.
  const known = names.flatMap((name): [string, number][] => {
    const count = Object.hasOwn(counts, name) ? counts[name] : undefined;
    return count === undefined ? [] : [[name, count]];
  });
  const n = known.reduce((sum, [, count]) => sum + count, others);
  return { shares: Object.fromEntries(known.map(([name, count]) => [name, count / n])), n };
}

/** What the shares leave over goes to the names that were left out, each as much. */
function withRest(
  shares: Readonly<Record<string, number>>,
  unnamed: readonly string[],
): Readonly<Record<string, number>> {
  const rest = 1 - Object.values(shares).reduce((sum, share) => sum + share, 0);
  if (unnamed.length === 0 || rest <= 1e-9) return shares;
  return { ...shares, ...Object.fromEntries(unnamed.map((name) => [name, rest / unnamed.length])) };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
