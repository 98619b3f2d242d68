import type { GateCard } from '@phasegate/wire';

/** Which parts of a card are not as they were. */
export function changedSections(seen: GateCard['card'], now: GateCard['card']): readonly string[] {
  const keys = [...new Set([...Object.keys(seen), ...Object.keys(now)])];
  return keys
    .filter((key) => JSON.stringify(seen[key]) !== JSON.stringify(now[key]))
    .map((key) => key.replaceAll('_', ' '));
}
