import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';
import { LONGEST_PASSPHRASE } from '@phasegate/core/contract';
import type { Context } from 'hono';
import { CredentialRefused } from './credentialRefusals.ts';
import type { Caller, RestEnv, RouteParts } from './parts.ts';
import { assertionIn, provenBy } from './passkeys/provenAct.ts';
import type { Endpoint } from './routes/endpoint.ts';
import type { SignIn } from './signIn.ts';

/** Lets a human act: the caller as it acts, or what to answer instead is thrown. */
export type Acts = (c: Context<RestEnv>, caller: Caller, route: ActRoute) => Promise<Caller>;

/** What is asked of a route before a human may act by it. */
export type ActRoute = Pick<Endpoint, 'method' | 'asks'>;

/** What an act is proven by. */
export interface ActParts {
  readonly signIn: Pick<SignIn, 'forAct'>;
  readonly parts: Pick<RouteParts, 'project' | 'settings' | 'challenges' | 'textOf'>;
}

/**
 * What changes something is a human's own act. A session that a browser sends by itself, or that a link opened, shows a
 * fresh proof with each: the passphrase, which is used for that one act and kept nowhere, or a passkey that signed it.
 */
export function createActs({ signIn, parts }: ActParts): Acts {
  return async (c, caller, { method, asks }) => {
    if (caller.kind !== 'human' || method === 'get' || asks === true) return caller;
    const { session } = caller;
    const body = c.get('body');
    const assertion = assertionIn(body);
    if (assertion !== undefined) {
      const act = { method: c.req.method, path: c.req.path, query: c.req.query(), body };
      const text = () => parts.textOf(act, session);
      const human = await provenBy(assertion, text, { session, ...parts });
      return { kind: 'human', session: { ...session, human } };
    }
    const passphrase = passphraseIn(body);
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
      'this session shows things only: an act needs the passphrase or a passkey',
      {
        record: { credential: 'human', principal: `human:${session.name}`, reason: 'no_passphrase' },
        hint: 'send `passphrase` or `passkey` in the body, or sign in with the passphrase and `bearer`',
      },
    );
  };
}

function passphraseIn(body: Json): string | undefined {
  const passphrase = isJsonObject(body) ? own(body, 'passphrase') : undefined;
  // Anything else is told as a problem of that field when the body is read.
  return typeof passphrase === 'string' && passphrase.length <= LONGEST_PASSPHRASE ? passphrase : undefined;
}
