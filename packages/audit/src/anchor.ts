import { canonicalJson, type Json, own } from '@phasegate/core';
import type { ChainHead, Seal } from '@phasegate/core/ports';
import type { HeadSum } from './headSum.ts';
import { sumText } from './signedHead.ts';

/** Where all chains ended when they were verified. It is kept by a human, outside of the store it speaks of. */
export interface Anchor {
  readonly project: ChainHead;
  /** Over the newest heads of all runs. */
  readonly sum: HeadSum;
  readonly runs: number;
  /** The number of the newest record. */
  readonly place: number;
  readonly time: string;
}

/** An anchor as it is given to a human: its text and the project's signature. */
export function anchorText(seal: Seal, anchor: Anchor): string {
  const text = canonicalJson({
    purpose: PURPOSE,
    project_seq: anchor.project.seq,
    project_hash: anchor.project.hash,
    sum: sumText(anchor.sum.plain),
    weighted: sumText(anchor.sum.weighted),
    runs: anchor.runs,
    place: anchor.place,
    time: anchor.time,
  });
  return `${Buffer.from(text).toString('base64url')}.${seal.sign(text)}`;
}

/** The anchor a text stands for, or null where the project did not sign it. */
export function readAnchor(seal: Seal, given: string): Anchor | null {
  const [encoded = '', signature = ''] = given.trim().split('.');
  const text = Buffer.from(encoded, 'base64url').toString();
  if (!seal.verifySignature(text, signature)) return null;
  // Signed by us, so it has the shape we give it, unless it is a signature over something else.
  const told = JSON.parse(text) as Json;
  if (own(told, 'purpose') !== PURPOSE) return null;
  const [words, numbers] = [(key: string) => String(own(told, key)), (key: string) => Number(own(told, key))];
  return {
    project: { seq: numbers('project_seq'), hash: words('project_hash') },
    sum: { plain: BigInt(`0x${words('sum')}`), weighted: BigInt(`0x${words('weighted')}`) },
    runs: numbers('runs'),
    place: numbers('place'),
    time: words('time'),
  };
}

/** No other text the project signs has it. */
const PURPOSE = 'phasegate audit anchor';
