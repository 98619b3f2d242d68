import { PhasegateError, type Run } from '@phasegate/core';
import { type DriveRequest, sameCodeAgain } from '../runtime/ports.ts';

/**
 * Refuses to go on with a run whose workflow's code is not what it was started with or migrated to: its functions would answer for
 * another workflow. The run is left as it is, so that it can go on when the code is back.
 */
export async function demandSameCode({ project }: DriveRequest, run: Run): Promise<void> {
  const { code, module, id } = run.workflow;
  if (code === null) return;
  let cause: unknown;
  try {
    const found = await project.catalog.load(module ?? id, { params: run.params, target: run.target });
    if (found.workflow.code === code) return;
  } catch (error) {
    cause = error;
  }
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  throw new PhasegateError(
    'code_changed',
    `the code of workflow \`${id}\` is not that of run \`${run.id}\`${why}`,
    { cause, hint: sameCodeAgain(run) },
  );
}
