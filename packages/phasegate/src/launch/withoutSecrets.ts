import { isOwnVariable } from '@phasegate/core/contract';

/** Our own environment without anything of Phasegate's: no operator's secret reaches an agent or a terminal. */
export function withoutSecrets(
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(own).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isOwnVariable(entry[0]),
    ),
  );
}
