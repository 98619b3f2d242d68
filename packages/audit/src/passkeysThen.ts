import { own } from '@phasegate/core';
import type { HumanRecord } from '@phasegate/core/ports';
import type { StoredHuman, StoredRecord } from './auditSource.ts';

/** A human with the passkeys that were good at a time, as if it were now: one that was removed since is good for then. */
export function withPasskeysAt(human: HumanRecord, time: number, slack: number): HumanRecord {
  const { passkeys } = human;
  if (passkeys === undefined) return human;
  const then = passkeys.filter(
    ({ addedAt, removedAt }) =>
      Date.parse(addedAt) - slack <= time &&
      (removedAt === undefined || time <= Date.parse(removedAt) + slack),
  );
  return { ...human, passkeys: then.map(({ removedAt: _, ...passkey }) => passkey) };
}

/** A human with the passkeys of these ids, as if it were when they were good. */
export function withPasskeysOf(human: HumanRecord, ids: ReadonlySet<string>): HumanRecord {
  const { passkeys } = human;
  if (passkeys === undefined) return human;
  const then = passkeys.filter(({ id }) => ids.has(id));
  return { ...human, passkeys: then.map(({ removedAt: _, ...passkey }) => passkey) };
}

/** The passkeys that the project's chain knows, by human: each id with its key. */
export type NotedPasskeys = Map<string, Map<string, string>>;

/** Goes on by one record of the project's chain. */
export function notePasskeys(
  noted: NotedPasskeys,
  { event, data }: Pick<StoredRecord, 'event' | 'data'>,
): void {
  // Who is removed, or given a new key, has none of the old one's.
  if (event === 'human_removed') noted.delete(String(own(data, 'name') ?? own(data, 'human')));
  if (event !== 'passkey_added' && event !== 'passkey_removed') return;
  const [human, id] = [String(own(data, 'human')), String(own(data, 'passkey'))];
  const keys = noted.get(human) ?? new Map<string, string>();
  noted.set(human, keys);
  if (event === 'passkey_added') keys.set(id, String(own(data, 'publicKey')));
  else keys.delete(id);
}

/** What is wrong with the passkeys of humans, held against the project's chain. */
export function passkeyFaults(stored: readonly StoredHuman[], noted: NotedPasskeys): readonly string[] {
  return stored
    .filter(({ removed, sealed }) => sealed && !removed)
    .flatMap(({ human }) => faultsOf(human, noted));
}

function faultsOf({ name, passkeys = [] }: HumanRecord, noted: NotedPasskeys): readonly string[] {
  const known = noted.get(name) ?? new Map<string, string>();
  const good = passkeys.filter(({ removedAt }) => removedAt === undefined);
  const strange = good.filter(({ id, publicKey }) => known.get(id) !== publicKey);
  const gone = [...known.keys()].filter((id) => !good.some((passkey) => passkey.id === id));
  return [
    ...strange.map(
      ({ label }) => `passkey \`${label}\` of human \`${name}\` does not stand on the project's chain`,
    ),
    ...gone.map((id) => `a passkey of human \`${name}\` was added and is gone (\`${id.slice(0, 16)}\`)`),
  ];
}
