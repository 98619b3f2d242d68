import { own, PhasegateError } from '@phasegate/core';
import type { AgentPrincipal, OpenProject } from '../runtime/ports.ts';
import { nextRecord } from './nextRecord.ts';

/** An agent that this process made for a program, with a key that is good while this process says so. */
export interface OwnAgent {
  readonly agent: AgentPrincipal;
  readonly key: string;
  /** Aborted when it was removed by somebody else, at whichever node. */
  readonly removed: AbortSignal;
  /** Says that it is still needed, and finds out whether it was removed. */
  renew(): Promise<void>;
  /** Takes the key back. */
  withdraw(): Promise<void>;
}

/** Makes an agent and keeps its key good until it is withdrawn. */
export async function makeOwnAgent(
  open: Pick<OpenProject, 'agents' | 'feed'>,
  name: string,
  capabilities: readonly string[],
): Promise<OwnAgent> {
  const removed = new AbortController();
  const over = new AbortController();
  // Taken before it is there: a removal between making it and listening must not be missed.
  const after = await open.feed.newest();
  const { key } = await open.agents.add(name, {
    by: 'spawn',
    ...(capabilities.length === 0 ? {} : { capabilities }),
  });

  async function renew(): Promise<void> {
    try {
      await open.agents.renew(name);
    } catch (error) {
      // Anything else is a store that is away for a while.
      if (isUnknown(error) && !over.signal.aborted) removed.abort();
    }
  }

  // The record is there at once, the next renewal also where it could not be read.
  void nextRecord(
    open.feed,
    ({ event, data }) =>
      event === 'agent_removed' && own(data, 'agent') === name && own(data, 'cause') !== RAN_OUT,
    { after, signal: over.signal },
  ).then(
    (record) => {
      if (record !== undefined) removed.abort();
    },
    () => undefined,
  );
  // Killed, this process can withdraw nothing: the key is good only while it says so.
  const renewing = setInterval(() => void renew(), RENEW_MS).unref();

  return {
    agent: { kind: 'agent', name },
    key,
    removed: removed.signal,
    renew,
    async withdraw() {
      clearInterval(renewing);
      over.abort();
      // A human may have made another of that name since.
      if (removed.signal.aborted) return;
      await open.agents.remove(name, 'spawn').catch((error: unknown) => {
        if (!isUnknown(error)) throw error;
      });
    },
  };
}

const RENEW_MS = 15_000;

/** Of a key whose spawner slept: the next renewal puts it back. */
const RAN_OUT = 'lease_expired';

function isUnknown(error: unknown): boolean {
  return error instanceof PhasegateError && error.code === 'agent_unknown';
}
