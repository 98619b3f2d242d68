import { hash } from 'node:crypto';
import { canonicalJson } from '@phasegate/core';
import { verifyHumanSignature } from './humanKeys.ts';
import type { Store, TrustRecord } from './ports.ts';

/** SHA-256 over all files of a workflow (path → SHA-256): what a human accepts. */
export function closureHash(files: Readonly<Record<string, string>>): string {
  return hash('sha256', canonicalJson(files), 'hex');
}

/** What a human signs when accepting a workflow. */
export function trustText({
  hash: closure,
  workflow,
  by,
  at,
}: Omit<TrustRecord, 'files' | 'signature'>): string {
  return canonicalJson({ trust: closure, workflow, by, at });
}

/** Whether a record of trust carries the signature of a human of the project. */
export async function isAccepted(trust: TrustRecord, store: Pick<Store, 'humans'>): Promise<boolean> {
  const human = (await store.humans()).find((record) => record.name === trust.by);
  return human !== undefined && verifyHumanSignature(human.publicKey, trustText(trust), trust.signature);
}

/** Whether files may be run or started: every file until a human is set up, from then on what a human accepted. */
export async function mayRun(closure: string, store: Pick<Store, 'humans' | 'trusted'>): Promise<boolean> {
  if ((await store.humans()).length === 0) return true;
  const trust = await store.trusted(closure);
  return trust !== undefined && isAccepted(trust, store);
}
