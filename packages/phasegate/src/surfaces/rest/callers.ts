import type { JsonObject, PhasegateError } from '@phasegate/core';
import { SOCKET_KEY } from '@phasegate/core/contract';
import type { Context, MiddlewareHandler } from 'hono';
import { addressOf } from './address.ts';
import { type CredentialRefusals, CredentialRefused } from './credentialRefusals.ts';
import type { Lines, Stranger } from './lines.ts';
import type { Caller, HumanSession, RestEnv, RestParts } from './parts.ts';
import { agentOfSocket, demandDoor, demandPeer } from './peers.ts';
import { splitPlace } from './place.ts';
import { SESSION_COOKIE, SESSION_PREFIX, type Sessions, type ShownSession } from './sessions.ts';

/**
 * Binds every request to whom its credential speaks for, once, before any route. Nothing else in a request can name
 * a principal. Each waits for its turn before the store is asked: by what its credential proves without the store.
 */
export function createCallers(
  parts: Pick<RestParts, 'project' | 'hooks' | 'settings'>,
  { sessions, refusals, lines }: CallerParts,
): MiddlewareHandler<RestEnv> {
  const { project, hooks, settings } = parts;

  /** Asks the store for nothing but the agents, once for all who wait for them: a good key is in nobody's way. */
  const approach = async (c: Context<RestEnv>): Promise<Approach> => {
    demandNoneInUrl(c);
    const credential = credentialIn(c);
    if (credential === null) {
      return c.env?.local === true ? bound({ kind: 'hook' }) : asStranger('nobody', { kind: 'nobody' });
    }
    demandDoor(credential, { peer: c.env?.peer, ...settings });
    switch (credential.kind) {
      case 'socket':
        return bound({ kind: 'agent', agent: agentOfSocket(c.env?.peer) });
      case 'hook_key':
        return bound(hookWith(credential.secret));
      case 'agent_key':
        return bound(await agentWith(credential.secret));
      case 'session':
        return sessionOf(c, credential.shown);
      case 'phase_token':
        return tokenOf(c, credential.secret);
    }
  };

  const agentWith = async (secret: string): Promise<Caller> => {
    const agent = await project.agents.identify(secret);
    if (agent !== null) return { kind: 'agent', agent };
    throw new CredentialRefused('credential_invalid', 'the agent key is not valid', {
      record: { credential: 'agent_key', reason: 'unknown' },
      guess: true,
    });
  };

  const hookWith = (secret: string): Caller => {
    if (hooks?.isKey(secret) === true) return { kind: 'hook' };
    throw new CredentialRefused('credential_invalid', 'the hook key is not valid', {
      record: { credential: 'hook_key', reason: 'unknown' },
      guess: true,
    });
  };

  /** It was given to the agent that it names; whether it is good still is asked when that agent's turn has come. */
  const tokenOf = async (c: Context<RestEnv>, secret: string): Promise<Approach> => {
    const pending = project.claims.present(secret);
    const { agent, stands, admit } = pending instanceof Promise ? await pending : pending;
    const identify = async (): Promise<Caller> => {
      const admitted = await admit(addressOf(c));
      demandPeer(admitted.principal.name, c.env?.peer);
      return { kind: 'token', admitted };
    };
    if (agent === null) return { line: { kind: 'stranger', as: 'refused' }, identify };
    return { line: stands ? { kind: 'own', name: agent } : { kind: 'perhaps_ended', agent }, identify };
  };

  const sessionOf = (c: Context<RestEnv>, shown: ShownSession): Approach => {
    const name = sessions.holderOf(shown);
    const identify = async (): Promise<Caller> => {
      const session = await sessions.find(shown);
      if (session === null) {
        throw new CredentialRefused('credential_invalid', 'the session is not valid or has ended', {
          record: { credential: 'session', reason: 'unknown' },
          guess: true,
          hint: 'sign in again',
        });
      }
      c.set('signedIn', () => sessions.stands(shown));
      return { kind: 'human', session };
    };
    return { line: name === null ? { kind: 'stranger', as: 'session' } : { kind: 'own', name }, identify };
  };

  /** As `approach`; what is refused already waits among strangers to be told so. */
  const approachOrRefusal = async (c: Context<RestEnv>): Promise<Approach> => {
    try {
      return await approach(c);
    } catch (error) {
      if (!(error instanceof CredentialRefused)) throw error;
      return { line: { kind: 'stranger', as: 'refused' }, identify: () => Promise.reject(error) };
    }
  };

  /** What is known to be refused is counted and written down though there is no room to wait in. */
  const bindAmongStrangers = async (c: Context<RestEnv>, as: Stranger, bind: () => Promise<void>) => {
    let hadTurn = false;
    try {
      await lines.asStranger(c, as, () => {
        hadTurn = true;
        return bind();
      });
    } catch (error) {
      if (!hadTurn && as === 'refused') await bind().catch(() => undefined);
      throw error;
    }
  };

  return async (c, next) => {
    const { line, identify } = await approachOrRefusal(c);
    const bind = async () => {
      try {
        c.set('caller', await identify());
      } catch (error) {
        throw await refusals.settle(c, error);
      }
      // A body that is there already was sent before anybody could have withdrawn anything.
      if (c.env?.incoming?.complete === true) return;
      c.set('identifyAgain', async () => (await approach(c)).identify());
    };
    const goOn = async () => {
      await next();
      // A route asked for a caller of another kind: that is written down before the answer leaves.
      if (c.error instanceof CredentialRefused) await refusals.settle(c, c.error);
    };
    switch (line.kind) {
      case 'own':
        return lines.as(line.name, async () => {
          await bind();
          c.set('begunAs', line.name);
          await goOn();
        });
      case 'perhaps_ended':
        await lines.asPerhapsEnded(line.agent, bind);
        return goOn();
      case 'stranger':
        await bindAmongStrangers(c, line.as, bind);
        return goOn();
      case 'none':
        await bind();
        return goOn();
    }
  };
}

