export { checkWorkflow, DEFAULT_BOUNDS } from './check/checkWorkflow.ts';
export type { Bounds, CheckReport, Finding, FindingCode, Surroundings } from './check/report.ts';
export { type Coverable, type CoverableKind, coverables } from './coverage/coverables.ts';
export {
  type BySource,
  type Coverage,
  type CoverageCount,
  type CoverageRecording,
  type CoverageSource,
  type CoverageSubject,
  type CoverageTally,
  type Covered,
  coverageByKind,
  coverageCount,
  coverageOf,
  startCoverage,
} from './coverage/coverage.ts';
export { markCoverage } from './coverage/coverageMarks.ts';
export { provesReachable } from './migration/reachable.ts';
export { type ChainRecord, type RecordedStep, recordedSteps } from './replay/recordedSteps.ts';
export {
  FLIPS,
  type Flip,
  type Outlook,
  REPLAY_KINDS,
  type Reads,
  type ReplayedStep,
  type Replaying,
  type ReplayKind,
  type ReplayReport,
} from './replay/replayReport.ts';
export { replayRun } from './replay/replayRun.ts';
export { RateCounter, type RecordedWalk, ratesFrom } from './simulation/rateCounter.ts';
export { type RateProblem, rateProblems } from './simulation/rateProblems.ts';
export type {
  PhaseRates,
  RateInput,
  RateName,
  RateSource,
  Rates,
  RecordedPhase,
  RecordedRates,
} from './simulation/rates.ts';
export { type SimulateOptions, simulate } from './simulation/simulate.ts';
export type {
  Bin,
  SimulatedPhase,
  Simulation,
  Spread,
  Stranded,
  StuckWhy,
  TimeKind,
  TimeSpent,
} from './simulation/simulation.ts';
export { DEFAULT_STEPS } from './simulation/stepsFor.ts';
