import type { Replaying } from '@phasegate/proofs';
import { lookAt } from './look.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/** How a recorded run is decided again: what each check reads, and those asked anew that read their subject only. */
export async function lookingAgain({
  checks,
  functions,
  workspace,
}: Pick<RuntimeParts, 'checks' | 'functions' | 'workspace'>): Promise<Pick<Replaying, 'reads' | 'look'>> {
  const shelf = new Map((await checks()).map((check) => [check.name, check]));
  return {
    reads: (use) => shelf.get(use)?.reads ?? 'both',
    // Nothing of the world is at hand here: neither the module with the functions nor a database.
    look: (look) =>
      lookAt(look, { checks: async () => shelf, functions, workspace, module: null, database: null }),
  };
}
