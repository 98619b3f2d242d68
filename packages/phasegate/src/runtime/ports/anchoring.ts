import type { AuditReport } from '@phasegate/core/ports';
import type { Keeping, Serving } from './openProject.ts';

/** Where anchors are kept, outside of the state they speak of. */
export interface AnchorPlaces {
  /** A file that anchors are added to, one a line; absolute. */
  readonly file?: string;
  /** Whether they are added to a git note at the newest commit. */
  readonly gitNote?: boolean;
}

/** What came of making an anchor. */
export interface MadeAnchor {
  /** Has no anchor where something was found: nothing was given to any place then. */
  readonly report: AuditReport;
  /** Where it was given to, as it is shown. */
  readonly given: readonly string[];
  /** Places that did not take it, with the reason. */
  readonly failed: readonly string[];
}

/** The part of an open project that anchors are made of. */
export type Anchored = Pick<Keeping, 'verifyAudit'> & {
  readonly feed: Pick<Serving['feed'], 'newest'>;
  readonly server: Pick<Serving['server'], 'note' | 'isOnDuty' | 'giveUpDuty'>;
};

/** Makes anchors, gives them to places outside, and reads them from there. */
export interface Anchors {
  /** What the config says; null where it names no place. */
  configured(): Promise<{ readonly places: AnchorPlaces; readonly everyMs: number } | null>;
  /** Throws where one of the places cannot take an anchor. Makes nothing. */
  require(places: AnchorPlaces): Promise<void>;
  /** Verifies what is newer than the last anchor of the file, or everything, and gives a new one to the places. */
  make(project: Anchored, places: AnchorPlaces, archives?: readonly string[]): Promise<MadeAnchor>;
  /** The anchors of a file, or of `git-note` or `git-note:REF`. */
  read(place: string): Promise<readonly string[]>;
  /** Makes one now and again and again, where something happened since, until stopped. */
  keep(project: Anchored, log: (text: string) => void): Promise<{ stop(): Promise<void> }>;
}
