import { sameTarget } from '../model/target.ts';
import type { Workflow } from '../model/workflow.ts';
import { blocker } from './blockers.ts';
import type { RunStatus } from './run.ts';
import type { Blocker } from './verdict.ts';

/** What is to be known of another run to tell whether it stands in the way. */
export interface OtherRun {
  readonly run: string;
  /** Id of its workflow. */
  readonly workflow: string;
  readonly target: string | null;
  readonly status: RunStatus;
}

/** What is to be started. */
export interface WantedRun {
  readonly workflow: Pick<Workflow, 'id' | 'oneRunPer'>;
  readonly target: string | null;
}

/** The run that must end before this one may start, where the workflow says `one_run_per`; else undefined. */
export function runInTheWay<T extends OtherRun>(
  { workflow, target }: WantedRun,
  others: readonly T[],
): T | undefined {
  if (workflow.oneRunPer === undefined) return undefined;
  return others.find(
    (other) =>
      other.workflow === workflow.id &&
      !ENDED.has(other.status) &&
      (workflow.oneRunPer === 'workflow' || sameTarget(other.target, target)),
  );
}

/** Why a run may not start beside the one in its way. */
export function runExistsBlocker({ workflow, target }: WantedRun, { run, status }: OtherRun): Blocker {
  const of =
    workflow.oneRunPer === 'workflow' ? '' : target === null ? ' without a target' : ` for \`${target}\``;
  const message = `run \`${run}\` of \`${workflow.id}\`${of} is ${status}, and there may be only one at a time`;
  const text = `go on with run \`${run}\` (\`phasegate status ${run}\`), or have a human end it with \`phasegate stop ${run} --reason TEXT\``;
  return blocker('run_exists', message, { act: 'start', text });
}

const ENDED: ReadonlySet<RunStatus> = new Set<RunStatus>(['completed', 'stopped']);
