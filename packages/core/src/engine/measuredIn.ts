import type { Circumstance } from './command.ts';
import type { FilesChanged } from './run.ts';

/** The id of the look at the workspace: one for a command, whatever else is asked. */
export const TREE_LOOK = 'tree';

/** The measure that was taken with a command, if any was: what comes after it is compared with it. */
export function measuredIn({ facts, tree }: Pick<Circumstance, 'facts' | 'tree'>): {
  readonly tree?: string;
} {
  const fact = Object.hasOwn(facts, TREE_LOOK) ? facts[TREE_LOOK] : undefined;
  if (fact?.kind === 'tree' && fact.result.ok) return { tree: fact.result.tree };
  return tree === undefined ? {} : { tree };
}

/** Hash of what the workspace held when it was asked about; nothing where it is not known. */
export function stateIn({ facts }: Pick<Circumstance, 'facts'>): { readonly made?: string } {
  const fact = Object.hasOwn(facts, TREE_LOOK) ? facts[TREE_LOOK] : undefined;
  if (fact?.kind !== 'tree' || !fact.result.ok || fact.result.state === undefined) return {};
  return { made: fact.result.state };
}

/** What the fence found changed within the scope, where it was asked with a command. */
export function filesIn({ facts }: Pick<Circumstance, 'facts'>): { readonly files?: FilesChanged } {
  const fact = Object.hasOwn(facts, TREE_LOOK) ? facts[TREE_LOOK] : undefined;
  if (fact?.kind !== 'tree' || !fact.result.ok || fact.result.inside === undefined) return {};
  return { files: fact.result.inside };
}
