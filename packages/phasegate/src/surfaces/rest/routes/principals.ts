import { PhasegateError, type Principal } from '@phasegate/core';
import { wrongKind } from '../callers.ts';
import { CredentialRefused } from '../credentialRefusals.ts';
import type { Caller, HumanSession } from '../parts.ts';
import type { Endpoint, Who } from './endpoint.ts';

/** Refuses a caller this route is not for; who calls is bound by the credential alone. */
export function demandCaller(caller: Caller, { who }: Pick<Endpoint, 'who'>): void {
  if (!(who as readonly string[]).includes(caller.kind)) throw wrongKind(caller, whoMayCall(who));
}

/** The credentials that open a route, in words. */
export function whoMayCall(who: readonly Who[]): string {
  return who.map((kind) => NAMES[kind]).join(' or ');
}

const NAMES: Readonly<Record<Who, string>> = {
  agent: 'an agent key',
  token: 'a phase token',
  human: "a human's session",
};

/** A token opens its own run only; trying another with it is on record. */
export function demandOwnRun({ admitted }: Extract<Caller, { kind: 'token' }>, runId: string): void {
  if (admitted.runId === runId) return;
  const { principal, runId: run, phase } = admitted;
  throw new CredentialRefused('token_dead', `the phase token is of another run than \`${runId}\``, {
    record: { credential: 'token', principal: `agent:${principal.name}`, reason: 'other_run', run, phase },
  });
}

/** The human of a session. */
export function humanOf({ session }: Extract<Caller, { kind: 'human' }>): Principal {
  return session.human?.principal ?? { kind: 'human', name: session.name };
}

/** Who signs; a session of nobody in particular cannot. */
export function signerOf({ human }: HumanSession): NonNullable<HumanSession['human']> {
  if (human !== null) return human;
  const message = 'a decision is signed by a human, and this session is nobody in particular';
  throw new PhasegateError('no_human', message, {
    hint: 'set one up with `phasegate humans add NAME`, then sign in with the passphrase',
  });
}
