import type { AuditFinding, Seal } from '@phasegate/core/ports';
import type { Anchor } from './anchor.ts';
import {
  type AuditKnowledge,
  type AuditSource,
  emptyTally,
  type Share,
  type StoredHuman,
  type Tally,
  type Verification,
} from './auditSource.ts';
import { addSums, NO_HEADS } from './headSum.ts';
import { verifyRun } from './verifyRun.ts';

/** What the verification of a share is given. */
export interface ShareWork {
  readonly source: AuditSource;
  readonly seal: Seal;
  readonly knowledge: AuditKnowledge;
  readonly humans: readonly StoredHuman[];
  readonly since: Anchor | null;
  /** Called between records. */
  breathe(): Promise<void> | undefined;
}

/** What was found about the runs of a share. A thread hands it over, so it is nothing but data. */
export interface ShareFound {
  readonly tally: Omit<Tally, 'dropped'>;
  readonly findings: readonly AuditFinding[];
  /** Runs something was found about; more of them than findings where there are too many to tell. */
  readonly blamed: readonly string[];
}

/** Verifies the runs of a share, or all of them, without ever holding more than one. */
export async function verifyShare(work: ShareWork, share?: Share): Promise<ShareFound> {
  const { dropped: _, ...tally } = emptyTally();
  const findings: AuditFinding[] = [];
  const blamed = new Set<string>();
  const verification: Verification = {
    ...work,
    tally: { ...tally, dropped: new Set() },
    report(finding) {
      if (finding.run !== null) blamed.add(finding.run);
      if (findings.length < MOST_FINDINGS) findings.push(finding);
    },
    blamed: (run) => blamed.has(run),
  };
  for await (const row of work.source.rows(share)) await verifyRun(verification, row);
  const { dropped: none, ...counted } = verification.tally;
  return { tally: counted, findings, blamed: [...blamed] };
}

/** What was found about several shares, in their order, is what would have been found about all of it at once. */
export function joinShares(shares: readonly ShareFound[]): ShareFound {
  const of = (pick: (tally: ShareFound['tally']) => number) =>
    shares.reduce((total, { tally }) => total + pick(tally), 0);
  const sums = (pick: (tally: ShareFound['tally']) => Tally['sum']) =>
    shares.reduce((total, { tally }) => addSums(total, pick(tally)), NO_HEADS);
  return {
    tally: {
      runs: of(({ runs }) => runs),
      records: of(({ records }) => records),
      unanchored: of(({ unanchored }) => unanchored),
      overridden: of(({ overridden }) => overridden),
      headed: of(({ headed }) => headed),
      beforeRuns: of(({ beforeRuns }) => beforeRuns),
      byEnds: of(({ byEnds }) => byEnds),
      sum: sums(({ sum }) => sum),
      newest: sums(({ newest }) => newest),
      before: sums(({ before }) => before),
    },
    findings: shares.flatMap(({ findings }) => findings).slice(0, MOST_FINDINGS),
    blamed: shares.flatMap(({ blamed }) => blamed),
  };
}

/** A store that was rewritten whole should still be told about on a few screens. */
export const MOST_FINDINGS = 1000;
