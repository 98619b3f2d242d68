import { own } from '@phasegate/core';
import type { HumanRecord } from '@phasegate/core/ports';
import type { AuditSource, StoredRecord, Verification } from './auditSource.ts';
import { type NotedPasskeys, notePasskeys, withPasskeysOf } from './passkeysThen.ts';

/**
 * The humans of that name whose key was on the project's chain at a place, by the numbers records have over all chains;
 * null where the chain does not tell that human's key.
 */
export async function humansBefore(
  verification: Verification,
  name: string,
  place: number,
): Promise<readonly HumanRecord[] | null> {
  const told = (await toldOf(verification))?.get(name);
  if (told === undefined) return null;
  let isTold = false;
  let there: string | undefined;
  const passkeys: NotedPasskeys = new Map();
  for (const record of told) {
    const { event, data, place: at } = record;
    const key = own(data, 'name') === name ? own(data, 'publicKey') : undefined;
    isTold ||= event === 'human_added' && typeof key === 'string';
    // In the order of the chain: places are nothing that its hashes cover.
    if (at > place) continue;
    notePasskeys(passkeys, record);
    if (event === 'human_added' && typeof key === 'string') there = key;
    if (event === 'human_removed' && own(data, 'name') === name) there = undefined;
  }
  if (!isTold) return null;
  return verification.humans
    .filter(({ sealed, human }) => sealed && human.name === name && human.publicKey === there)
    .map(({ human }) => withPasskeysOf(human, new Set(passkeys.get(name)?.keys())));
}

/** What the project's chain tells of each human; null where its records have no places. */
type Told = ReadonlyMap<string, readonly ToldRecord[]> | null;

type ToldRecord = Pick<StoredRecord, 'event' | 'data'> & { readonly place: number };

/**
 * INVARIANT: the project's chain is read once for it, however many decisions ask: one human who was removed has signed
 * any number of them.
 */
async function toldOf(verification: Verification): Promise<Told> {
  const { source } = verification;
  const known = read.get(source);
  if (known !== undefined) return known;
  const reading = readTold(verification);
  read.set(source, reading);
  // What could not be read once may be read the next time.
  reading.catch(() => read.delete(source));
  return reading;
}

/** A source is one unchanging view. */
const read = new WeakMap<AuditSource, Promise<Told>>();

async function readTold({ source, breathe }: Verification): Promise<Told> {
  const told = new Map<string, ToldRecord[]>();
  for await (const record of source.records(null)) {
    const { event, place } = record;
    if (place === undefined) return null;
    if (ABOUT_HUMANS.has(event)) {
      const { data } = record;
      for (const name of new Set([own(data, 'name'), own(data, 'human')])) {
        if (typeof name !== 'string') continue;
        const records = told.get(name);
        if (records === undefined) told.set(name, [{ event, data, place }]);
        else records.push({ event, data, place });
      }
    }
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  return told;
}

const ABOUT_HUMANS: ReadonlySet<string> = new Set([
  'human_added',
  'human_removed',
  'passkey_added',
  'passkey_removed',
]);