/** What callers are bound by, beside the project. */
export interface CallerParts {
  readonly sessions: Sessions;
  readonly refusals: CredentialRefusals;
  readonly lines: Lines;
}

/** How far a request gets by its credential before its turn. */
interface Approach {
  readonly line: Line;
  /** Who calls; to be asked when its turn has come. Throws where nobody does. */
  identify(): Promise<Caller>;
}

type Line =
  /** That of a principal. */
  | { readonly kind: 'own'; readonly name: string }
  | { readonly kind: 'perhaps_ended'; readonly agent: string }
  | { readonly kind: 'stranger'; readonly as: Stranger }
  /** It is known who calls: the routes have a turn for it. */
  | { readonly kind: 'none' };

function bound(caller: Caller): Approach {
  return { line: { kind: 'none' }, identify: async () => caller };
}

function asStranger(as: Stranger, caller: Caller): Approach {
  return { line: { kind: 'stranger', as }, identify: async () => caller };
}

/**
 * Binds a request anew when its body has come. INVARIANT: a client that takes its time over the body does not outlive
 * the key, the token or the session that it began with.
 */
export async function bindAgain(c: Context<RestEnv>): Promise<void> {
  const identify = c.get('identifyAgain');
  if (identify !== undefined) c.set('caller', await identify());
}

/** The human who calls. Throws `credential_invalid` where nobody does and `not_permitted` where an agent does. */
export function humanOf(c: Context<RestEnv>): HumanSession {
  const caller = c.get('caller');
  if (caller.kind === 'human') return caller.session;
  throw wrongKind(caller, "a human's session");
}

/** Refuses a name in a request that is not the caller's own: it selects nobody. */
export function demandSameAgent(caller: Caller, agentId: string): void {
  const name = nameOf(caller);
  if (caller.kind !== 'human' && name === agentId) return;
  const shown = agentId.length > 64 ? `${agentId.slice(0, 64)}…` : agentId;
  throw new CredentialRefused('not_permitted', `the credential is not that of agent \`${shown}\``, {
    record: { ...about(caller), reason: 'other_agent', named: shown },
  });
}

/** The caller's name for logs and records; null for nobody. */
export function nameOf(caller: Caller): string | null {
  switch (caller.kind) {
    case 'nobody':
      return null;
    case 'agent':
      return caller.agent.principal.name;
    case 'token':
      return caller.admitted.principal.name;
    case 'human':
      return caller.session.name;
    case 'hook':
      return HOOK_NAME;
  }
}

/** No principal can be called this. */
const HOOK_NAME = 'hook:';

