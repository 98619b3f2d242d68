import { hash } from 'node:crypto';
import type { ChainHead, Seal } from '@phasegate/core/ports';
import { recordMac, sameMac } from './sealedRecord.ts';

/** What the seal of a run's row covers. */
export interface RunSeal {
  readonly runId: string;
  readonly version: number;
  readonly head: ChainHead;
  /** Of the state's text. */
  readonly digest: string;
}

/** SHA-256 of a state's text. */
export function digestOf(state: string): string {
  return hash('sha256', state);
}

/**
 * The seal of a run's row. It is over the digest of the state rather than the state: a note on a run moves its head
 * and not its state, which may be large, and would otherwise be read through for every tool call.
 */
export function sealRun(seal: Seal, { runId, version, head, digest }: RunSeal): string {
  return SECOND + recordMac(seal, 'run', [runId, version, head.seq, head.hash, digest]);
}

/** Whether a row has the seal it should have. */
export function runSealHolds(seal: Seal, mac: string, row: Omit<RunSeal, 'digest'> & StateText): boolean {
  const { runId, version, head, state } = row;
  if (mac.startsWith(SECOND)) return sameMac(mac, sealRun(seal, { ...row, digest: digestOf(state) }));
  // Rows last written before format 5 are sealed over the state itself.
  return sameMac(mac, seal.mac({ runId, version, ...head, state }));
}

interface StateText {
  readonly state: string;
}

const SECOND = '2:';

/** What the seal of a stored run covers: its state, its workflow, and the digest over all that was ever added to it. */
export interface StoredSeal extends RunSeal {
  readonly workflowHash: string;
  readonly steps: string;
}

/** The seal of a run whose completions and decisions stand in rows of their own. */
export function sealStored(seal: Seal, row: StoredSeal): string {
  const { runId, workflowHash, version, head, digest, steps } = row;
  return recordMac(seal, 'run', [runId, workflowHash, version, head.seq, head.hash, digest, steps]);
}
