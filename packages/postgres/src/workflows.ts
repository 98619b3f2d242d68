import { parseWorkflow, tampered } from '@phasegate/audit';
import type { Workflow } from '@phasegate/core';
import type { Query } from './database.ts';
import { text } from './rows.ts';

/** The workflows of the runs, each stored once per hash and never changed. */
export interface Workflows {
  /** Reads those that are not known yet. */
  fetch(query: Query, hashes: readonly string[]): Promise<void>;
  /** One that was fetched. Throws `state_tampered` where it is gone, or not the one its hash names. */
  known(hash: string): Workflow;
  /** Whether there is one of that hash, as far as was fetched. */
  has(hash: string): boolean;
  /** The one that runs share, where one is known; else this. */
  shared(hash: string, workflow: Workflow): Workflow;
}

/** Keeps the workflows that were last used. */
export function createWorkflows(): Workflows {
  const known = new Map<string, Workflow>();

  function remember(hash: string, workflow: Workflow): void {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(hash, workflow);
  }

  return {
    async fetch(query, hashes) {
      const missing = [...new Set(hashes)].filter((hash) => !known.has(hash));
      if (missing.length === 0) return;
      const { rows } = await query('SELECT hash, data FROM workflows WHERE hash = ANY($1)', [missing]);
      for (const row of rows) {
        const workflow = parseWorkflow(text(row, 'data'), text(row, 'hash'));
        // Whose it is finds that there is none.
        if (workflow !== null) remember(text(row, 'hash'), workflow);
      }
    },
    known(hash) {
      const workflow = known.get(hash);
      if (workflow === undefined) throw tampered(`workflow \`${hash}\``);
      return workflow;
    },
    has: (hash) => known.has(hash),
    shared(hash, workflow) {
      const one = known.get(hash);
      if (one === undefined) remember(hash, workflow);
      return one ?? workflow;
    },
  };
}

const MOST_KNOWN = 500;
