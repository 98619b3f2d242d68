import { timingSafeEqual } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import type { Seal } from '@phasegate/core/ports';

/** What is sealed by `recordMac`; its name keeps a seal of one kind from passing for one of another. */
export type SealedKind = 'human' | 'trust' | 'run' | 'lease' | 'agent' | 'webhook' | 'archived' | 'kept';

/**
 * The MAC of a list of fields. Without it a row put into the database would make its author a human. Throws where one holds
 * half of a character: a store keeps another in its place, and what is stored would never match its seal again.
 */
export function recordMac(seal: Seal, kind: SealedKind, fields: readonly (string | number | null)[]): string {
  const unfit = fields.find((field) => typeof field === 'string' && !field.isWellFormed());
  if (unfit !== undefined) throw new TypeError(`a field of a ${kind} is not valid Unicode`);
  // No run id starts with a NUL, so no run's seal can pass for one of these.
  return seal.mac({ runId: `\0${kind}`, version: 0, seq: 0, hash: '', state: JSON.stringify(fields) });
}

/** Compares two MACs in a time that tells nothing about where they differ. */
export function sameMac(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The fault of a row that does not match its seal. */
export function tampered(what: string): PhasegateError {
  return new PhasegateError(
    'state_tampered',
    `${what} does not match its seal: it was changed from outside`,
    {
      hint: 'run `phasegate audit verify` to see what was changed, and `phasegate restore` to go back to a backup',
    },
  );
}
