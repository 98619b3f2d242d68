import { hash } from 'node:crypto';
import { canonicalJson } from '@phasegate/core';
import { trustText } from '@phasegate/core/contract';
import { verifyHumanSignature } from '../humanKeys.ts';
import type { AskedCode, HumanStore, TrustRecord, TrustStore } from '../ports.ts';

/** SHA-256 over all files of a workflow (path → SHA-256): what a human accepts. */
export function closureHash(files: Readonly<Record<string, string>>): string {
  return hash('sha256', canonicalJson(files), 'hex');
}

/** Whether a record of trust carries the signature of a human of the project. */
export async function isAccepted(trust: TrustRecord, store: Pick<HumanStore, 'humans'>): Promise<boolean> {
  const human = (await store.humans()).find((record) => record.name === trust.by);
  return human !== undefined && verifyHumanSignature(human.publicKey, trustText(trust), trust.signature);
}

/**
 * Whether these very files are what a human accepted last for their workflow. An older version that was accepted once
 * does not count: a human who accepts a stricter one would find the agent back at the looser.
 */
export async function isLastAccepted(
  closure: string,
  store: Pick<HumanStore, 'humans'> & Omit<TrustStore, 'putTrust'>,
): Promise<boolean> {
  const exact = await store.trusted(closure);
  const last = exact === undefined ? undefined : await store.trustedBefore(exact.workflow);
  return last !== undefined && last.hash === closure && isAccepted(last, store);
}

/** Whether code may be run: all of it until a human is set up, from then on what a human accepted. */
export async function mayRun(
  code: AskedCode,
  store: Pick<HumanStore, 'humans'> & Omit<TrustStore, 'putTrust'>,
): Promise<boolean> {
  if ((await store.humans()).length === 0) return true;
  if (await isLastAccepted(closureHash(code.files), store)) return true;
  const last = await store.trustedBefore(code.workflow);
  return last !== undefined && holds(last, code) && isAccepted(last, store);
}

/**
 * Whether a human accepted this very code together with migrations. Which those are only the code says, so they are not
 * known before it is run.
 */
function holds({ hash: accepted, files }: TrustRecord, code: AskedCode): boolean {
  const others = Object.keys(files).filter((path) => files[path] !== code.files[path]);
  return (
    accepted === closureHash(files) &&
    others.every((path) => path.endsWith('.sql') && !Object.hasOwn(code.files, path)) &&
    Object.keys(code.files).every((path) => Object.hasOwn(files, path))
  );
}
