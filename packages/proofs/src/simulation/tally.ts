import type { RunEvent } from '@phasegate/core/engine';
import type { PhaseId, Workflow } from '@phasegate/core/model';
import type { RateInput } from './rates.ts';
import type { Bin, SimulatedPhase, Simulation, Spread, StuckWhy, TimeKind, TimeSpent } from './simulation.ts';

/** What a simulation was made with, for its report. */
export interface Simulated extends Pick<Simulation, 'seed' | 'agents' | 'runs' | 'recorded' | 'notes'> {
  readonly inputs: readonly RateInput[];
  readonly steps: number;
  /** When the last thing happened. */
  readonly span: number;
}

/** Counts what happens to simulated runs; a run is any object that stays the same. */
export class Tally {
  readonly #workflow: Workflow;
  readonly #walks = new Map<object, { readonly begun: number; entered: number }>();
  readonly #phases = new Map<PhaseId, { visits: number; attempts: number; readonly minutes: number[] }>();
  readonly #spent = new Map<string, { readonly phase: PhaseId; readonly kind: TimeKind; minutes: number }>();
  readonly #stuck = new Map<string, { readonly phase: PhaseId; readonly why: StuckWhy; runs: number }>();
  readonly #minutes: number[] = [];
  #completed = 0;
  #stopped = 0;
  #stranded = 0;

  constructor(workflow: Workflow) {
    this.#workflow = workflow;
    for (const { id } of workflow.phases) this.#phases.set(id, { visits: 0, attempts: 0, minutes: [] });
  }

  /** Runs that go no further. */
  get ended(): number {
    return this.#completed + this.#stopped + this.#stranded;
  }

  started(walk: object, phase: PhaseId, now: number): void {
    this.#walks.set(walk, { begun: now, entered: now });
    this.#of(phase).visits++;
  }

  tried(phase: PhaseId): void {
    this.#of(phase).attempts++;
  }

  left(walk: object, { phase, next }: Extract<RunEvent, { type: 'phase_completed' }>, now: number): void {
    const known = this.#known(walk);
    this.#of(phase).minutes.push(now - known.entered);
    known.entered = now;
    if (next !== null) this.#of(next).visits++;
  }

  spent(phase: PhaseId, kind: TimeKind, minutes: number): void {
    if (minutes <= 0) return;
    const key = `${kind} ${typeof phase} ${phase}`;
    const known = this.#spent.get(key) ?? { phase, kind, minutes: 0 };
    known.minutes += minutes;
    this.#spent.set(key, known);
  }

  stranded(walk: object, phase: PhaseId, why: StuckWhy): void {
    const key = `${why} ${typeof phase} ${phase}`;
    const known = this.#stuck.get(key) ?? { phase, why, runs: 0 };
    known.runs++;
    this.#stuck.set(key, known);
    this.#stranded++;
    this.#walks.delete(walk);
  }

  finished(walk: object, how: 'completed' | 'stopped', now: number): void {
    this.#minutes.push(now - this.#known(walk).begun);
    if (how === 'completed') this.#completed++;
    else this.#stopped++;
    this.#walks.delete(walk);
  }

  report({ runs, agents, steps, span, inputs, ...made }: Simulated): Simulation {
    const share = (count: number) => rounded(count / runs);
    const spent = [...this.#spent.values()];
    const total = spent.reduce((sum, { minutes }) => sum + minutes, 0);
    const work = spent.reduce((sum, { kind, minutes }) => sum + (kind === 'work' ? minutes : 0), 0);
    const time = spent
      .map(({ phase, kind, minutes }): TimeSpent => {
        return { phase, kind, share: rounded(minutes / total), minutes: rounded(minutes / runs) };
      })
      .sort((one, other) => other.minutes - one.minutes);
    const stuck = [...this.#stuck.values()].sort((one, other) => other.runs - one.runs);
    const bound = stuck.reduce((sum, { why, runs: some }) => sum + (why === 'bound' ? some : 0), 0);
    const attempts = [...this.#phases.values()].reduce((sum, phase) => sum + phase.attempts, 0);
    return {
      workflow: this.#workflow.id,
      seed: made.seed,
      runs,
      agents,
      recorded: made.recorded,
      completed: share(this.#completed),
      stopped: share(this.#stopped),
      stuck: share(this.#stranded),
      minutes: spreadOf(this.#minutes),
      attempts: rounded(attempts / runs),
      throughput: span === 0 ? null : rounded((this.#completed / span) * 60),
      utilisation: span === 0 ? 0 : rounded(work / (agents * span)),
      span: rounded(span),
      bottleneck: time[0] ?? null,
      phases: this.#workflow.phases.map(({ id, name }): SimulatedPhase => {
        const { visits, attempts: tries, minutes } = this.#of(id);
        const here = stuck.reduce((sum, { phase, runs: some }) => sum + (phase === id ? some : 0), 0);
        return {
          phase: id,
          name,
          visits: share(visits),
          pass: passOf(id, inputs),
          attempts: visits === 0 ? null : rounded(tries / visits),
          minutes: spreadOf(minutes),
          stuck: share(here),
        };
      }),
      time,
      stranded: stuck.map(({ phase, why, runs: some }) => ({ phase, why, share: share(some) })),
      histogram: binsOf(this.#minutes),
      inputs,
      notes: made.notes,
      bound: bound === 0 ? null : { steps, runs: bound },
    };
  }

  #of(phase: PhaseId): { visits: number; attempts: number; readonly minutes: number[] } {
    const known = this.#phases.get(phase);
    if (known === undefined) throw new TypeError(`there is no phase \`${phase}\``);
    return known;
  }

  #known(walk: object): { readonly begun: number; entered: number } {
    const known = this.#walks.get(walk);
    if (known === undefined) throw new TypeError('a run that goes no further does not go on');
    return known;
  }
}

function passOf(id: PhaseId, inputs: readonly RateInput[]): SimulatedPhase['pass'] {
  const found = inputs.find(({ phase, rate }) => phase === id && rate === 'pass');
  const rates = Array.isArray(found?.value) ? (found.value as readonly number[]).map(rounded) : [];
  return { rates, source: found?.source ?? 'assumed', n: found?.n ?? null };
}

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    mean: rounded(sum / sorted.length),
    p50: rounded(at(sorted, 0.5)),
    p95: rounded(at(sorted, 0.95)),
  };
}

/** The least value that so large a share of all does not exceed. */
function at(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

const BINS = 12;

/** Equal bins, the last of which holds the few that took much longer than the others. */
function binsOf(values: readonly number[]): readonly Bin[] {
  if (values.length === 0) return [];
  const sorted = values.toSorted((one, other) => one - other);
  const [least, most] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
  const width = (at(sorted, 0.99) - least) / BINS;
  if (width < 1e-6) return [{ from: rounded(least), to: rounded(most), runs: values.length }];
  const counts = new Array<number>(BINS).fill(0);
  for (const value of sorted) {
    const bin = Math.min(BINS - 1, Math.floor((value - least) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((runs, bin) => ({
    from: rounded(least + bin * width),
    to: rounded(bin === BINS - 1 ? most : least + (bin + 1) * width),
    runs,
  }));
}

/** Without what floating point adds: a result is compared and read. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
