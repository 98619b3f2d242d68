import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';
import { LONGEST_PASSPHRASE } from '@phasegate/core/contract';
import type { Context } from 'hono';
import { CredentialRefused } from './credentialRefusals.ts';
import type { Caller, RestEnv } from './parts.ts';
import type { Endpoint } from './routes/endpoint.ts';
import type { SignIn } from './signIn.ts';

/** Lets a human act: the caller as it acts, or what to answer instead is thrown. */
export type Acts = (c: Context<RestEnv>, caller: Caller, route: Pick<Endpoint, 'method'>) => Promise<Caller>;

/**
 * What changes something is a human's own act. A session that a browser sends by itself, or that a link opened, shows
 * the passphrase with each; it is taken from the body, used for that one act, and kept nowhere.
 */
export function createActs(signIn: Pick<SignIn, 'forAct'>): Acts {
  return async (c, caller, { method }) => {
    if (caller.kind !== 'human' || method === 'get') return caller;
    const { session } = caller;
    const passphrase = passphraseIn(c.get('body'));
    if (passphrase !== undefined) {
      return { kind: 'human', session: { ...session, human: await signIn.forAct(c, session, passphrase) } };
    }
    if (!session.asksPassphrase) return caller;
    if (session.operator) {
      throw new PhasegateError(
        'no_human',
        'an act from a browser needs a passphrase, and no human is set up',
        {
          hint: 'set one up with `phasegate humans add NAME`',
        },
      );
    }
    throw new CredentialRefused(
      'not_permitted',
      'this session shows things only: an act needs the passphrase',
      {
        record: { credential: 'human', principal: `human:${session.name}`, reason: 'no_passphrase' },
        hint: 'send `passphrase` in the body, or sign in with the passphrase and `bearer`',
      },
    );
  };
}

function passphraseIn(body: Json): string | undefined {
  const passphrase = isJsonObject(body) ? own(body, 'passphrase') : undefined;
  // Anything else is told as a problem of that field when the body is read.
  return typeof passphrase === 'string' && passphrase.length <= LONGEST_PASSPHRASE ? passphrase : undefined;
}
