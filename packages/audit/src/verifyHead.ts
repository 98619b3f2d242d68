import type { AuditFinding, ChainHead } from '@phasegate/core/ports';
import type { Anchor } from './anchor.ts';
import type { Verification } from './auditSource.ts';
import { isExplainedBy } from './explainedBy.ts';
import { type HeadSum, headWeight, sameSum, weightOfDifference } from './headSum.ts';
import { headIsGenuine, type SignedHead } from './signedHead.ts';
import { edited, rolledBack, tailCut } from './verifyChain.ts';

/** Checks the signed head against the project's chain and the heads of all runs. */
export async function verifyHead(verification: Verification, project: ChainHead): Promise<void> {
  const { source, seal, tally } = verification;
  const head = await source.head();
  if (head === null) return;
  if (head === undefined) {
    const empty = project.seq === 0 && tally.runs === 0 && tally.dropped.size === 0;
    if (!empty) verification.report(headInvalid(null, 'the signed head is missing'));
    return;
  }
  if (!headIsGenuine(seal, head)) {
    verification.report(headInvalid(null, "the signed head does not have the project's signature"));
    return;
  }
  compareProject(verification, head.project, project);
  await compareSum(verification, head);
}

/**
 * Checks that the heads an anchor was signed over are still on the chains. Those of the `unknown` runs are nowhere to be
 * read: of one alone, the two sums tell whether it is all that differs; of more, nothing but their number is checked.
 */
export async function verifyAnchor(
  verification: Verification,
  anchor: Anchor,
  { project, unknown }: { readonly project: ChainHead; readonly unknown: readonly string[] },
): Promise<void> {
  const { seq, hash } = anchor.project;
  if (project.seq !== seq || project.hash !== hash) {
    verification.report(
      headInvalid(seq, `the project's chain does not have the record ${seq} of the anchor`),
    );
  }
  const { before, beforeRuns } = verification.tally;
  const [one] = unknown;
  if (anchor.runs === beforeRuns + unknown.length) {
    if (unknown.length > 1) return;
    const sums = [anchor.sum, before] as const;
    if (one === undefined ? sameSum(...sums) : isExplainedBy(verification.seal, one, sums)) return;
  }
  const run = await runOfDifference(verification, anchor.sum, before);
  if (run === null) {
    const message = 'the runs are not those of the anchor: more than one was put back, dropped or rewritten';
    verification.report(headInvalid(null, message));
  } else if (!verification.blamed(run)) {
    const end = (await verification.source.seqOf(run)) ?? 0;
    verification.report(rolledBack(run, end, 'does not have the records it had at the anchor'));
  }
}

function compareProject(verification: Verification, signed: ChainHead, found: ChainHead): void {
  if (found.seq < signed.seq) verification.report(tailCut(null, found.seq + 1, signed.seq));
  else if (found.seq > signed.seq) {
    const message = `the project's chain goes on after record ${signed.seq}, where the signed head ends`;
    verification.report(headInvalid(signed.seq + 1, message));
  } else if (found.hash !== signed.hash) {
    verification.report(edited(null, signed.seq, 'is not the record the head was signed over'));
  }
}

async function compareSum(verification: Verification, head: SignedHead): Promise<void> {
  const { tally } = verification;
  if (sameSum(head.sum, tally.sum) && head.runs === tally.headed) return;
  const run = await runOfDifference(verification, head.sum, tally.sum);
  if (run === null) {
    const message = 'the runs are not those the head was signed over: more than one was put back or dropped';
    verification.report(headInvalid(null, message));
    return;
  }
  if (verification.blamed(run)) return;
  const { source } = verification;
  const seq = (await source.seqOf(run)) ?? (await source.stubOf?.(run))?.head.seq ?? 0;
  verification.report(
    rolledBack(run, seq, `is not at the head it was signed with; it ends at record ${seq}`),
  );
}

/** A second look at all runs, taken only when a head is known to be wrong. */
async function runOfDifference(
  { source, seal, tally }: Verification,
  signed: HeadSum,
  found: HeadSum,
): Promise<string | null> {
  const weight = weightOfDifference(signed, found);
  if (weight === null) return null;
  for (const run of tally.dropped) if (headWeight(seal, run) === weight) return run;
  for await (const { run } of source.archived?.() ?? []) if (headWeight(seal, run) === weight) return run;
  for await (const row of source.rows()) if (headWeight(seal, row.id) === weight) return row.id;
  return null;
}

/** The finding about a head or an anchor. */
export function headInvalid(seq: number | null, message: string): AuditFinding {
  return { kind: 'head_invalid', run: null, seq, message };
}
