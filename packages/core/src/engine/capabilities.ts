import { blocker } from './blockers.ts';
import type { RunCore } from './run.ts';
import type { Blocker } from './verdict.ts';

/** Everything an agent must be able to do to claim a run: what its workflow asks for, and what was said at its start. */
export function capabilitiesNeeded({
  workflow,
  queue,
}: {
  readonly workflow: Pick<RunCore['workflow'], 'capabilities'>;
  readonly queue?: RunCore['queue'];
}): readonly string[] {
  return [...new Set([...(workflow.capabilities ?? []), ...(queue?.capabilities ?? [])])];
}

/** True when an agent that can do `has` may claim what needs `needed`. */
export function canClaim(needed: readonly string[], has: readonly string[]): boolean {
  return needed.every((capability) => has.includes(capability));
}

/** Why an agent that can do `has` may only queue a run of the workflow, or null. */
export function startCapabilityBlocker(
  start: Pick<RunCore, 'workflow' | 'queue'>,
  agent: { readonly name: string; readonly has: readonly string[] },
): Blocker | null {
  const missing = capabilitiesNeeded(start).filter((capability) => !agent.has.includes(capability));
  if (missing.length === 0) return null;
  const names = missing.map((capability) => `\`${capability}\``).join(', ');
  const { id } = start.workflow;
  const message = `a run of \`${id}\` needs an agent that can do ${names}, and \`${agent.name}\` has not shown that it can`;
  const text = `queue it for an agent that can: \`phasegate start ${id} --queue\`; an agent that was added without capabilities says its own with \`--capability\``;
  return blocker('capability_missing', message, { act: 'start', text });
}

/** Why an agent that can do `has` may not claim the run, or null. */
export function capabilityBlocker(
  run: Pick<RunCore, 'id' | 'workflow' | 'queue'>,
  has: readonly string[],
): Blocker | null {
  const missing = capabilitiesNeeded(run).filter((capability) => !has.includes(capability));
  if (missing.length === 0) return null;
  const names = missing.map((capability) => `\`${capability}\``).join(', ');
  const message = `run \`${run.id}\` needs an agent that can do ${names}`;
  return blocker('capability_missing', message, { act: 'claim', text: 'claim another run' });
}
