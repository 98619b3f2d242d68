import type { ChainHead, Seal } from '@phasegate/core/ports';
import { recordMac } from './sealedRecord.ts';

/** What stays of an archived run. */
export interface ArchivedStub {
  readonly run: string;
  /** Of its chain when it was archived; part of the signed sum. */
  readonly head: ChainHead;
  /** The places of the first and the last record of its chain among all. */
  readonly first: number;
  readonly last: number;
  readonly file: string;
  /** Of the whole file. */
  readonly sha256: string;
  readonly archivedAt: string;
}

/** A stub as it is stored. */
export interface StoredStub extends ArchivedStub {
  /** Whether it matches its seal. */
  readonly sealed: boolean;
}

/** The MAC of a stub. */
export function stubMac(seal: Seal, stub: ArchivedStub): string {
  const { run, head, first, last, file, sha256, archivedAt } = stub;
  return recordMac(seal, 'archived', [run, head.seq, head.hash, first, last, file, sha256, archivedAt]);
}
