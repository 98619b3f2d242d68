import { join } from 'node:path';
import { secondNamesOf } from './files/secondName.ts';
import { type OwnPlace, ownFolders } from './ownFolders.ts';
import type { ToolImplementation } from './runtime/ports.ts';
import { TOOLS } from './tools/index.ts';

/**
 * The contract tools of a project on this machine. INVARIANT: what they read and write is never a file of Phasegate's own
 * that was given a second name in the workspace (a hard link): the engine may read it, and the agent may not.
 */
export function localTools(place: OwnPlace): readonly ToolImplementation[] {
  return TOOLS.map((tool) => ({
    ...tool,
    run(input, context) {
      const isOurs = secondNamesOf(() => ownFolders(place));
      const isOwn = (path: string) => isOurs(join(context.workspace, path));
      return tool.run(input, {
        ...context,
        mayRead: (path) => context.mayRead(path) && !isOwn(path),
        mayWrite: (path) => context.mayWrite(path) && !isOwn(path),
      });
    },
  }));
}
