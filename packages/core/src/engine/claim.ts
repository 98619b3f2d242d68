import { reclaimsOf } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { ALLOWED, blocker, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { type Considered, escalation, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { holds, itemOf } from './holding.ts';
import { standOf } from './itemStand.ts';
import { failedItems } from './items.ts';
import { measuredIn } from './measuredIn.ts';
import type { Run } from './run.ts';
import type { Blocker, NextAction } from './verdict.ts';
import { isBegun } from './workspaceUse.ts';

type Claim = Extract<Command, { kind: 'claim' }>;
type Release = Extract<Command, { kind: 'release' }>;

const ANOTHER: NextAction = { act: 'claim', text: 'claim another' };
const HUMAN: NextAction = { act: 'wait_for_human', text: 'wait: a human must act' };

/** An agent takes a queued run, an open item of a parallel phase, or both at once. */
export function considerClaim(run: Run, command: Claim, circumstance: Circumstance): Considered {
  const { principal, now } = circumstance;
  if (principal.kind !== 'agent')
    return turnAway([blocker('not_an_agent', 'only an agent may claim a run', nextActionFor(run))]);
  const { item } = command;
  const holder = principal.name;
  const owned = principal.owner === undefined ? {} : { owner: principal.owner };
  // Open items are there to be claimed while others work on the phase; the run as a whole only in the queue.
  const open = run.status === 'queued' || (run.status === 'active' && item !== undefined);
  if (!open)
    return turnAway([blocker('run_not_queued', `run \`${run.id}\` is ${run.status}, not queued`, ANOTHER)]);
  const events: RunEvent[] =
    run.status === 'queued'
      ? [
          {
            at: now,
            type: 'run_claimed',
            holder,
            ...measuredFor(run, circumstance),
            ...boundBy(run, circumstance),
            ...owned,
          },
        ]
      : [];
  if (item === undefined) return { verdict: ALLOWED, events };
  const wrong = itemProblem(run, item);
  if (wrong !== null) return turnAway([wrong]);
  return {
    verdict: ALLOWED,
    events: [...events, { at: now, type: 'item_claimed', phase: run.phase, item, holder, ...owned }],
  };
}

/** A run belongs to the folder it is begun in; the runtime lets nobody claim one that belongs elsewhere. */
function boundBy(run: Run, { folder }: Circumstance): { readonly folder?: string } {
  return folder === undefined || isBegun(run) ? {} : { folder };
}

/** What another agent changed in this visit stays to be answered for: a phase is measured once. */
function measuredFor(run: Run, circumstance: Circumstance): { readonly tree?: string } {
  return run.work.tree === undefined ? measuredIn(circumstance) : {};
}

/**
 * The engine takes back what a lost agent held, or an agent gives back its own. A release that comes late, when
 * another holds it, changes nothing.
 */
export function considerRelease(run: Run, command: Release, circumstance: Circumstance): Considered {
  const { principal } = circumstance;
  const own = principal.kind === 'agent' && principal.name === command.holder;
  if (principal.kind !== 'engine' && !(own && command.cause === 'given_back')) {
    const message = `only the agent that holds run \`${run.id}\` may give it back`;
    return turnAway([blocker('not_your_run', message, nextActionFor(run))]);
  }
  if (!holds(run, command.holder, command.item)) {
    const what = command.item === undefined ? '' : `item \`${command.item}\` of `;
    const message = `\`${command.holder}\` does not hold ${what}run \`${run.id}\``;
    return turnAway([blocker('not_your_run', message, nextActionFor(run))]);
  }
  const events =
    command.item === undefined
      ? releaseRun(run, command, circumstance.now)
      : releaseItem(run, { ...command, item: command.item }, circumstance.now);
  return { verdict: ALLOWED, events };
}

function releaseRun(run: Run, { holder, cause }: Release, now: string): readonly RunEvent[] {
  // INVARIANT: an epoch ends the tokens of all. What the holder itself had ends with its lease.
  const others = [...standOf(run.work.items).byHolder.keys()].some((agent) => agent !== holder);
  const released: RunEvent = {
    at: now,
    type: 'run_released',
    holder,
    cause,
    ...(others ? { keepsEpoch: true } : {}),
  };
  const crashes = apply(run, released).work.crashes ?? 0;
  if (crashes === (run.work.crashes ?? 0) || crashes <= reclaimsOf(run.workflow)) return [released];
  const message = `phase \`${run.phase}\` lost its agent ${crashes} times`;
  return [released, escalation(now, 'crashes', message, [blocker('escalated', message, HUMAN)])];
}

function releaseItem(
  run: Run,
  { holder, cause, item }: Release & { readonly item: string },
  now: string,
): readonly RunEvent[] {
  const released: RunEvent = {
    at: now,
    type: 'item_released',
    phase: run.phase as string | number,
    item,
    holder,
    cause,
  };
  const after = apply(run, released);
  const goesOn = after.status === 'active' || after.status === 'queued';
  if (!goesOn || standOf(after.work.items).open.length > 0) return [released];
  return [released, failedItems(after, now, 'crashes')];
}

function itemProblem(run: Run, key: string): Blocker | null {
  const item = itemOf(run, key);
  if (item === undefined)
    return blocker('item_unknown', `phase \`${run.phase}\` has no item \`${key}\``, ANOTHER);
  if (item.status !== 'pending')
    return blocker('item_done', `item \`${key}\` is already ${item.status}`, ANOTHER);
  if (item.holder !== undefined)
    return blocker('item_held', `item \`${key}\` is held by an agent already`, ANOTHER);
  return null;
}
