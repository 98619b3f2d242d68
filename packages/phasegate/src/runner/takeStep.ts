import { PhasegateError } from '@phasegate/core';
import { workerOf } from '@phasegate/core/model';
import { startsAgents } from './agentLaunch.ts';
import { agentStep } from './agentStep.ts';
import { commandStep } from './commandStep.ts';
import { dispatchStep } from './dispatchStep.ts';
import { fetchTasks } from './fetchTasks.ts';
import { attemptsOf, type Driving, isStillOpen, type Step, type StepAtWork, type StepEnd } from './parts.ts';
import { submitStep } from './submitStep.ts';

/** What a step leaves the loop with. */
export type Taken =
  /** The engine has judged it; what is next, the run says. */
  | { readonly kind: 'judged' }
  /** Nobody is there to do the work. */
  | { readonly kind: 'awaited' }
  | { readonly kind: 'aborted' }
  /** Questions that wait until other items are done: while a run waits, nothing can be handed in. */
  | { readonly kind: 'asks'; readonly ask: () => Promise<void> };

/** Does the work of one step, once, and hands in what came of it. */
export async function takeStep(driving: Driving, step: Step): Promise<Taken> {
  const { request, signal } = driving;
  const { run, phase, item } = step;
  const common = { run: run.id, phase: phase.id, item };
  // Before it is told: where programs may not run, nothing was started.
  await request.open.guardedFiles.hold(run.id);
  const began = performance.now();
  const kind = workerOf(phase);
  // Without an agent to start, the prompt is all there is to tell.
  if (startsAgents(request) || (kind !== 'agent' && kind !== 'dispatch'))
    request.report({ ...common, event: 'step_started', kind, attempt: attemptsOf(run, item) + 1 });
  const ended = (accepted: boolean, message: string) => {
    const ms = Math.round(performance.now() - began);
    request.report({ ...common, event: 'step_ended', accepted, message, ms });
  };
  const { database } = run.workflow;
  const attempt =
    database === undefined || kind === 'agent'
      ? null
      : await request.open.databases.begin({ run: run.id, database, signal });
  try {
    const atWork = { ...step, attempt };
    const end = await guardedWork(driving, atWork);
    switch (end.kind) {
      case 'aborted':
        ended(false, 'interrupted');
        return end;
      case 'awaited':
        return end;
      case 'moved':
        ended(end.accepted, end.message);
        return { kind: 'judged' };
      case 'asked': {
        const ask = async () => {
          const { message } = await submitStep(driving, atWork, end);
          ended(true, message);
        };
        if (item !== null) return { kind: 'asks', ask };
        await ask();
        return { kind: 'judged' };
      }
      default: {
        const { accepted, message } = await submitStep(driving, atWork, end);
        ended(accepted, message);
        return { kind: 'judged' };
      }
    }
  } catch (error) {
    if (!(await mayBeDoneAgain(driving, step, error))) throw error;
    ended(false, `${(error as Error).message}; it is done again`);
    return { kind: 'judged' };
  } finally {
    await attempt?.discard();
  }
}

/** Someone else wrote to the database meanwhile: done again on theirs, unless the engine has accepted it already. */
async function mayBeDoneAgain({ request, redo }: Driving, step: Step, error: unknown): Promise<boolean> {
  if (!(error instanceof PhasegateError) || error.code !== 'database_changed' || redo.left === 0)
    return false;
  redo.left -= 1;
  return isStillOpen(await request.open.load(step.run.id), step);
}

/** What a program made of the guard's own files is put back, and its result is none. */
async function guardedWork(driving: Driving, step: StepAtWork): Promise<StepEnd> {
  const { guardedFiles } = driving.request.open;
  const end = await work(driving, step);
  const restored = await guardedFiles.settle(step.run.id);
  if (restored === null) return end;
  driving.request.report({ event: 'note', message: restored });
  return end.kind === 'result' ? { kind: 'failed', reason: restored } : end;
}

async function work(driving: Driving, step: StepAtWork): Promise<StepEnd> {
  const { work: doing } = step.phase;
  if (doing.kind === 'agent' || workerOf(step.phase) === 'agent') return agentStep(driving, step);
  const tasks = await fetchTasks(driving, step);
  switch (doing.kind) {
    case 'command':
      return commandStep(driving, step, doing.command);
    case 'handler':
      return handlerStep();
    case 'dispatch':
      return dispatchStep(driving, step, { work: doing, tasks });
  }
}

/**
 * The step of a handler that has nothing beside it for an agent to do. It is the engine's to call: completing the
 * phase runs it, and its outcome decides where the run goes.
 */
function handlerStep(): StepEnd {
  return { kind: 'result', evidence: {} };
}
