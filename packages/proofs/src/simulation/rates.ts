import type { Outcome, PhaseId } from '@phasegate/core/model';

/** What may be said of a phase before it is simulated, as it stands in a file; what is absent is taken from records. */
export interface PhaseRates {
  /** How likely an attempt is to pass; of a list the first is about the first attempt, and the last about all after. */
  readonly pass?: number | readonly number[];
  /** How long an attempt takes; of a list each value is as likely. */
  readonly minutes?: number | readonly number[];
  /** How likely an agent is to hand an attempt to a human instead of submitting it. */
  readonly blocked?: number;
  /** How many items a parallel phase has. */
  readonly items?: number | readonly number[];
  /** How often each outcome comes. */
  readonly outcomes?: Readonly<Partial<Record<Outcome, number>>>;
  /** How often the condition of the route is true. */
  readonly condition?: number;
  /** How often each option of the human gate is chosen, by label. */
  readonly options?: Readonly<Record<string, number>>;
  /** How long a human takes to decide at the gate. */
  readonly decide_minutes?: number | readonly number[];
  /** How often a human resumes the run when it is escalated here. */
  readonly resume?: number;
  /** How often a human stops it instead. */
  readonly stop?: number;
  /** How long a human takes to resume or stop it. */
  readonly resume_minutes?: number | readonly number[];
}

/** Names of what can be said of a phase. */
export type RateName = keyof PhaseRates;

/** What is said of phases, by id as text. */
export type Rates = Readonly<Record<string, PhaseRates>>;

/** Where a number comes from: counted in recorded runs, said by the user, or neither. */
export type RateSource = 'recorded' | 'given' | 'assumed';

/** A number the simulation rests on. */
export interface RateInput {
  readonly phase: PhaseId;
  readonly rate: RateName;
  readonly source: RateSource;
  /** How often it was seen, where it was counted. */
  readonly n: number | null;
  readonly value: number | readonly number[] | Readonly<Record<string, number>>;
}

/** An attempt's time: at work, and waiting for answers to questions. */
export interface AttemptMinutes {
  readonly work: number;
  readonly asked: number;
}

/** What the records of a phase come to. */
export interface RecordedPhase {
  /** First attempts, and all later ones, of a visit. */
  readonly attempts: readonly [Counted, Counted];
  readonly minutes: readonly AttemptMinutes[];
  readonly blocked: number;
  readonly items: readonly number[];
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  readonly condition: { readonly yes: number; readonly no: number };
  readonly options: Readonly<Record<string, number>>;
  /** Gates at which nobody decided in time. */
  readonly undecided: number;
  readonly decideMinutes: readonly number[];
  readonly escalations: { readonly n: number; readonly resumed: number; readonly stopped: number };
  readonly resumeMinutes: readonly number[];
}

/** How many of how many passed. */
export interface Counted {
  readonly passed: number;
  readonly n: number;
}

/** What recorded runs come to, by phase id as text. */
export interface RecordedRates {
  readonly runs: number;
  readonly phases: Readonly<Record<string, RecordedPhase>>;
}

/** All that is needed to simulate a phase. */
export interface SettledPhase {
  readonly pass: readonly number[];
  readonly minutes: readonly AttemptMinutes[];
  readonly blocked: number;
  readonly items: readonly number[];
  /** Sum up to 1. */
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  readonly condition: number;
  /** What they leave over is nobody's decision. */
  readonly options: Readonly<Record<string, number>>;
  readonly decideMinutes: readonly number[];
  readonly resume: number;
  readonly stop: number;
  readonly resumeMinutes: readonly number[];
}
