import type { Command, Principal, Run } from '@phasegate/core';
import { PhasegateError } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { heldItems, holds, openItems, type ReleaseCause } from '@phasegate/core/engine';
import type { CallsUnderWay } from '../callsUnderWay.ts';
import { ENGINE } from '../engine.ts';
import type { ArchiveStore, Claims, LeaseKey, LeaseRecord, LeaseStore, RunStore } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import { unknownRun } from '../unknownRun.ts';
import { leaseEnd } from './leaseTerms.ts';

/** What releases are built from. */
export interface ReleaseParts {
  readonly store: ArchiveStore & LeaseStore & RunStore;
  readonly runtime: Runtime;
  readonly calls: Pick<CallsUnderWay, 'look' | 'close'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Takes back what an agent holds: because it says so, because it is gone, or because it was silent for too long. */
export interface Releases extends Pick<Claims, 'release'> {
  /** Everything an agent holds, in all runs. */
  releaseAll(agent: string, cause: 'exited' | 'agent_removed'): Promise<void>;
  /** Deals with a lease whose time is up, if it still is. */
  expire(lease: LeaseKey): Promise<void>;
}

/** Builds the ways in which an agent loses what it holds. */
export function createReleases({ store, runtime, calls, now }: ReleaseParts): Releases {
  /** The agent's calls end with it: what it was allowed as the holder must not go on when it is none. */
  async function letGo(runId: string, what: LettingGo, demand?: () => Promise<LeaseRecord>): Promise<void> {
    const { holder, item, cause, principal } = what;
    const command: Command = { kind: 'release', cause, holder, ...(item === null ? {} : { item }) };
    const beside = async () => (demand === undefined ? {} : { seen: await demand() });
    // INVARIANT: no agent has what it has handed in forgotten by giving its run back while that is judged.
    const reopen = OF_THE_AGENT.has(cause) ? await calls.close(runId, item) : () => undefined;
    try {
      await runtime.submit(runId, command, { principal, beside });
    } finally {
      reopen();
    }
  }

  const isOver = (lease: LeaseRecord | undefined) => lease !== undefined && lease.expiresAt <= instant(now());

  /** Letting go of the run lets go of its items with it. */
  async function releaseHeld(run: Run, what: Omit<LettingGo, 'item'>): Promise<boolean> {
    if (run.phase === null) return false;
    if (run.holder === what.holder) {
      await letGo(run.id, { ...what, item: null });
      return true;
    }
    const held = heldItems(run, what.holder).filter(([, { status }]) => status === 'pending');
    for (const [item] of held) await letGo(run.id, { ...what, item });
    return held.length > 0;
  }

  return {
    async release(runId, agent, cause) {
      const stored = await store.load(runId);
      if (stored === undefined) throw await unknownRun(store, runId);
      const principal = cause === 'given_back' ? agent : ENGINE;
      const held = await releaseHeld(stored.run, { holder: agent.name, cause, principal });
      if (!held && cause === 'given_back') {
        throw new PhasegateError('not_permitted', `\`${agent.name}\` does not hold run \`${runId}\``);
      }
      return held;
    },

    async releaseAll(agent, cause) {
      const leased = (await store.leases(agent)).map(({ run }) => run);
      const lists = await Promise.all(
        UNFINISHED_STATUSES.map((status) => store.list({ status, holder: agent })),
      );
      const failed: unknown[] = [];
      for (const runId of new Set([...leased, ...lists.flat().map(({ run }) => run)])) {
        try {
          const stored = await store.load(runId);
          if (stored !== undefined)
            await releaseHeld(stored.run, { holder: agent, cause, principal: ENGINE });
        } catch (error) {
          // What cannot be taken back of one run is no reason to leave the others to it.
          failed.push(error);
        }
      }
      if (failed.length > 0) throw failed[0];
    },

    async expire(lease) {
      const { run: runId, item } = lease;
      const [stored, current] = await Promise.all([store.load(runId), store.lease(runId, item)]);
      // Renewed, moved on or gone since it was found.
      if (current === undefined || !isOver(current)) return;
      const { agent } = current;
      const run = stored?.run;
      if (run === undefined || !holds(run, agent, item)) {
        await store.dropLease(current);
        return;
      }
      // Anyone who waits for a call is not lost, whichever process carries the call out.
      if (keeps(run, item) || (await calls.look(runId, item)).under.length > 0) {
        await store.renewLease({ ...current, expiresAt: leaseEnd(run, now()) });
        return;
      }
      const back = new Error('the agent came back');
      // INVARIANT: what is taken is the very lease that was over: an agent that is heard of, or gets a token, meanwhile keeps it.
      const demand = async () => {
        const seen = await store.lease(runId, item);
        if (seen === undefined || !isOver(seen)) throw back;
        return seen;
      };
      const released = letGo(
        runId,
        { holder: agent, item, cause: 'lease_expired', principal: ENGINE },
        demand,
      );
      await released.catch((error: unknown) => {
        if (error !== back) throw error;
      });
    },
  };
}

/** Said by the agent, or by the one who has started it. */
const OF_THE_AGENT: ReadonlySet<ReleaseCause> = new Set(['given_back', 'exited']);

interface LettingGo {
  readonly holder: string;
  readonly item: string | null;
  readonly cause: ReleaseCause;
  readonly principal: Principal;
}

/** Nobody is late who waits for a human, or for the items that others work on. */
function keeps(run: Run, item: string | null): boolean {
  return run.status !== 'active' || (item === null && openItems(run).length > 0);
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
