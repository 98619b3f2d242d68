import { basename } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { isRunId } from '@phasegate/core/contract';
import type { ArchiveStore } from './ports.ts';

/**
 * The fault of a run that is not in the store: it went to an archive, or there never was one. Agents at a server read it
 * too, so it has the name of the file and not its path; that is in the cause, for the command line where the file is.
 */
export async function unknownRun(
  store: Pick<ArchiveStore, 'archivedRun'>,
  runId: string,
): Promise<PhasegateError> {
  const archived = await store.archivedRun?.(runId);
  if (archived === undefined) {
    return new PhasegateError('run_unknown', `there is no run \`${runId}\``, {
      hint: isRunId(runId)
        ? 'phasegate runs'
        : '`phasegate runs` lists them; one that was archived is known by its whole id alone',
    });
  }
  return new PhasegateError(
    'run_archived',
    `run \`${runId}\` ended and was archived on ${archived.archivedAt.slice(0, 10)}, to \`${basename(archived.file)}\``,
    { cause: { ...archived, run: runId }, hint: '`phasegate audit verify` says where that file is' },
  );
}
