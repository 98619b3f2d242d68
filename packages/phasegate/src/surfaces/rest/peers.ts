import type { IdentifiedAgent } from '../../runtime/ports.ts';
import { CredentialRefused } from './credentialRefusals.ts';
import type { RestSettings } from './parts.ts';

/** The way a request came in: through the socket of an agent, or not. */
interface Door extends Pick<RestSettings, 'isolation'> {
  readonly peer: string | undefined;
}

/**
 * Refuses a credential at the wrong door. Through an agent's socket comes that agent and nobody else; where the engine
 * is isolated, no agent comes any other way, and none at all when what was verified does not hold any more.
 */
export function demandDoor({ kind }: { readonly kind: string }, { peer, isolation }: Door): void {
  const isHuman = kind === 'session';
  if (peer === undefined) {
    if (isolation === undefined || isHuman || kind === 'socket') return;
    throw refused('agents of this server come through their own sockets, not through a port', {
      reason: 'not_its_socket',
      hint: 'name the socket: `--url unix:/FOLDER/socket`',
    });
  }
  if (isHuman) throw humanAtSocket(peer);
  if (kind === 'agent_key') {
    throw refused('through this socket an agent is known by its user, not by a key', {
      reason: 'key_at_socket',
      hint: 'unset PHASEGATE_KEY',
    });
  }
  const problem = isolation?.problem() ?? null;
  if (problem === null) return;
  throw refused(`the engine is not isolated any more, so no agent is served: ${problem}`, {
    reason: 'not_isolated',
    hint: 'wait: a human must look, with `phasegate isolate check`',
  });
}

/** A human's passphrase does not belong where the agent's own programs run. */
export function humanAtSocket(peer: string): CredentialRefused {
  return refused(`this is the socket of agent \`${peer}\`: humans sign in elsewhere`, {
    reason: 'human_at_socket',
    hint: 'use the address that `phasegate serve` prints',
  });
}

/** Refuses a phase token that another agent was given. */
export function demandPeer(agent: string, peer: string | undefined): void {
  if (peer === undefined || peer === agent) return;
  throw refused('the phase token is not that of the agent of this socket', { reason: 'other_agent' });
}

/** Who connects through an agent's socket. */
export function agentOfSocket(peer: string | undefined): IdentifiedAgent {
  if (peer !== undefined) return { principal: { kind: 'agent', name: peer }, capabilities: null };
  throw new CredentialRefused('credential_invalid', 'this is not the socket of an agent', {
    record: { credential: 'socket', reason: 'no_socket' },
    hint: 'set PHASEGATE_KEY to the key that the agent was given',
  });
}

function refused(
  message: string,
  { reason, hint }: { readonly reason: string; readonly hint?: string },
): CredentialRefused {
  return new CredentialRefused('not_permitted', message, {
    record: { credential: 'socket', reason },
    ...(hint === undefined ? {} : { hint }),
  });
}
