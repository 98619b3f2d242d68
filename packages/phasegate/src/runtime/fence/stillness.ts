import { type Decision, type Fact, type Look, type Phase, phaseById, type Run } from '@phasegate/core';
import { TREE_LOOK } from '@phasegate/core/engine';
import type { WorkspaceFence } from './workspaceFence.ts';

/** Sees to it that a decision is about the workspace as it is when it counts. */
export interface Stillness {
  /** Answers the look at the workspace; gives the others. */
  look(looks: readonly Look[], facts: Record<string, Fact>): Promise<readonly Look[]>;
  /** Whether the workspace is what it was when it was looked at. If not, facts are changed and it is decided again. */
  holds(decision: Decision, facts: Record<string, Fact>): Promise<boolean>;
}

/** Builds it for one command. */
export function createStillness(fence: WorkspaceFence | undefined, run: Run): Stillness {
  let moved = 0;
  let settled = false;
  return {
    async look(looks, facts) {
      const tree = looks.find((look) => look.kind === 'tree');
      if (tree === undefined || fence === undefined) return looks;
      facts[tree.id] = await fence.look(run, tree);
      return looks.filter((look) => look !== tree);
    },
    async holds(decision, facts) {
      const fact = facts[TREE_LOOK];
      if (settled || fence === undefined || fact?.kind !== 'tree' || !fact.result.ok) return true;
      // What takes no time to look at leaves no time to change anything.
      if (!decision.verdict.allowed || Object.keys(facts).length === 1) return true;
      const { tree } = fact.result;
      settled = true;
      const phase = phaseById(run.workflow, run.phase) as Phase;
      if (phase.work.kind === 'handler') {
        // A human accepted the function, and what it writes is its own: the next phase begins with that.
        facts[TREE_LOOK] = {
          kind: 'tree',
          result: { ...fact.result, tree: await fence.measureAgain(run, tree) },
        };
        return false;
      }
      const paths = await fence.movedSince(run, tree);
      if (paths.length === 0) return true;
      moved += 1;
      if (moved === 1) {
        // Checks saw a workspace that is gone: all is looked at once more.
        for (const id of Object.keys(facts)) delete facts[id];
        settled = false;
        return false;
      }
      facts[TREE_LOOK] = {
        kind: 'tree',
        result: { ok: false, code: 'tree_moved', reason: movedText(paths) },
      };
      return false;
    },
  };
}

function movedText(paths: readonly string[]): string {
  const named = paths.slice(0, MOST_NAMED).map((path) => `\`${path}\``);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  return `${named.join(', ')}${more} changed while the phase was judged, twice in a row: end what is still running, and keep out of the workspace what checks write (\`.gitignore\`)`;
}

const MOST_NAMED = 10;
