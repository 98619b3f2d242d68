import type { AuditRecord, Run, RunEvent, Workflow } from '@phasegate/core';
import type { GateDecision, Override } from '@phasegate/core/engine';
import type {
  AgentRecord,
  AuditFinding,
  ChainHead,
  HumanRecord,
  Seal,
  TrustRecord,
} from '@phasegate/core/ports';
import type { Anchor } from './anchor.ts';
import type { StoredStub } from './archivedStub.ts';
import { type HeadSum, NO_HEADS } from './headSum.ts';
import type { SignedHead } from './signedHead.ts';

/** What the caller knows and a store does not: how events make a run, and whether a human signed. */
export interface AuditKnowledge {
  /** The run its events make; the stored state must equal it. */
  readonly fold?: (workflow: Workflow, events: readonly RunEvent[]) => Run | Folding;
  /** Whether a decision carries its human's signature. `humans` also has those removed since. */
  readonly verifyDecision?: (
    run: Run,
    decision: GateDecision | Override,
    humans: readonly HumanRecord[],
  ) => boolean;
}

/** A run as its events make it, one step for each: so many are not to be waited for at once. */
export type Folding = Iterator<undefined, Run>;

/** One unchanging view of all a store holds, read piece by piece, as fast as the store gives it. */
export interface AuditSource {
  /** Rows of runs, one at a time; only those of a share where one is given. */
  rows(share?: Share): Flow<AuditRow>;
  /** Records of one chain in order, one at a time. */
  records(run: string | null): Flow<StoredRecord>;
  /** The newest seq of a stored run, or undefined when there is no such run. */
  seqOf(run: string): Soon<number | undefined>;
  hashAt(run: string, seq: number): Soon<string | undefined>;
  /** Runs that have records and no row. */
  orphans(): Flow<string>;
  /** Null where the store signs no head; undefined where it should have one and has none. */
  head(): Soon<SignedHead | null | undefined>;
  /** The workflow of that hash, or null when there is none or it was changed. */
  workflow(hash: string): Soon<Workflow | null>;
  humans(): Soon<readonly StoredHuman[]>;
  agents(): Soon<readonly StoredAgent[]>;
  /** What humans accepted, oldest first. */
  acceptances(): Soon<readonly StoredTrust[]>;
  /** Names of rows of other kinds that do not match their seal. */
  unsealed(): Flow<string>;
  /** Stubs of archived runs, one at a time; absent in a store that archives none. */
  archived?(): Flow<StoredStub>;
  /** The stub of one run. */
  stubOf?(run: string): Soon<StoredStub | undefined>;
  /** Where records stand among all; absent in a store that gives no anchors. */
  readonly places?: Places;
}

/** A source that need not be waited for. */
export interface PromptAuditSource extends AuditSource {
  rows(share?: Share): Iterable<AuditRow>;
  records(run: string | null): Iterable<StoredRecord>;
  workflow(hash: string): Workflow | null;
  humans(): readonly StoredHuman[];
  readonly places: Omit<Places, 'newest'> & { newest(): number };
}

/** A value at once, or later. */
export type Soon<T> = T | Promise<T>;

/** Values one at a time, at once or later. */
export type Flow<T> = Iterable<T> | AsyncIterable<T>;

/** The rows of runs from one number to another, with both. Any number SQLite knows can be one of a row. */
export interface Share {
  readonly first: bigint;
  readonly last: bigint;
}

/** Records by the numbers they were given as they came, over all chains. */
export interface Places {
  /** Of the newest record; 0 when there is none. */
  newest(): Soon<number>;
  of(run: string, seq: number): Soon<number | undefined>;
  /** Where every record stands, in the order they came. */
  heads(): Flow<PlacedHead>;
  /** How many records a chain has, with the numbers of its first and last; no two have the same. */
  extent(run: string): Soon<{ readonly count: number; readonly first: number; readonly last: number }>;
}

/** A record as the end of its chain, at the time it came. */
export interface PlacedHead extends ChainHead {
  readonly place: number;
  /** Null for the project's own chain. */
  readonly run: string | null;
}

/** A record as it is stored; most need only be hashed, so their data may be read no sooner than it is asked for. */
export interface StoredRecord extends AuditRecord {
  /** The text of the data, where that is what is stored. */
  readonly dataText?: string;
  /** See `Places`. */
  readonly place?: number;
}

/** A run as it is stored. */
export interface AuditRow {
  readonly id: string;
  readonly workflowHash: string;
  readonly head: ChainHead;
  /** Whether it matches its seal. */
  readonly sealed: boolean;
  /** The head that is part of the signed sum; seq 0 before the first time. */
  readonly headed: ChainHead;
  /** All of the run but its workflow; null where what is stored makes none. */
  readonly run: Omit<Run, 'workflow'> | null;
  /** Columns that repeat parts of the run for listing. */
  readonly columns: Readonly<Record<string, unknown>>;
}

/** A human as stored; a removed one stays, as decisions refer to its key. */
export interface StoredHuman {
  readonly human: HumanRecord;
  readonly removed: boolean;
  /** Until when the key was good; null while it is. */
  readonly removedAt: string | null;
  /** Whether the row matches its seal. */
  readonly sealed: boolean;
}

/** An agent as stored; a removed one stays. */
export interface StoredAgent {
  readonly agent: AgentRecord;
  readonly removed: boolean;
  /** Whether the row matches its seal. */
  readonly sealed: boolean;
}

/** An acceptance as stored; of one that does not match its seal only its workflow and hash are told. */
export interface StoredTrust {
  readonly trust: Pick<TrustRecord, 'workflow' | 'hash'>;
  readonly record: TrustRecord | null;
}

/** What the parts of the verification share. */
export interface Verification {
  readonly source: AuditSource;
  readonly seal: Seal;
  readonly knowledge: AuditKnowledge;
  readonly humans: readonly StoredHuman[];
  readonly tally: Tally;
  /** What was verified before; null where all is to be. */
  readonly since: Anchor | null;
  /** Reports a finding. */
  report(finding: AuditFinding): void;
  /** Whether something was already found about a run: one cause should not be reported twice. */
  blamed(run: string): boolean;
  /** Lets others work; called between records, and between the events of a run. */
  breathe(): Promise<void> | undefined;
}

/** What has been counted so far. */
export interface Tally {
  runs: number;
  records: number;
  unanchored: number;
  /** Phases that humans overrode. */
  overridden: number;
  /** Over the heads of the runs that are part of the signed sum. */
  sum: HeadSum;
  headed: number;
  /** Over the newest heads of all runs. */
  newest: HeadSum;
  /** Over the heads that the runs had at the anchor, and how many had one. */
  before: HeadSum;
  beforeRuns: number;
  /** Runs without a record that is newer than the anchor, of which only the ends were looked at. */
  byEnds: number;
  readonly dropped: Set<string>;
}

/** A tally of nothing. */
export function emptyTally(): Tally {
  const counts = { runs: 0, records: 0, unanchored: 0, overridden: 0, headed: 0, beforeRuns: 0, byEnds: 0 };
  return { ...counts, sum: NO_HEADS, newest: NO_HEADS, before: NO_HEADS, dropped: new Set() };
}
