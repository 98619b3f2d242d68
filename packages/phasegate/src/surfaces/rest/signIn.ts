import { type JsonObject, PhasegateError } from '@phasegate/core';
import type { Context } from 'hono';
import type { UnlockedHuman } from '../../runtime/ports.ts';
import { addressOf } from './address.ts';
import { type CredentialRefusals, CredentialRefused } from './credentialRefusals.ts';
import { noteEnd } from './noteEnd.ts';
import type { HumanSession, RestEnv, RestParts } from './parts.ts';
import type { PassphraseTries } from './passphraseTries.ts';
import { RequestRefused } from './problem.ts';
import type { Carrier, Opened, Sessions } from './sessions.ts';

/** The two ways in, and what a session shows to act. All throw what to answer, and have recorded it. */
export interface SignIn {
  withCode(c: Context<RestEnv>, code: string, carrier: Carrier): Promise<Opened>;
  withPassphrase(c: Context<RestEnv>, given: Passphrase, carrier: Carrier): Promise<Opened>;
  /** The human of a session, for one act. */
  forAct(c: Context<RestEnv>, session: HumanSession, passphrase: string): Promise<UnlockedHuman>;
}

/** What a human types. */
export interface Passphrase {
  /** May be left out where there is one human only. */
  readonly name: string | undefined;
  readonly passphrase: string;
}

/** What signing in is made of. */
export interface SignInParts {
  readonly sessions: Sessions;
  readonly refusals: CredentialRefusals;
  readonly tries: PassphraseTries;
}

/** Signing in, and the passphrase of every act. */
export function createSignIn(
  { project }: Pick<RestParts, 'project'>,
  { sessions, refusals, tries }: SignInParts,
): SignIn {
  async function note(c: Context<RestEnv>, opened: Opened, by: 'link' | 'passphrase'): Promise<void> {
    const { session, crowdedOut } = opened;
    const data: JsonObject = { by, address: addressOf(c), session: session.id };
    await project.server.note('signed_in', { kind: 'human', name: session.name }, data);
    if (crowdedOut !== null) await noteEnd(project, crowdedOut, { by: session.name, how: 'crowded_out' });
  }

  async function whose(name: string | undefined): Promise<string | null> {
    const humans = await project.humans.list();
    const [only, other] = humans;
    if (only === undefined) {
      throw new PhasegateError('no_human', 'no human is set up', { hint: 'phasegate init' });
    }
    if (name === undefined && other !== undefined) {
      const message = 'is needed, as several humans are set up';
      throw new RequestRefused('request_invalid', `\`name\` ${message}`, {
        fields: [{ field: 'name', message }],
      });
    }
    const wanted = name ?? only.name;
    return humans.some((human) => human.name === wanted) ? wanted : null;
  }

  async function unlock(name: string, passphrase: string): Promise<UnlockedHuman | null> {
    try {
      return await project.humans.unlock(name, passphrase);
    } catch (error) {
      if (error instanceof PhasegateError && error.code === 'credential_invalid') return null;
      throw error;
    }
  }

  /** Tries that name nobody wait in a line of their own: who is set up is nobody's business before they signed in. */
  async function judged(name: string | null, source: string, passphrase: string): Promise<UnlockedHuman> {
    const judge = async () => (name === null ? null : unlock(name, passphrase));
    const got = await tries.take({ human: name ?? '', source }, judge);
    if (got === 'full') throw tooMany();
    // A wrong passphrase was recorded by the humans' own room.
    if (got === null) throw wrong(name === null ? 'unknown_human' : null);
    return got;
  }

  return {
    async withCode(c, code, carrier) {
      const opened = await sessions.redeem(code, carrier);
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

    async withPassphrase(c, { name, passphrase }, carrier) {
      try {
        const human = await judged(await whose(name), addressOf(c), passphrase);
        const opened = await sessions.open(human, carrier);
        if (opened === null) throw wrong('unknown_human');
        await note(c, opened, 'passphrase');
        return opened;
      } catch (error) {
        throw await refusals.settle(c, error);
      }
    },

    // Each session has a line of its own: strangers at the same address do not stand before who is signed in.
    forAct: (_c, session, passphrase) => judged(session.name, `session ${session.id}`, passphrase),
  };
}

function wrong(reason: string | null): CredentialRefused {
  return new CredentialRefused('credential_invalid', 'the name or the passphrase is wrong', {
    record: { credential: 'passphrase', reason },
  });
}

function tooMany(): RequestRefused {
  return new RequestRefused('rate_limited', 'too many tries from here wait to be judged; wait a little', {
    headers: { 'retry-after': '2' },
  });
}
