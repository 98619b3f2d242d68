import { PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import type { AgentPrincipal, Claimed, Claims, Spawned, SpawnRequest } from '../runtime/ports.ts';
import { describeExit, type Exit } from './adapter.ts';
import { nextRecord } from './nextRecord.ts';
import { type Standing, standingOf } from './standing.ts';

/** What is done about an agent that has ended. */
export type Step =
  | { readonly kind: 'start_again'; readonly claimed: Claimed; readonly why: string }
  | {
      readonly kind: 'end';
      readonly standing: Standing;
      readonly outcome: Spawned['outcome'];
      readonly message: string;
    };

/** What is needed to find out. */
export interface Ending {
  readonly request: Omit<SpawnRequest, 'adapter' | 'logFile'>;
  readonly agent: AgentPrincipal;
  /** Aborted when somebody removed the agent. */
  readonly removed: AbortSignal;
}

/** An agent has ended: is the run done, must a human act, or does it go on from its last checkpoint? */
export async function afterExit(ending: Ending, claimed: Claimed, exit: Exit): Promise<Step> {
  const { request, agent } = ending;
  const { open } = request;
  const { run } = claimed.view;
  const standing = await standingOf(open, agent, claimed);
  if (request.signal.aborted)
    return askedToEnd(ending, standing, 'it was stopped, and the run was given back');
  if (exit.kind === 'not_started') {
    await giveBack(ending, standing);
    throw new PhasegateError('usage', `\`${request.argv[0]}\` cannot be started: ${reasonOf(exit)}`, {
      hint: 'install it, or name another program',
    });
  }
  switch (standing.kind) {
    case 'left':
      if (request.sandbox === true && standing.view.epoch !== claimed.view.epoch && claimed.item === null)
        return again(await open.claims.token(run, agent), NEXT_PHASE);
      request.report({ event: 'lost', agent: agent.name, run, why: describeExit(exit) });
      await open.claims.release(run, agent, 'exited');
      return goOn(ending, claimed, exit);
    case 'queued':
      return goOn(ending, claimed, exit);
    case 'item_done':
      return nextItem(ending, standing);
    case 'waiting':
      return request.waitForHuman ? untilHumanActed(ending, claimed) : atEnd(ending, standing);
    default:
      return atEnd(ending, standing);
  }
}

async function askedToEnd(ending: Ending, standing: Standing, interrupted: string): Promise<Step> {
  // What a removed agent held is taken back by those who removed it, not given back by it.
  if (ending.removed.aborted) return end(standing, 'removed', REMOVED);
  await giveBack(ending, standing);
  return end(standing, 'interrupted', interrupted);
}

const REMOVED = 'its agent was removed; what it held goes back to the queue';

/** The run is in the queue again, at its last checkpoint, unless the engine has had enough. */
async function goOn(ending: Ending, { view, item }: Claimed, exit: Exit): Promise<Step> {
  const { request, agent } = ending;
  const standing = await standingOf(request.open, agent, { view, item: null });
  // The run an item belongs to may be another's; the item itself is open again.
  const open = standing.kind === 'queued' || (standing.kind === 'taken' && item !== null);
  if (!open) return atEnd(ending, standing);
  if (request.once)
    return end(standing, 'crashed', `${describeExit(exit)}, and the run is back in the queue`);
  const why = `the agent before you ended before the phase was complete: ${describeExit(exit)}`;
  return again(await claimAgain(ending, view.run), why);
}

async function nextItem(ending: Ending, standing: Standing & { readonly kind: 'item_done' }): Promise<Step> {
  const { view } = standing;
  await giveBack(ending, standing);
  if (ending.request.once) return end(standing, 'completed', 'the item is done');
  const next = await claimAgain(ending, view.run);
  if (next === null) return end(standing, 'completed', 'the item is done; others work on the rest');
  return again(next, 'the item before this one is done');
}

async function untilHumanActed(ending: Ending, claimed: Claimed): Promise<Step> {
  const { request, agent } = ending;
  const { open, signal } = request;
  const { run } = claimed.view;
  request.report({ event: 'waiting_for_human', agent: agent.name, run });
  for (;;) {
    // Taken before looking: what happens between looking and listening must not be missed.
    const after = await open.feed.newest();
    const standing = await standingOf(open, agent, claimed);
    if (signal.aborted) return askedToEnd(ending, standing, 'it was stopped while the run waits for a human');
    if (standing.kind === 'left') return again(await open.claims.token(run, agent), HUMAN_ACTED);
    if (standing.kind === 'queued') return again(await claimAgain(ending, run), HUMAN_ACTED);
    if (standing.kind !== 'waiting') return atEnd(ending, standing);
    await nextRecord(open.feed, (record) => record.run === run, { after, signal });
  }
}

/** A sandbox is made for one visit of a phase, and its agent ends with it. */
const NEXT_PHASE = 'the phase before this one is complete';
const HUMAN_ACTED = 'a human has acted meanwhile';

/** Nobody is left to go on: what is still held is given back, so that a human's act puts the run in the queue. */
async function atEnd(ending: Ending, standing: Standing): Promise<Step> {
  await giveBack(ending, standing);
  switch (standing.kind) {
    case 'completed':
      return end(standing, 'completed', 'the run is completed');
    case 'waiting':
      return end(standing, 'waiting', standing.view.nextAction.text);
    case 'escalated':
      return end(standing, 'escalated', standing.view.escalation?.message ?? 'a human must act');
    case 'stopped':
      return end(
        standing,
        'stopped',
        `the run was stopped: ${standing.view.reason ?? 'no reason was given'}`,
      );
    default:
      return end(standing, 'taken', TAKEN);
  }
}

const TAKEN = 'another agent has the run now';

function again(claimed: Claimed | null, why: string): Step {
  if (claimed === null) return end({ kind: 'taken', view: null }, 'taken', TAKEN);
  return { kind: 'start_again', claimed, why };
}

function end(standing: Standing, outcome: Spawned['outcome'], message: string): Step {
  return { kind: 'end', standing, outcome, message };
}

/** Claims by an agent that is attached as this one will be. */
export function claimsOf({ open, sandbox }: Ending['request']): Pick<Claims, 'claim' | 'claimRun'> {
  return open.claims.within(sandbox === true ? 'sandboxed' : 'served');
}

/** Null where another was faster. */
async function claimAgain({ request, agent }: Ending, run: string): Promise<Claimed | null> {
  try {
    return await claimsOf(request).claimRun(run, agent, request.capabilities);
  } catch (error) {
    if (error instanceof PhasegateError && error.code === 'not_permitted') return null;
    throw error;
  }
}

/** No crash: the run, or what it is by now, is another's to go on with. */
async function giveBack({ request, agent }: Ending, { kind, view }: Standing): Promise<void> {
  if (view === null || kind === 'completed' || kind === 'stopped') return;
  if (kind === 'left' || view.holder === agent.name) {
    await request.open.claims.release(view.run, agent, 'given_back');
  }
}
