import { oneLine } from '@phasegate/core/model';
import type { StoredTrust } from './auditSource.ts';
import type { NotedTrust } from './storedTrust.ts';

/** What is wrong with the stored acceptances, oldest first, held against those of the project's chain. */
export function trustFaults(stored: readonly StoredTrust[], noted: readonly NotedTrust[]): readonly string[] {
  const open = [...noted];
  /** Whether the chain has one that no other row stands for. */
  const stands = (is: (one: NotedTrust) => boolean): boolean => {
    const place = open.findIndex(is);
    if (place >= 0) open.splice(place, 1);
    return place >= 0;
  };

  const strange = stored.filter(({ record }) => record !== null && !stands((one) => isSame(one, record)));
  const unsealed = stored.filter(({ record }) => record === null);
  // Its record on the chain is not gone as well: one cause should not be told twice.
  for (const { trust } of unsealed) {
    stands(({ workflow, hash }) => workflow === trust.workflow || hash === trust.hash);
  }
  const faults = [
    ...unsealed.map(({ trust }) => `${nameOf(trust)} does not match its seal`),
    ...strange.map(({ trust }) => `${nameOf(trust)} does not stand on the project's chain`),
    ...open.map((one) => `${nameOf(one)} was given (record ${one.seq} of the project) and is gone`),
  ];
  if (faults.length > 0) return faults;
  const at = noted.findIndex((one, place) => !isSame(one, stored[place]?.record ?? null));
  const [missed, found, next] = [noted[at], stored[at], stored[at + 1]];
  if (missed === undefined || found === undefined) return [];
  // One that was put before its time has the one that was due behind it.
  const moved = isSame(missed, next?.record ?? null) ? found.trust : missed;
  return [`${nameOf(moved)} does not stand where it is on the project's chain`];
}

function isSame(one: NotedTrust, record: StoredTrust['record']): boolean {
  return one.workflow === record?.workflow && one.hash === record.hash && one.signature === record.signature;
}

function nameOf({ workflow }: Pick<NotedTrust, 'workflow'>): string {
  return `an acceptance of \`${oneLine(workflow)}\``;
}
