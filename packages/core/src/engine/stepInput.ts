import type { Json, JsonObject } from '../json.ts';
import { itemOf } from './holding.ts';
import { previousAttempt } from './phaseText.ts';
import type { Item, Run } from './run.ts';
import { checkpointOf } from './scope.ts';

/** What anyone who takes up a run again must know. */
export interface ResumeContext {
  readonly workflowType: string;
  readonly runId: string;
  readonly currentStep: string | number | null;
  /** Each step once, in the order first completed. */
  readonly completedSteps: readonly (string | number)[];
  readonly lastStepOutput: Json;
  readonly pendingRetry?: {
    readonly step: string | number;
    readonly error: string;
    readonly attempt: number;
  };
  readonly parallelStatus?: {
    readonly total: number;
    readonly completed: number;
    readonly failed: readonly string[];
  };
}

/**
 * What the command of the current step reads on stdin: the whole checkpoint, and why the last attempt failed.
 * In a parallel step it is about one item.
 */
export function stepInputFor(run: Run, { item: key }: { readonly item?: string } = {}): JsonObject {
  if (run.phase === null) throw new TypeError('an ended run has no step');
  const item = key === undefined ? undefined : itemOf(run, key);
  if (key !== undefined && item === undefined) throw new TypeError('there is no such item');
  return {
    runId: run.id,
    step: run.phase,
    checkpoint: checkpointOf(run),
    ...retryContext(run, item),
    ...(item === undefined ? {} : { item: item.value }),
    ...(run.work.note === null ? {} : { note: run.work.note }),
    ...(run.work.answers.length === 0
      ? {}
      : { answers: run.work.answers.map(({ question, text }) => ({ question, text })) }),
  };
}

/** How far a run is, for the one who takes it up again: what came last, what is to be tried again, what failed. */
export function resumeContextOf(run: Run): ResumeContext {
  const { failure, attempts, items } = run.work;
  const all = Object.entries(items ?? {});
  return {
    workflowType: run.workflow.id,
    runId: run.id,
    currentStep: run.phase,
    completedSteps: [...new Set(run.completions.map((completion) => completion.phase))],
    lastStepOutput: run.completions.at(-1)?.evidence ?? null,
    ...(run.phase === null || failure === null
      ? {}
      : { pendingRetry: { step: run.phase, error: failure, attempt: attempts } }),
    ...(items === null
      ? {}
      : {
          parallelStatus: {
            total: all.length,
            completed: all.filter(([, item]) => item.status === 'completed').length,
            failed: all.flatMap(([key, item]) => (item.status === 'failed' ? [key] : [])),
          },
        }),
  };
}

/** `attempt` is the one that begins: 2 after the first has failed. */
function retryContext(run: Run, item: Item | undefined): JsonObject {
  const error = item === undefined ? run.work.failure : item.error;
  if (error === null) return {};
  const attempts = item === undefined ? run.work.attempts : item.attempts;
  return { retryContext: { error: previousAttempt(error), attempt: attempts + 1 } };
}
