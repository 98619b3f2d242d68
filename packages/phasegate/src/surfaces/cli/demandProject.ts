import type { Project } from '../../runtime/ports.ts';
import { usageError } from './usage.ts';

/** State made in a folder by mistake is state nobody finds again. */
export async function demandProject(found: Project): Promise<Project> {
  if (await found.exists()) return found;
  throw usageError(
    `\`${found.root}\` is not a project: it has neither a Phasegate config nor a workflow`,
    'make it one with `phasegate init`, or name another folder with `--project DIR`',
  );
}
