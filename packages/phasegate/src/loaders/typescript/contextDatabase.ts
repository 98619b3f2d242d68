import { randomBytes } from 'node:crypto';
import type { DefinedWorkflow } from '@phasegate/sdk';
// Loaded before any code of an author: afterwards it would be theirs to replace, and the guard lets no other file in.
import { openSafeDatabase } from '../../database/openSafeDatabase.ts';

/** What `ctx.db` is for one call, and how to be done with it. */
export interface ContextDatabase {
  readonly db: Readonly<Record<string, unknown>>;
  close(): void;
}

/** Opens the workflow's database for one function: the protected database, with the author's own questions to it. */
export function openContextDatabase(
  { file, writable }: { readonly file: string; readonly writable: boolean },
  { functions }: DefinedWorkflow,
): ContextDatabase {
  const { close, ...safe } = openSafeDatabase(file, { writable, now: Date.now, randomBytes });
  const helpers = Object.entries(functions).flatMap(([ref, helper]) => {
    if (!ref.startsWith(HELPER)) return [];
    const ask = helper as unknown as (db: typeof safe, ...values: unknown[]) => unknown;
    return [[ref.slice(HELPER.length), (...values: unknown[]) => ask(safe, ...values)] as const];
  });
  // What protects comes last: no question of the author's may stand in its place.
  return { db: Object.freeze({ ...Object.fromEntries(helpers), ...safe }), close };
}

const HELPER = 'database/';
