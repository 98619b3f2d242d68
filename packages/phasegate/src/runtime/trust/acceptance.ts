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

/** No workflow can have such an id: a human accepted a guarded file by its path, or that it is gone. */
const GUARDED = 'guarded:';

/** The subject under which a guarded file is accepted. */
export function guardedSubject(path: string): string {
  return `${GUARDED}${path}`;
}

/** The newest acceptance that says something of a file, as part of a workflow or by itself. */
export async function lastWordOn(path: string, store: Pick<TrustStore, 'acceptances'>) {
  return (await store.acceptances()).find((record) => speaksOf(record, path));
}

function speaksOf({ workflow, files }: TrustRecord, path: string): boolean {
  return workflow === guardedSubject(path) || Object.hasOwn(files, path);
}

/** Whether nothing newer was accepted for any of the files, under whatever name. */
async function areLastWords(
  files: Readonly<Record<string, string>>,
  store: Pick<TrustStore, 'acceptances'>,
): Promise<boolean> {
  const all = await store.acceptances();
  return Object.entries(files).every(
    ([path, digest]) => all.find((record) => speaksOf(record, path))?.files[path] === digest,
  );
}

/**
 * Whether these very files are what a human accepted last, for their workflow and for each file. An older version that
 * was accepted once does not count: a human who accepts a stricter one, under this name or another, would find the
 * agent back at the looser.
 */
export async function isLastAccepted(
  closure: string,
  store: Pick<HumanStore, 'humans'> & Omit<TrustStore, 'putTrust'>,
): Promise<boolean> {
  const exact = await store.trusted(closure);
  const last = exact === undefined ? undefined : await store.trustedBefore(exact.workflow);
  if (last === undefined || last.hash !== closure) return false;
  return (await areLastWords(last.files, store)) && isAccepted(last, store);
}

/** Whether code may be run: all of it until a human is set up, from then on what a human accepted. */
export async function mayRun(
  code: AskedCode,
  store: Pick<HumanStore, 'humans'> & Omit<TrustStore, 'putTrust'>,
): Promise<boolean> {
  if ((await store.humans()).length === 0) return true;
  if (await isLastAccepted(closureHash(code.files), store)) return true;
  const last = await store.trustedBefore(code.workflow);
  if (last === undefined || !holds(last, code)) return false;
  return (await areLastWords(last.files, store)) && isAccepted(last, store);
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
