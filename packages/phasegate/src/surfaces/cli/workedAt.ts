import type { WorkedAt } from '@phasegate/core/engine';
import type { Environment } from './environment.ts';
import { usageError } from './usage.ts';

/**
 * A runner tells the agent it starts where the run stands: what the agent hands in is for that visit of the phase, and
 * no later one. Sent whatever phase is named and however it is written: only the runtime compares.
 */
export function workedAt(env: Environment, runId: string): { readonly at?: WorkedAt } {
  const { PHASEGATE_RUN: run, PHASEGATE_EPOCH: epoch = '' } = env;
  if (run !== runId || epoch === '') return {};
  if (!/^\d+$/.test(epoch)) {
    throw usageError(
      `\`PHASEGATE_EPOCH\` is \`${epoch}\`, which is not a whole number`,
      'leave the variable as the runner set it, or unset it',
    );
  }
  return { at: { epoch: Number(epoch) } };
}
