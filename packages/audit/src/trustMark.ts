import { hash } from 'node:crypto';
import { type AuditRecord, canonicalJson, PhasegateError } from '@phasegate/core';
import type { ChainHead, KeptRecord, Seal, TrustRecord } from '@phasegate/core/ports';
import type { StoredTrust } from './auditSource.ts';
import { tampered } from './sealedRecord.ts';
import { type NotedTrust, notedTrust } from './storedTrust.ts';
import { checkChain } from './verifyChain.ts';

/** A place on the project's chain, with how many acceptances it has up to there, and which, in their order. */
export interface TrustMark {
  readonly head: ChainHead;
  readonly count: number;
  readonly digest: string;
}

/** Before the first record. */
export const NO_TRUST: TrustMark = { head: { seq: 0, hash: '' }, count: 0, digest: '' };

/** Where a store keeps its mark, so that a new process need not read the chain from its first record. */
export const TRUST_MARK = { kind: 'trust_mark', key: 'project' } as const;

/** How many records a mark may be behind: so many are read anew by each process that starts a run. */
const MARK_EVERY = 128;

/** Follows the project's chain from a mark on, record by record. */
export interface TrustWalk {
  /** False where a record does not follow on the one before it, or was changed. */
  take(record: AuditRecord): boolean;
  mark(): TrustMark;
}

/** Starts to follow. INVARIANT: it proves something only where it ends at the signed head: a chain has no key. */
export function followTrust(seal: Seal, from: TrustMark): TrustWalk {
  const chain = checkChain(seal, null, from.head);
  let { count, digest } = from;
  return {
    take(record) {
      if (chain.take(record).length > 0) return false;
      const noted = notedTrust(record);
      if (noted === null) return true;
      [count, digest] = [count + 1, digestAfter(digest, noted)];
      return true;
    },
    mark: () => ({ head: chain.head(), count, digest }),
  };
}

/**
 * Acceptances as they are stored, oldest first, as what humans accepted, newest first. Throws `state_tampered` where
 * they are not those of the project's chain: an older one would be the newest again where its successor was taken away.
 */
export function requireNoted(stored: readonly StoredTrust[], mark: TrustMark | null): readonly TrustRecord[] {
  const found = stored.map(({ record }) => {
    if (record === null) throw tampered('a record of trust');
    return record;
  });
  const digest = found.reduce(digestAfter, '');
  if (found.length !== mark?.count || digest !== mark.digest) throw otherwise();
  return found.reverse();
}

/**
 * The marks from which a chain with this end may be followed, the one that leaves least to read first. After a backup was
 * put back a mark may be of records that never were: then another one leads there, or the first record does.
 */
export function marksBefore(end: ChainHead, marks: readonly TrustMark[]): readonly TrustMark[] {
  const near = marks.filter(({ head }) => head.seq > 0 && head.seq <= end.seq);
  return [...near.toSorted((one, other) => other.head.seq - one.head.seq), NO_TRUST];
}

/** Whether a mark was left so far behind that the one at the end is worth being kept. */
export function isFarBehind(mark: TrustMark, end: ChainHead): boolean {
  return Math.abs(end.seq - mark.head.seq) >= MARK_EVERY;
}

/** A mark as it is kept. */
export function keptMark({ head, count, digest }: TrustMark): KeptRecord {
  return { ...TRUST_MARK, data: { seq: head.seq, hash: head.hash, count, digest } };
}

/**
 * A mark from what was kept; that of nothing where there is none under its seal. An older one is as good: more is read
 * from it on.
 */
export function markFrom(kept: KeptRecord | null): TrustMark {
  if (kept === null) return NO_TRUST;
  const { seq, hash: end, count, digest } = kept.data;
  const head = { seq: Number(seq), hash: String(end) };
  return { head, count: Number(count), digest: String(digest) };
}

function digestAfter(before: string, one: Omit<NotedTrust, 'seq'>): string {
  return hash('sha256', canonicalJson([before, one.workflow, one.hash, one.signature]), 'hex');
}

function otherwise(): PhasegateError {
  const what = 'the acceptances of this project are not those on its chain: they were changed from outside';
  return new PhasegateError('state_tampered', what, {
    hint: '`phasegate audit verify` says more; put a backup back with `phasegate restore FILE`',
  });
}
