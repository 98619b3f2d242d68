import { type Phase, PhasegateError, phaseById, type Run } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { Driven, DriveRequest } from '../runtime/ports.ts';
import { becomeDriver } from './becomeDriver.ts';
import { demandSameCode } from './demandSameCode.ts';
import { awaited, driven, interrupted } from './endings.ts';
import { isOurs, keepHold } from './holding.ts';
import { nextChange } from './nextChange.ts';
import { Pace, stateOf } from './pace.ts';
import { parallelStep } from './parallelStep.ts';
import type { Driving, RunnerParts } from './parts.ts';
import { prepareDatabase } from './prepareDatabase.ts';
import { takeStep } from './takeStep.ts';
import { waitingCard } from './waiting.ts';

/** How often a step is begun anew because someone else wrote to the database meanwhile. */
const DATABASE_ROUNDS = 3;

/**
 * Drives a run to its end, or to where a human must act. It decides nothing: the engine says what is current, what
 * counts as done, what is tried again and when a human takes over. It keeps nothing either: killed anywhere and
 * started again it goes on from the run as it was saved, so that a step's work may be done twice but counts once.
 */
export async function driveRun(request: DriveRequest, parts: RunnerParts): Promise<Driven> {
  const before = request.snapshot ?? (await request.open.load(request.run));
  if (before.phase === null) return driven(before);
  const driver = await becomeDriver(request);
  try {
    return await driveAlone(request, parts, driver.loss);
  } finally {
    await driver.leave();
  }
}

/** INVARIANT: nobody else drives the run, and nothing that an earlier driver started is running any more. */
async function driveAlone(
  request: DriveRequest,
  parts: RunnerParts,
  unguarded: AbortSignal,
): Promise<Driven> {
  const principal = { kind: 'agent' as const, name: request.agent };
  const first = await lookAt(request, principal);
  if (first.run.phase === null) return driven(first.run);
  demandHold(first.run, request.agent);
  tellPendingRetry(request, first.run);
  const hold = keepHold(request, principal);
  const signal = AbortSignal.any([request.signal, hold.loss, unguarded]);
  try {
    return await follow({ request, parts, principal, signal, redo: { left: DATABASE_ROUNDS } }, first);
  } catch (error) {
    if (!(error instanceof PhasegateError) || error.code !== 'database_busy') throw error;
    return interrupted(await request.open.load(request.run), error.message);
  } finally {
    hold.stop();
  }
}

async function follow(driving: Driving, first: Look): Promise<Driven> {
  const { request, principal, signal } = driving;
  const pace = new Pace();
  for (let look: Look | null = first; ; look = null) {
    const { run, after } = look ?? (await lookAt(request, principal, pace));
    if (run.phase === null) return driven(run);
    demandHold(run, request.agent);
    if (signal.aborted) return interrupted(run, 'it was interrupted');
    if (run.status === 'escalated' || run.status === 'waiting') {
      if (pace.isNew(run))
        request.report({ event: 'waiting', run: run.id, what: await waitingCard(request, run) });
      if (run.status === 'escalated' || !request.waitForHuman) return driven(run);
      await nextChange(request, after, signal);
      continue;
    }
    if (pace.isFirst(run)) {
      await demandSameCode(request, run);
      await prepareDatabase(request, run);
    }
    const left = await stepOf(driving, run);
    if (left === 'awaited' && !request.waitForHuman) return awaited(run);
    if (left === 'awaited' || left === 'held_by_others') await untilMoved(driving, run);
  }
}

/** Nobody here can do more: waits until someone else has. */
async function untilMoved({ request, signal }: Driving, run: Run): Promise<void> {
  const state = stateOf(run);
  for (;;) {
    const after = await request.open.feed.newest();
    if (signal.aborted || stateOf(await request.open.load(run.id)) !== state) return;
    await nextChange(request, after, signal);
  }
}

async function stepOf(driving: Driving, run: Run): Promise<string> {
  const phase = phaseById(run.workflow, run.phase) as Phase;
  try {
    if (run.work.items !== null) return (await parallelStep(driving, run)).kind;
    return (await takeStep(driving, { run, phase, item: null })).kind;
  } catch (error) {
    if (driving.signal.aborted && error instanceof Error && error.name === 'AbortError') return 'aborted';
    if (!(error instanceof PhasegateError) || error.code !== 'run_changed') throw error;
    driving.request.report({ event: 'note', message: `${error.message}; it is looked at again` });
    return 'again';
  }
}

/** The run as it was found, and the newest record from before that. */
interface Look {
  readonly run: Run;
  readonly after: number;
}

/** Looks at the run once. A queued one is claimed: at the beginning, or where a human's act gave it back. */
async function lookAt(request: DriveRequest, principal: Driving['principal'], pace?: Pace): Promise<Look> {
  const { open } = request;
  // Taken before looking: what happens between looking and listening must not be missed.
  const after = await open.feed.newest();
  const run = await open.claims.attend(request.run, principal).catch((error: unknown) => {
    // Held by another: the run itself says so.
    if (error instanceof PhasegateError && error.code === 'not_permitted') return open.load(request.run);
    throw error;
  });
  if (run.status !== 'queued' || pace?.hasWaited() === false) return { run, after };
  // Every program of such a run is held, and its agent is started in a sandbox or not at all.
  await open.claims.within('sandboxed').claimRun(run.id, principal, request.capabilities ?? []);
  return { run: await open.load(run.id), after };
}

function demandHold(run: Run, agent: string): void {
  if (isOurs(run, agent)) return;
  const { id, holder, status } = run;
  const who = holder === null ? 'nobody' : `the agent \`${holder}\``;
  throw new PhasegateError(
    'not_permitted',
    `run \`${id}\` is ${status} and held by ${who}, not by \`${agent}\``,
    {
      hint: holder === null ? `phasegate run ${id}` : `phasegate status ${id}`,
    },
  );
}

/** The agent that resumes a run is told what failed before. */
function tellPendingRetry({ report }: DriveRequest, { phase, work }: Run): void {
  if (work.failure !== null) {
    report({ event: 'note', message: `phase \`${phase}\` failed before: ${work.failure}` });
  }
  for (const [key, { status, error }] of Object.entries(work.items ?? {})) {
    if (status === 'completed' || error === null) continue;
    report({
      event: 'note',
      message: `item \`${oneLine(key)}\` of phase \`${phase}\` failed before: ${error}`,
    });
  }
}
