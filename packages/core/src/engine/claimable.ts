import { type Attachment, attachmentOf, holdsRing } from '../model/rings.ts';
import { blocker } from './blockers.ts';
import { type Keyed, standOf } from './itemStand.ts';
import type { Run } from './run.ts';
import type { Blocker } from './verdict.ts';

/** How a run may be claimed: begun, where it has items nobody holds, or queued, as a whole. */
export type Claimability = 'begun' | 'queued';

/** How an agent may claim the run as it is, or null. What an agent must be able to do for it is another matter. */
export function claimability(run: Run): Claimability | null {
  if (isParked(run)) return null;
  if (run.status === 'queued') return 'queued';
  return run.status === 'active' && freeItem(run) !== undefined ? 'begun' : null;
}

/** Items of the current phase that can be worked on, no matter who holds them; none in an ordinary phase. */
export function openItems(run: Run): readonly Keyed[] {
  return run.phase === null ? [] : standOf(run.work.items).open;
}

/** The first item nobody holds. */
export function freeItem(run: Run): string | undefined {
  return run.phase === null ? undefined : standOf(run.work.items).free?.[0];
}

/** The items that agents hold, or that one of them does. */
export function heldItems({ work }: Pick<Run, 'work'>, agent?: string): readonly Keyed[] {
  const { held, byHolder } = standOf(work.items);
  return agent === undefined ? held : (byHolder.get(agent) ?? []);
}

/** A run whose workflow asks for a higher ring than it has is kept from agents until it has that ring. */
export function isParked(run: Run): boolean {
  return !holdsRing(run.ring, run.workflow.enforcement.ring);
}

/**
 * A run has its ring because of how its agent is attached: no other takes it over that is attached less closely. Null:
 * this one may.
 */
export function ringBlocker(run: Run, attached: Attachment): Blocker | null {
  const needed = attachmentOf(run.ring);
  if (holdsRing(attached, needed)) return null;
  const text =
    needed === 'sandboxed'
      ? `start its agent in a sandbox: \`phasegate agent start ${run.id} --sandbox\``
      : 'claim another run: this one is for a session of a client whose hooks are proven, or an agent in a sandbox';
  const message = `run \`${run.id}\` has the ring \`${run.ring}\`, and this agent is \`${attached}\`: ${text}`;
  return blocker('ring_too_low', message, { act: 'claim', text });
}
