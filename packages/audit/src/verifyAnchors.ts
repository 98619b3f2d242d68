import type { ChainHead } from '@phasegate/core/ports';
import type { Anchor } from './anchor.ts';
import type { PlacedHead, Verification } from './auditSource.ts';
import { isExplainedBy } from './explainedBy.ts';
import { type HeadSum, moveHead, NO_HEADS, sameSum } from './headSum.ts';
import type { ArchivedChain } from './verifyArchives.ts';
import { headInvalid } from './verifyHead.ts';

/**
 * Checks that all chains go through every one of these anchors, in one reading of where records stand. One alone would
 * not do: anyone who rewrote the store with its own keys can have the newest anchor made of what they wrote. Tells which
 * could not be checked, as a run was under way at them whose archive is not there.
 */
export async function verifyAnchors(
  verification: Verification,
  anchors: readonly Anchor[],
  archived: readonly ArchivedChain[] = [],
): Promise<readonly Anchor[]> {
  const { source } = verification;
  if (anchors.length === 0) return [];
  const sorted = [...anchors].sort((one, other) => one.place - other.place);
  const walked = createWalk(verification);
  const moves = movesOf(archived);
  const unclear: Anchor[] = [];
  let [next, moved] = [0, 0];
  const settle = async (anchor: Anchor) => {
    for (let move = moves[moved]; move !== undefined && move.place <= anchor.place; move = moves[moved]) {
      walked.takeArchived(move);
      moved += 1;
      const pause = verification.breathe();
      if (pause !== undefined) await pause;
    }
    if (!walked.compare(anchor)) unclear.push(anchor);
  };
  for await (const head of source.places?.heads() ?? []) {
    while (next < sorted.length && head.place > (sorted[next] as Anchor).place)
      await settle(sorted[next++] as Anchor);
    // What came after the newest of them is for no anchor to say.
    if (next === sorted.length) return unclear;
    walked.take(head);
    const pause = verification.breathe();
    if (pause !== undefined) await pause;
  }
  const newest = (await source.places?.newest()) ?? 0;
  for (const anchor of sorted.slice(next)) {
    if (newest < anchor.place)
      verification.report(headInvalid(anchor.project.seq, endsBefore(anchor, newest)));
    else await settle(anchor);
  }
  return unclear;
}

function endsBefore({ place, time }: Anchor, newest: number): string {
  return `the anchor of ${time} was made at record ${place}, and the audit ends at ${newest}: newer records were cut off, or an older database was put back`;
}

/** Where the chain of an archived run ends from a place on; null while nothing here knows it. */
interface Move {
  readonly place: number;
  readonly run: string;
  readonly head: ChainHead | null;
}

function movesOf(archived: readonly ArchivedChain[]): readonly Move[] {
  const moves = archived.flatMap(({ run, first, last, head, heads }): readonly Move[] => [
    ...(heads === null
      ? [{ place: first, run, head: null }]
      : heads.map((one) => ({ ...one, run, head: one }))),
    { place: last, run, head },
  ]);
  // The order within one run stays.
  return moves.sort((one, other) => one.place - other.place);
}

function createWalk(verification: Verification) {
  const { seal } = verification;
  const stored = new Map<string, ChainHead>();
  // Apart from the others: a run may be archived and there again, which is found otherwise.
  const archived = new Map<string, ChainHead>();
  const unknown = new Set<string>();
  const moved = new Map<string, ChainHead>();
  let project: ChainHead = { seq: 0, hash: '' };
  let sum: HeadSum = NO_HEADS;

  function move(heads: Map<string, ChainHead>, runId: string, to: ChainHead): void {
    sum = moveHead(sum, seal, { runId, from: heads.get(runId) ?? { seq: 0, hash: '' }, to });
    heads.set(runId, to);
  }

  function goesThrough(anchor: Anchor): boolean {
    const { seq, hash } = anchor.project;
    if (project.seq !== seq || project.hash !== hash) return false;
    if (stored.size + archived.size + unknown.size !== anchor.runs) return false;
    if (unknown.size > 1) return true;
    const [run] = unknown;
    return run === undefined ? sameSum(sum, anchor.sum) : isExplainedBy(seal, run, [anchor.sum, sum]);
  }

  return {
    take({ run, seq, hash }: PlacedHead): void {
      if (run === null) project = { seq, hash };
      else moved.set(run, { seq, hash });
    },
    takeArchived({ run, head }: Move): void {
      if (head === null) {
        unknown.add(run);
        return;
      }
      unknown.delete(run);
      move(archived, run, head);
    },
    /** False where the anchor is neither proven nor disproven. */
    compare(anchor: Anchor): boolean {
      for (const [runId, to] of moved) move(stored, runId, to);
      moved.clear();
      if (goesThrough(anchor)) return unknown.size === 0;
      const message = `the chains do not go through the anchor of ${anchor.time}: what was recorded until then was rewritten, dropped or put back`;
      verification.report(headInvalid(anchor.project.seq, message));
      return true;
    },
  };
}
