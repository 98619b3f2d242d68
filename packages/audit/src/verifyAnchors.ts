import type { ChainHead } from '@phasegate/core/ports';
import type { Anchor } from './anchor.ts';
import type { StoredStub } from './archivedStub.ts';
import type { PlacedHead, Verification } from './auditSource.ts';
import { addSums, type HeadSum, moveHead, NO_HEADS, sameSum, sumOfHead } from './headSum.ts';
import { headInvalid } from './verifyHead.ts';

/**
 * Checks that all chains go through every one of these anchors, in one reading of where records stand. One alone would
 * not do: anyone who rewrote the store with its own keys can have the newest anchor made of what they wrote.
 */
export async function verifyAnchors(
  verification: Verification,
  anchors: readonly Anchor[],
): Promise<readonly Anchor[]> {
  const { source } = verification;
  if (anchors.length === 0) return [];
  const sorted = [...anchors].sort((one, other) => one.place - other.place);
  const walked = createWalk(verification);
  const stubs: StoredStub[] = [];
  for await (const stub of source.archived?.() ?? []) stubs.push(stub);
  const unclear: Anchor[] = [];
  let next = 0;
  const settle = (anchor: Anchor) => {
    if (stubs.some(({ first, last }) => first <= anchor.place && anchor.place < last)) unclear.push(anchor);
    else walked.compare(anchor, stubs);
  };
  for await (const head of source.places?.heads() ?? []) {
    while (next < sorted.length && head.place > (sorted[next] as Anchor).place)
      settle(sorted[next++] as Anchor);
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
    else settle(anchor);
  }
  return unclear;
}

function endsBefore({ place, time }: Anchor, newest: number): string {
  return `the anchor of ${time} was made at record ${place}, and the audit ends at ${newest}: newer records were cut off, or an older database was put back`;
}

function createWalk(verification: Verification) {
  const { seal } = verification;
  const heads = new Map<string, ChainHead>();
  const moved = new Map<string, ChainHead>();
  let project: ChainHead = { seq: 0, hash: '' };
  let sum: HeadSum = NO_HEADS;
  return {
    take({ run, seq, hash }: PlacedHead): void {
      if (run === null) project = { seq, hash };
      else moved.set(run, { seq, hash });
    },
    compare(anchor: Anchor, stubs: readonly StoredStub[]): void {
      for (const [runId, to] of moved) {
        sum = moveHead(sum, seal, { runId, from: heads.get(runId) ?? { seq: 0, hash: '' }, to });
        heads.set(runId, to);
      }
      moved.clear();
      const gone = stubs.filter(({ last }) => last <= anchor.place);
      const all = gone.reduce((total, { run, head }) => addSums(total, sumOfHead(seal, run, head)), sum);
      const { seq, hash } = anchor.project;
      const isSame =
        project.seq === seq &&
        project.hash === hash &&
        sameSum(all, anchor.sum) &&
        heads.size + gone.length === anchor.runs;
      if (isSame) return;
      const message = `the chains do not go through the anchor of ${anchor.time}: what was recorded until then was rewritten, dropped or put back`;
      verification.report(headInvalid(seq, message));
    },
  };
}
