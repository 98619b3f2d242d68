import type { WorkspaceHold } from '../engine/workspaceUse.ts';
import type { AuditRecord, RunSummary } from '../phasegate.ts';

/**
 * Finds the runs there is something to do about. INVARIANT: an answer costs what is in it, however many runs there
 * are beside: claims and the watch ask all the time. What is found is where to look; the engine decides on the run.
 */
export interface RunFinder {
  /**
   * Runs that an agent with these capabilities may claim: highest priority first, among equals those that are begun
   * and have items nobody holds, then the oldest. Parked runs are not among them, nor those not begun that would hold the
   * workspace in one of the ways of `without`; they are passed over in the index.
   */
  claimable(query: ClaimableQuery): Promise<readonly ClaimableRun[]>;
  /** Ids of the runs that wait at a gate whose time may be up by then, never one too late. */
  gatesDue(now: string): Promise<readonly string[]>;
  /**
   * Active, queued and waiting runs in which nothing may have happened since then, the longest first. A run is among
   * them until `lookAgain` says otherwise, and again when it is written.
   */
  quiet(query: FoundPage & { readonly since: string }): Promise<readonly QuietRun[]>;
  /**
   * The run was looked at: it is quiet from `since` on, or with null nobody need look before it is written. Nothing is
   * changed where it has another version by now.
   */
  lookAgain(runId: string, version: number, since: string | null): Promise<void>;
  /** Runs of a workflow that are not over, in no order; with `targets` or `beneath`, those about one of them. */
  notOver(query: NotOverQuery): Promise<readonly RunSummary[]>;
  /** A begun run other than `except` that one which would hold the workspace so has to wait for. */
  inWorkspace(hold: WorkspaceHold, except: string): Promise<RunSummary | undefined>;
  /** Runs that were stopped, by what they were about, as `notOver` finds the others; those that were written last. */
  stopped(query: StoppedQuery): Promise<readonly RunSummary[]>;
  /** How many begun runs an agent holds that are not over, counted up to `most`. */
  countHeld(agent: string, most: number): Promise<number>;
  /** How many runs there are of each status; those of which there are none may be absent. */
  countByStatus(): Promise<Readonly<Partial<Record<RunSummary['status'], number>>>>;
  /** The measures of the workspace that runs have which are not over. Seldom asked for: it goes over all of them. */
  treesInUse(): Promise<ReadonlySet<string>>;
}

/** A part of what is found. */
export interface FoundPage {
  readonly limit: number;
  /** Goes on behind the last one of the page before. */
  readonly after?: FoundAt | undefined;
}

/** Which runs may be claimed. */
export interface ClaimableQuery extends FoundPage {
  readonly capabilities: readonly string[];
  readonly without?: readonly WorkspaceHold[] | undefined;
}

/** Where a run was found, as its store knows it. */
export interface FoundAt {
  readonly key: string;
  readonly number: number;
}

/** A run that may be claimed. */
export interface ClaimableRun {
  readonly run: string;
  readonly epoch: number;
  readonly at: FoundAt;
}

/** A run in which nothing may have happened for long. */
export interface QuietRun {
  readonly run: string;
  readonly at: FoundAt;
  /** Time of the newest record of its chain. */
  readonly newest: string;
  /** The newest record that says that it is stuck, where one does. */
  readonly stuck: AuditRecord | null;
}

/** Which runs that were stopped. */
export interface StoppedQuery extends Required<Pick<NotOverQuery, 'targets' | 'beneath'>> {
  /** Written before that, an ISO time. */
  readonly before: string;
}

/** Which runs that are not over. */
export interface NotOverQuery {
  readonly workflow: string;
  /** About the same as one of these. */
  readonly targets?: readonly string[];
  /** About one of these folders or something in it, by the text of the path. */
  readonly beneath?: readonly string[];
  readonly limit?: number;
}
