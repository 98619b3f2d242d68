import { PhasegateError, type RunView } from '@phasegate/core';
import type { AgentPrincipal, Claimed, RunsOf, Workshop } from '../runtime/ports.ts';

/** Where a run stands for the agent that worked on it. */
export type Standing =
  | { readonly kind: 'completed' | 'waiting' | 'escalated' | 'stopped'; readonly view: RunView }
  /** The agent still holds what it claimed: it crashed, or forgot to complete it. */
  | { readonly kind: 'left'; readonly view: RunView }
  /** The one item that was claimed is done; the phase goes on. */
  | { readonly kind: 'item_done'; readonly view: RunView }
  /** Nobody holds it any more. */
  | { readonly kind: 'queued'; readonly view: RunView }
  /** Another holds it. */
  | { readonly kind: 'taken'; readonly view: null };

/** Looks where a run stands after an agent has ended. */
export async function standingOf(
  project: Pick<RunsOf, 'as'> & Pick<Workshop, 'claims'>,
  agent: AgentPrincipal,
  claimed: Pick<Claimed, 'view' | 'item'>,
): Promise<Standing> {
  const view = await viewOf(project, agent, claimed.view.run);
  if (claimed.item !== null && (view === null || view.status === 'active')) {
    const { key } = claimed.item;
    const leases = await project.claims.leases(agent.name);
    const held = leases.some(({ run, item }) => run === claimed.view.run && item === key);
    return { kind: held ? 'left' : 'item_done', view: view ?? claimed.view };
  }
  if (view === null) return { kind: 'taken', view };
  if (view.status !== 'active') return { kind: view.status, view };
  return view.holder === agent.name ? { kind: 'left', view } : { kind: 'taken', view: null };
}

async function viewOf(
  project: Pick<RunsOf, 'as'>,
  agent: AgentPrincipal,
  run: string,
): Promise<RunView | null> {
  try {
    return await project.as(agent).view(run);
  } catch (error) {
    if (error instanceof PhasegateError && error.code === 'not_permitted') return null;
    throw error;
  }
}