/** A refusal that says what is asked for: 401 to nobody, 403 to anybody else. */
export function wrongKind(caller: Caller, asked: string): PhasegateError {
  if (caller.kind === 'nobody') {
    return new CredentialRefused('credential_invalid', `this needs ${asked}`, {
      record: { credential: 'none', reason: 'missing' },
      hint: 'send it as `Authorization: Bearer`',
    });
  }
  return new CredentialRefused('not_permitted', `this needs ${asked}`, {
    record: { ...about(caller), reason: 'wrong_kind' },
  });
}

function about(caller: Caller): JsonObject {
  if (caller.kind === 'hook') return { credential: 'hook_key' };
  const principal = caller.kind === 'human' ? 'human' : 'agent';
  return { credential: caller.kind, principal: `${principal}:${nameOf(caller) ?? ''}` };
}

type Credential =
  | { readonly kind: 'socket' }
  | { readonly kind: 'phase_token' | 'agent_key' | 'hook_key'; readonly secret: string }
  | { readonly kind: 'session'; readonly shown: ShownSession };

/** What a browser shows of its session: the cookie, and the path it came by. */
export function cookieIn(c: Context<RestEnv>): ShownSession {
  const { place } = splitPlace(new URL(c.req.url).pathname);
  const cookies = (c.req.header('cookie') ?? '').split(';').map((pair) => pair.trim());
  const ours = cookies.filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`));
  // By no session's path there is none to be found: that is never a bearer's.
  return { secrets: ours.map((pair) => pair.slice(SESSION_COOKIE.length + 1)), place: place ?? '' };
}

/** What a program shows of its session. */
export function bearerSession(secret: string): ShownSession {
  return { secrets: [secret], place: null };
}

function credentialIn(c: Context<RestEnv>): Credential | null {
  const header = c.req.header('authorization');
  const shown = cookieIn(c);
  const hasCookie = shown.secrets.length > 0;
  if (header === undefined) return hasCookie ? { kind: 'session', shown } : null;
  if (hasCookie) {
    throw malformed('two credentials at once: send a bearer or a cookie', 'two_credentials');
  }
  const secret = /^bearer +([\w.~+/=-]+)$/i.exec(header)?.[1];
  if (secret === undefined)
    throw malformed('`Authorization` must be `Bearer` and one credential', 'malformed');
  if (secret.startsWith(SESSION_PREFIX)) return { kind: 'session', shown: bearerSession(secret) };
  if (secret.startsWith(HOOK_PREFIX)) return { kind: 'hook_key', secret };
  if (secret === SOCKET_KEY) return { kind: 'socket' };
  if (secret.startsWith(AGENT_PREFIX)) return { kind: 'agent_key', secret };
  if (secret.split('.').length === 3) return { kind: 'phase_token', secret };
  throw malformed('the bearer is neither an agent key, nor a phase token, nor a session', 'malformed');
}

function malformed(message: string, reason: string): CredentialRefused {
  return new CredentialRefused('credential_invalid', message, {
    record: { credential: 'unreadable', reason },
    guess: true,
  });
}

const AGENT_PREFIX = 'pgk_';
const HOOK_PREFIX = 'pgh_';
const CREDENTIAL_NAMES = new Set([
  'access_token',
  'api_key',
  'apikey',
  'auth',
  'authorization',
  'bearer',
  'jwt',
  'key',
  'passphrase',
  'password',
  'phase_token',
  'secret',
  'session',
  'token',
]);
const CREDENTIAL_LOOKS = /^(bearer\s|pgk_|pgs_|pgc_|pgh_|eyJ[\w-]*\.[\w-]*\.)/i;

/** A URL ends up in logs, histories and referrers: what is in it is given away already, and never used. */
function demandNoneInUrl(c: Context<RestEnv>): void {
  const start = c.req.url.indexOf('?');
  if (start === -1) return;
  for (const [name, value] of new URLSearchParams(c.req.url.slice(start + 1))) {
    const known = CREDENTIAL_NAMES.has(name.toLowerCase());
    if (!known && !CREDENTIAL_LOOKS.test(value)) continue;
    throw new CredentialRefused('credential_invalid', 'a credential never belongs in a URL', {
      record: { credential: 'in_url', reason: 'in_url', parameter: known ? name.toLowerCase() : 'other' },
      guess: true,
      hint: 'withdraw it, and send the new one as `Authorization: Bearer`',
    });
  }
}
