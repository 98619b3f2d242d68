import { parseWorkflow } from '@phasegate/audit';
import type { Workflow } from '@phasegate/core';
import type { Query } from './database.ts';
import { text } from './rows.ts';

/** The workflows of the runs, each stored once per hash and never changed. */
export interface Workflows {
  /** Those of these hashes that there are; one that is not the one its hash names is none. */
  fetch(query: Query, hashes: readonly string[]): Promise<ReadonlyMap<string, Workflow>>;
  /** The one that runs share, where one is known; else this. */
  shared(hash: string, workflow: Workflow): Workflow;
}

/** Keeps the workflows that were last used. */
export function createWorkflows(): Workflows {
  const known = new Map<string, Workflow>();

  function remember(hash: string, workflow: Workflow): void {
    known.set(hash, workflow);
    if (known.size <= MOST_KNOWN) return;
    for (const oldest of known.keys()) {
      known.delete(oldest);
      break;
    }
  }

  return {
    async fetch(query, hashes) {
      // Taken now, as what is known may be dropped while the others are read.
      const found = new Map<string, Workflow>();
      const missing = new Set<string>();
      for (const hash of hashes) {
        const workflow = known.get(hash);
        if (workflow === undefined) missing.add(hash);
        else found.set(hash, workflow);
      }
      if (missing.size === 0) return found;
      const { rows } = await query('SELECT hash, data FROM workflows WHERE hash = ANY($1)', [[...missing]]);
      for (const row of rows) {
        const hash = text(row, 'hash');
        const workflow = parseWorkflow(text(row, 'data'), hash);
        if (workflow === null) continue;
        found.set(hash, workflow);
        remember(hash, workflow);
      }
      return found;
    },
    shared(hash, workflow) {
      const one = known.get(hash);
      if (one === undefined) remember(hash, workflow);
      return one ?? workflow;
    },
  };
}

const MOST_KNOWN = 500;
