import { isJsonObject, type Json, own } from '@phasegate/core';
import { actText } from '@phasegate/core/contract';
import { assertion as assertionSchema } from '@phasegate/wire/schemas';
import type { Assertion, UnlockedHuman } from '../../../runtime/ports.ts';
import { CredentialRefused } from '../credentialRefusals.ts';
import type { HumanSession, RestParts } from '../parts.ts';
import { RequestRefused } from '../problem.ts';
import type { ActRequest } from './actRequest.ts';
import type { Challenges } from './challenges.ts';

/** The assertion in a body; undefined where there is none. Throws where there is something else, or a passphrase too. */
export function assertionIn(body: Json): Assertion | undefined {
  const given = isJsonObject(body) ? own(body, 'passkey') : undefined;
  if (given === undefined) return undefined;
  const read = assertionSchema.safeParse(given);
  if (!read.success || own(body, 'passphrase') !== undefined) {
    const message = read.success ? 'goes without `passphrase`: one proof is enough' : 'is not an assertion';
    throw new RequestRefused('request_invalid', `\`passkey\` ${message}`, {
      fields: [{ field: 'passkey', message }],
    });
  }
  const { id, nonce, authenticator_data, client_data_json, signature } = read.data;
  return {
    id,
    nonce,
    authenticatorData: authenticator_data,
    clientDataJson: client_data_json,
    signature,
  };
}

/** What an act is, to a passkey that proves it, where it leaves no signature of its own: all of its request. */
export function requestText(
  { method, path, query, body }: ActRequest,
  { name }: Pick<HumanSession, 'name'>,
): string {
  const { passkey: _passkey, passphrase: _passphrase, ...rest } = isJsonObject(body) ? body : { body };
  return actText({ act: `${method.toUpperCase()} ${path}`, query, body: rest, by: name });
}

/** The human of a session, proven by a passkey for the one act whose text this is. */
export async function provenBy(
  assertion: Assertion,
  text: () => Promise<string>,
  {
    session,
    challenges,
    project,
    settings,
  }: Pick<RestParts, 'project' | 'settings'> & {
    readonly session: HumanSession;
    readonly challenges: Challenges;
  },
): Promise<UnlockedHuman> {
  // Spent before anything else is looked at: two requests with one assertion must not both be let in.
  if (!(await challenges.spend(session.id, 'act', assertion.nonce))) {
    throw new CredentialRefused('credential_invalid', 'the challenge was used already or is too old', {
      record: { credential: 'passkey', principal: `human:${session.name}`, reason: 'challenge_spent' },
      hint: 'ask for a new one and use the passkey again',
    });
  }
  // Where there are no passkeys, none was challenged; an empty origin is nobody's.
  const origin = settings.passkeys?.origin ?? '';
  return project.passkeys.prove(session.name, { text: await text(), origin }, assertion);
}
