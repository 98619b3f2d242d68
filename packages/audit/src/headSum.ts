import type { ChainHead, Seal } from '@phasegate/core/ports';

/**
 * Two sums over the heads of all run chains: one of their fingerprints, one of fingerprints times a weight
 * of the run. The first shows that some head is not the signed one; together they name the run, if it is one.
 */
export interface HeadSum {
  readonly plain: bigint;
  readonly weighted: bigint;
}

/** The sum over no heads. */
export const NO_HEADS: HeadSum = { plain: 0n, weighted: 0n };

/** The sum after a run's head moved. A head at seq 0 is one that was never added. */
export function moveHead(
  sum: HeadSum,
  seal: Seal,
  move: { readonly runId: string; readonly from: ChainHead; readonly to: ChainHead },
): HeadSum {
  const step = headValue(seal, move.runId, move.to) - headValue(seal, move.runId, move.from);
  return {
    plain: modulo(sum.plain + step),
    weighted: modulo(sum.weighted + step * headWeight(seal, move.runId)),
  };
}

/** The weight of a run in the second sum. */
export function headWeight(seal: Seal, runId: string): bigint {
  return modulo(seal.fingerprint(runId, { seq: 0, hash: '' }));
}

/**
 * The weight of the one run whose head alone explains the difference between two sums; null when they are
 * equal or no single run can explain it.
 */
export function weightOfDifference(signed: HeadSum, found: HeadSum): bigint | null {
  const plain = modulo(signed.plain - found.plain);
  if (plain === 0n) return null;
  return modulo(modulo(signed.weighted - found.weighted) * inverse(plain));
}

/** The sum over one head. */
export function sumOfHead(seal: Seal, runId: string, head: ChainHead): HeadSum {
  return moveHead(NO_HEADS, seal, { runId, from: { seq: 0, hash: '' }, to: head });
}

/** The sum over the heads of both. */
export function addSums(one: HeadSum, other: HeadSum): HeadSum {
  return { plain: modulo(one.plain + other.plain), weighted: modulo(one.weighted + other.weighted) };
}

/** Whether two sums are the same. */
export function sameSum(one: HeadSum, other: HeadSum): boolean {
  return one.plain === other.plain && one.weighted === other.weighted;
}

/** The largest prime below 2^256: a field is needed to divide one sum by the other. */
const PRIME = 2n ** 256n - 189n;

function headValue(seal: Seal, runId: string, head: ChainHead): bigint {
  return head.seq === 0 ? 0n : modulo(seal.fingerprint(runId, head));
}

function modulo(value: bigint): bigint {
  const rest = value % PRIME;
  return rest < 0n ? rest + PRIME : rest;
}

/** The inverse by Euclid's extended algorithm. */
function inverse(value: bigint): bigint {
  let [rest, nextRest] = [PRIME, value];
  let [factor, nextFactor] = [0n, 1n];
  while (nextRest !== 0n) {
    const quotient = rest / nextRest;
    [rest, nextRest] = [nextRest, rest - quotient * nextRest];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return modulo(factor);
}
