import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '@phasegate/core/model';
import { PhasegateClientError } from '@phasegate/sdk';
import type { WorkerRequest } from '../runtime/ports.ts';

/** The server was asked for as long as a worker asks, and could not do it. */
export class StillAway extends Error {}

/**
 * Asks for something until the server has decided on it, not for longer than thirty polls: a run whose worker gives up
 * sooner is nobody's until its lease ends. Throws `StillAway` after that, and what the server refuses at once.
 */
export async function patiently<T>(
  agent: string,
  { pollMs, report }: Pick<WorkerRequest, 'pollMs' | 'report'>,
  ask: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + POLLS * pollMs;
  for (let told = false; ; told = true) {
    try {
      return await ask();
    } catch (error) {
      if (isFinal(error)) throw error;
      if (performance.now() >= until) throw new StillAway(reasonOf(error), { cause: error });
      if (!told) report({ event: 'unreachable', agent, why: reasonOf(error) });
      await pause(pollMs);
    }
  }
}

/** Whether asking again cannot help: the credential, or the request itself, is refused. */
export function isFinal(error: unknown): boolean {
  // The engine's words for it hold the client's error.
  const said = error instanceof PhasegateClientError ? error : (error as { cause?: unknown } | null)?.cause;
  if (!(said instanceof PhasegateClientError)) return true;
  const { status } = said;
  return said.code === 'usage' || (status !== null && status >= 400 && status < 500 && status !== 429);
}

const POLLS = 30;
