import { hash } from 'node:crypto';
import { type Json, PhasegateError, type Run } from '@phasegate/core';
import { CHANGED_ITEMS, ITEMS } from './itemSteps.ts';

/** All of a run but what its row says already, its workflow, and what is only ever added to it. */
export function stateOf(run: Run): Json {
  const { id: _, workflow: __, workflowHash: ___, completions: ____, decisions: _____, ...state } = run;
  return state as unknown as Json;
}

const originals = new WeakMap<object, WeakRef<object>>();

/** The one is the other with something of it read when it is asked for: nothing need be read to know that they are the same. */
export function standsFor(one: object, original: object): void {
  originals.set(one, new WeakRef(original));
}

function isSame(one: object, other: object): boolean {
  return one === other || (originals.get(one)?.deref() ?? one) === (originals.get(other)?.deref() ?? other);
}

/** What was added to a list. Throws `internal` when it is not the list from before and more. */
export function addedTo<T extends object>(
  before: readonly T[],
  after: readonly T[],
  what: string,
): readonly T[] {
  if (before === after) return [];
  const same =
    after.length >= before.length &&
    before.every(
      (one, index) => isSame(one, after[index] as T) || JSON.stringify(one) === JSON.stringify(after[index]),
    );
  if (!same) throw new PhasegateError('internal', `${what} of a run are only ever added to`);
  return after.slice(before.length);
}

/**
 * The digest over a run's steps after one more of them. Items have one of their own behind it, which begins anew where all
 * of them are written: nothing before that is needed any more to know that they are what they were.
 */
export function nextDigest(digest: string, step: { readonly kind: number; readonly text: string }): string {
  const after = (before: string) => hash('sha256', `${before}${step.kind}${step.text}`);
  const lasting = digest.slice(0, NO_STEPS.length);
  const items = digest.slice(NO_STEPS.length);
  if (step.kind === ITEMS) return lasting + after(NO_STEPS);
  if (step.kind === CHANGED_ITEMS) return lasting + after(items === '' ? NO_STEPS : items);
  return after(lasting) + items;
}

/** The digest over no steps. As long as any other, so that no step's text can be taken for a part of it. */
export const NO_STEPS = '0'.repeat(64);
