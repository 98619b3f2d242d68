import type { WorkedAt } from '@phasegate/core/engine';

/** What a body says of where its work was begun, for the command it becomes; nothing where it says nothing. */
export function begunAt(said: { readonly epoch: number; readonly visit?: number | undefined } | undefined): {
  readonly at?: WorkedAt;
} {
  if (said === undefined) return {};
  const { epoch, visit } = said;
  return { at: { epoch, ...(visit === undefined ? {} : { visit }) } };
}
