import type { PhaseId } from '@phasegate/core/model';
import type { RateInput, RateSource } from './rates.ts';

/** What many simulated runs of a workflow come to. Shares are of all runs; times are in minutes. */
export interface Simulation {
  readonly workflow: string;
  readonly seed: string;
  readonly runs: number;
  readonly agents: number;
  /** How many recorded runs it rests on. */
  readonly recorded: number;
  readonly completed: number;
  readonly stopped: number;
  readonly stuck: number;
  /** From when an agent takes a run to its end; null where no run came to one. */
  readonly minutes: Spread | null;
  /** Submissions of a run that were judged, on average. */
  readonly attempts: number;
  /** Completed runs in an hour; null where all of it took no time. */
  readonly throughput: number | null;
  /** Share of the agents' time spent at work. */
  readonly utilisation: number;
  /** From the first run taken to the last end. */
  readonly span: number;
  /** Where most of the time of runs goes; null where there is none. */
  readonly bottleneck: TimeSpent | null;
  readonly phases: readonly SimulatedPhase[];
  /** Where the time of runs goes, most first. */
  readonly time: readonly TimeSpent[];
  /** Where runs get stuck, most first. */
  readonly stranded: readonly Stranded[];
  /** How the times of ended runs are spread. */
  readonly histogram: readonly Bin[];
  readonly inputs: readonly RateInput[];
  readonly notes: readonly string[];
  /** Runs that were given up after so many steps; null where none was. */
  readonly bound: { readonly steps: number; readonly runs: number } | null;
}

/** How values are spread. */
export interface Spread {
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
}

/** What a phase comes to. */
export interface SimulatedPhase {
  readonly phase: PhaseId;
  readonly name: string;
  /** On average in a run. */
  readonly visits: number;
  /** How likely an attempt is to pass, and how one knows. */
  readonly pass: {
    readonly rates: readonly number[];
    readonly source: RateSource;
    readonly n: number | null;
  };
  /** On average in a visit; null where no run gets there. */
  readonly attempts: number | null;
  /** From entering it to leaving it, all waiting included; null where no run leaves it. */
  readonly minutes: Spread | null;
  /** Share of all runs that get stuck here. */
  readonly stuck: number;
}

/** Why a run goes no further. `bound` is the simulation's own limit. */
export type StuckWhy = 'escalated' | 'gate' | 'loop' | 'bound';

/** Runs that got stuck in one place for one reason. */
export interface Stranded {
  readonly phase: PhaseId;
  readonly why: StuckWhy;
  readonly share: number;
}

/** Who is waited for while time goes by. */
export type TimeKind = 'work' | 'gate' | 'escalation' | 'questions';

/** A part of the time of all runs. */
export interface TimeSpent {
  readonly phase: PhaseId;
  readonly kind: TimeKind;
  readonly share: number;
  /** On average in a run. */
  readonly minutes: number;
}

/** Ended runs whose time lies from one value up to the next. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly runs: number;
}
