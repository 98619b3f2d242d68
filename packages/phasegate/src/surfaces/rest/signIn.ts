import { type JsonObject, PhasegateError } from '@phasegate/core';
import type { Context } from 'hono';
import { addressOf } from './address.ts';
import { type CredentialRefusals, CredentialRefused } from './credentialRefusals.ts';
import type { RestEnv, RestParts } from './parts.ts';
import { RequestRefused } from './problem.ts';
import { createFailureLimit } from './rateLimit.ts';
import type { Opened, Sessions } from './sessions.ts';

/** The two ways in. Both throw what to answer, and have recorded it. */
export interface SignIn {
  withCode(c: Context<RestEnv>, code: string): Promise<Opened>;
  withPassphrase(c: Context<RestEnv>, given: Passphrase): Promise<Opened>;
}

/** What a human types. */
export interface Passphrase {
  /** May be left out where there is one human only. */
  readonly name: string | undefined;
  readonly passphrase: string;
}

/** Signing in, with a limit on how often a passphrase can be tried, as each try is expensive on purpose. */
export function createSignIn(
  parts: Pick<RestParts, 'project' | 'now'>,
  sessions: Sessions,
  refusals: CredentialRefusals,
): SignIn {
  const { project } = parts;
  const tries = createFailureLimit({ limit: MOST_TRIES, windowMs: 60_000, now: parts.now });
  let underWay = 0;

  async function note(c: Context<RestEnv>, { session }: Opened, by: 'link' | 'passphrase'): Promise<void> {
    const data: JsonObject = { by, address: addressOf(c) };
    await project.noteServer('signed_in', { kind: 'human', name: session.name }, data);
  }

  async function unlock({ name, passphrase }: Passphrase) {
    const humans = await project.humans.list();
    if (humans.length === 0) {
      throw new PhasegateError('no_human', 'no human is set up', { hint: 'phasegate init' });
    }
    if (name === undefined && humans.length > 1) {
      const message = 'is needed, as several humans are set up';
      throw new RequestRefused('request_invalid', `\`name\` ${message}`, {
        fields: [{ field: 'name', message }],
      });
    }
    // Who is set up is nobody's business before they have signed in.
    if (name !== undefined && !humans.some((human) => human.name === name)) throw wrong('unknown_human');
    try {
      return await project.humans.unlock(name, passphrase);
    } catch (error) {
      // Recorded by the humans' own room.
      if (error instanceof PhasegateError && error.code === 'credential_invalid') throw wrong(null);
      throw error;
    }
  }

  return {
    async withCode(c, code) {
      const opened = await sessions.redeem(code);
      if (opened === null) {
        throw await refusals.settle(
          c,
          new CredentialRefused('credential_invalid', 'the sign-in link was used already or is too old', {
            record: { credential: 'sign_in_code', reason: 'unknown' },
            guess: true,
            hint: 'the server prints a new one when it starts; or sign in with the passphrase',
          }),
        );
      }
      await note(c, opened, 'link');
      return opened;
    },

    async withPassphrase(c, given) {
      const address = addressOf(c);
      const wait = tries.waitOf(address);
      if (wait !== null) throw tooMany(wait);
      if (underWay >= MOST_AT_ONCE) throw tooMany(1);
      underWay++;
      try {
        const opened = sessions.open(await unlock(given));
        await note(c, opened, 'passphrase');
        return opened;
      } catch (error) {
        if (!(error instanceof CredentialRefused)) throw error;
        tries.failed(address);
        if (error.record.reason === null) throw error;
        throw await refusals.settle(c, error);
      } finally {
        underWay--;
      }
    },
  };
}

const MOST_TRIES = 5;
const MOST_AT_ONCE = 2;

function wrong(reason: string | null): CredentialRefused {
  return new CredentialRefused('credential_invalid', 'the name or the passphrase is wrong', {
    record: { credential: 'passphrase', reason },
  });
}

function tooMany(seconds: number): RequestRefused {
  return new RequestRefused('rate_limited', 'too many sign-ins; wait a little', {
    headers: { 'retry-after': String(seconds) },
  });
}
