import { canonicalJson } from '@phasegate/core';
import type { ChainHead, Seal } from '@phasegate/core/ports';
import { type HeadSum, NO_HEADS } from './headSum.ts';

/** The head over all chains: where the project's chain ends, and the sum over the heads of the runs. */
export interface SignedHead {
  readonly project: ChainHead;
  readonly sum: HeadSum;
  /** How many runs the sum is over. */
  readonly runs: number;
  readonly time: string;
  readonly signature: string;
}

/** A head before it is signed. */
export type UnsignedHead = Omit<SignedHead, 'signature'>;

/** The head of a project in which nothing has happened. */
export const FIRST_HEAD: UnsignedHead = {
  project: { seq: 0, hash: '' },
  sum: NO_HEADS,
  runs: 0,
  time: '',
};

/** Signs a head. */
export function signHead(seal: Seal, head: UnsignedHead): SignedHead {
  return { ...head, signature: seal.sign(headText(head)) };
}

/** Whether the signature of a head is the project's. */
export function headIsGenuine(seal: Seal, head: SignedHead): boolean {
  return seal.verifySignature(headText(head), head.signature);
}

/** A sum as it is stored. */
export function sumText(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** The sum a stored text stands for. One that was edited into something else fits no signature, as zero does not. */
export function sumFrom(stored: string): bigint {
  return /^[0-9a-f]{64}$/.test(stored) ? BigInt(`0x${stored}`) : 0n;
}

function headText({ project, sum, runs, time }: UnsignedHead): string {
  return canonicalJson({
    purpose: 'phasegate audit head',
    project_seq: project.seq,
    project_hash: project.hash,
    sum: sumText(sum.plain),
    weighted: sumText(sum.weighted),
    runs,
    time,
  });
}
