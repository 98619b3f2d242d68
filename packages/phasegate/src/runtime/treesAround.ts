import type { Run } from '@phasegate/core';
import type { Fence, Receipt } from './ports.ts';

/** What the workspace held before a program ran; the answer takes what it holds after, for the receipt. */
export async function treesAround(
  measuring: Pick<Fence, 'state'> | undefined,
  { id, work: { tree } }: Run,
): Promise<() => Promise<Trees>> {
  const state = async () => (tree === undefined ? null : ((await measuring?.state(id, tree)) ?? null));
  const before = await state();
  if (before === null) return () => Promise.resolve({ tree: null });
  return async () => ({ tree: await state(), tree_before: before });
}

/** The workspace in a receipt. */
export type Trees = Pick<Receipt, 'tree' | 'tree_before'>;

/** Of a call that runs no program: what it touches it names. */
export const NO_TREES = (): Promise<Trees> => Promise.resolve({ tree: null });
