import { type Phase, phaseById, type Run } from '@phasegate/core';
import { workerOf } from '@phasegate/core/model';
import { startsAgents } from './agentLaunch.ts';
import type { Driving } from './parts.ts';
import { submitStep } from './submitStep.ts';
import { type Taken, takeStep } from './takeStep.ts';

/** How the items of a phase were left. */
export type ParallelEnd = Exclude<Taken, { kind: 'asks' }> | { readonly kind: 'held_by_others' };

/**
 * Works on the open items of a phase, so many at a time, until each is done or has failed for good. An item that
 * failed once goes to the end of the line; one that is done is never touched again.
 */
export async function parallelStep(driving: Driving, run: Run): Promise<ParallelEnd> {
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const items = Object.entries(run.work.items ?? {});
  const line = items.flatMap(([key, { status, holder }]) =>
    status === 'pending' && (holder ?? driving.principal.name) === driving.principal.name ? [key] : [],
  );
  if (items.every(([, { status }]) => status === 'completed')) return join(driving, run, phase);
  if (line.length === 0) return { kind: 'held_by_others' };

  const asks: Extract<Taken, { kind: 'asks' }>[] = [];
  let end: ParallelEnd = { kind: 'judged' };
  let broken = false;
  const work = async () => {
    while (end.kind === 'judged' && asks.length === 0 && !broken) {
      const item = line.shift();
      if (item === undefined) return;
      const now = await driving.request.open.load(run.id);
      if (!isOpen(now, run, item)) continue;
      const taken = await takeStep(driving, { run: now, phase, item }).catch((error: unknown) => {
        broken = true;
        throw error;
      });
      if (taken.kind === 'asks') asks.push(taken);
      else if (taken.kind !== 'judged') end = taken;
      else if (isOpen(await driving.request.open.load(run.id), run, item)) line.push(item);
    }
  };
  // A database has one writer: items take turns where there is one.
  const alone = run.workflow.database !== undefined || isAwaited(driving, phase);
  const workers = alone ? 1 : Math.max(1, driving.request.workers);
  const all = await Promise.allSettled(Array.from({ length: Math.min(workers, line.length) }, work));
  // All have ended before a fault of one is told: none may go on writing into a run that is left.
  const fault = all.find((one) => one.status === 'rejected');
  if (fault !== undefined) throw fault.reason;
  // Only now: while a run waits for answers, what other items came to could not be handed in. Who asked second asks
  // again when it is started afresh.
  await asks[0]?.ask();
  return end;
}

/** Where the prompt is only printed, one is enough: anyone who reads it does one item after another. */
function isAwaited({ request }: Driving, phase: Phase): boolean {
  const worker = workerOf(phase);
  return !startsAgents(request) && (worker === 'agent' || worker === 'dispatch');
}

function isOpen(now: Run, began: Run, item: string): boolean {
  if (now.status !== 'active' || now.phase !== began.phase || now.epoch !== began.epoch) return false;
  return now.work.items?.[item]?.status === 'pending';
}

/** Every item is done, and what stands behind them all was refused before: it is only looked at again. */
async function join(driving: Driving, run: Run, phase: Phase): Promise<ParallelEnd> {
  const step = { run, phase, item: null, attempt: null };
  const { accepted, message } = await submitStep(driving, step, { kind: 'result', evidence: {} });
  const common = { run: run.id, phase: phase.id, item: null };
  driving.request.report({ ...common, event: 'step_ended', accepted, message, ms: 0 });
  return { kind: 'judged' };
}
