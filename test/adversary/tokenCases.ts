import { generateKeyPairSync, sign } from 'node:crypto';
import type { Json, JsonObject } from '@phasegate/core';
import { encoded, forge, type Parts, partsOf, signText, withPart } from './forge.ts';
import { bearer } from './wire.ts';

/** What tokens are made of: one that is good, the secret it is signed with, and those that were good once. */
export interface Mint {
  readonly good: string;
  readonly secret: string;
  /** Of the same run, before it moved on. */
  readonly replayed: string;
  /** Of the same run and epoch, before two newer ones. */
  readonly superseded: string;
  /** Of a run that was stopped. */
  readonly stopped: string;
  /** Of a run that was given back. */
  readonly givenBack: string;
  /** Of an agent whose key was withdrawn. */
  readonly withdrawn: string;
  /** Another run, held by another agent at the same phase and epoch. */
  readonly otherRun: string;
}

/** A request that must be refused. */
export interface TokenCase {
  readonly name: string;
  readonly headers: (mint: Mint) => readonly (readonly [string, string])[];
  readonly query?: (mint: Mint) => string;
  readonly status: 401 | 403;
  readonly error: string;
  /** The fault or reason the audit has. */
  readonly noted: string;
}

type Outcome = Pick<TokenCase, 'status' | 'error' | 'noted'>;

const invalid = (noted: string): Outcome => ({ status: 401, error: 'token_invalid', noted });
const dead = (noted: string): Outcome => ({ status: 403, error: 'token_dead', noted });
const unreadable = (noted: string): Outcome => ({ status: 401, error: 'credential_invalid', noted });

/** A token made from the good one. */
function token(name: string, outcome: Outcome, make: (mint: Mint) => string): TokenCase {
  return { name, headers: (mint) => [bearer(make(mint))], ...outcome };
}

/** The good one with other parts, signed with the right secret: what only a thief of the secret could make. */
function signed(name: string, outcome: Outcome, change: (parts: Parts, mint: Mint) => Parts): TokenCase {
  return token(name, outcome, (mint) => forge(change(partsOf(mint.good), mint), mint.secret));
}

function claiming(name: string, outcome: Outcome, more: (claims: JsonObject, mint: Mint) => JsonObject) {
  return signed(name, outcome, ({ header, claims }, mint) => ({
    header,
    claims: { ...claims, ...more(claims, mint) },
  }));
}

function headed(name: string, outcome: Outcome, more: JsonObject): TokenCase {
  return signed(name, outcome, ({ header, claims }) => ({ header: { ...header, ...more }, claims }));
}

/** The good one with another algorithm and whatever such a token has for a signature. */
function unsigned(alg: Json, signature = ''): TokenCase {
  const name = `alg ${JSON.stringify(alg)}${signature === '' ? '' : ' with a signature'}`;
  return token(name, invalid('algorithm'), ({ good }) => {
    const { header, claims } = partsOf(good);
    return `${encoded({ ...header, alg })}.${encoded(claims)}.${signature}`;
  });
}

function spelled(name: string, noted: string, value: (good: string) => string): TokenCase {
  return { name, headers: ({ good }) => [['Authorization', value(good)]], ...unreadable(noted) };
}

function inUrl(name: string, query: (good: string) => string, header = true): TokenCase {
  return {
    name,
    headers: ({ good }) => (header ? [bearer(good)] : []),
    query: ({ good }) => query(good),
    ...unreadable('in_url'),
  };
}

const seconds = () => Math.floor(Date.now() / 1000);
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PUBLIC_PEM = rsa.publicKey.export({ type: 'spki', format: 'pem' });

function signedByRsa({ good }: Mint): string {
  const { header, claims } = partsOf(good);
  const jwk = rsa.publicKey.export({ format: 'jwk' }) as JsonObject;
  const text = `${encoded({ ...header, alg: 'RS256', jwk })}.${encoded(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), rsa.privateKey).toString('base64url')}`;
}

const WITHOUT_CLAIM = ['task_id', 'phase', 'agent_id', 'epoch', 'jti', 'exp', 'iat', 'allowed_tools'].map(
  (name) =>
    signed(`without \`${name}\``, invalid('claims'), ({ header, claims }) => {
      const { [name]: _gone, ...rest } = claims;
      return { header, claims: rest };
    }),
);

/** Every way to show a token that is not good. */
export const TOKEN_CASES: readonly TokenCase[] = [
  token('forged with another secret', invalid('signature'), ({ good }) =>
    forge(partsOf(good), 'x'.repeat(48)),
  ),
  token('forged with an empty secret', invalid('signature'), ({ good }) => forge(partsOf(good), '')),
  token('its claims changed under its signature', invalid('signature'), ({ good }) =>
    withPart(good, 1, encoded({ ...partsOf(good).claims, allowed_tools: ['bash'] })),
  ),
  token('its header changed under its signature', invalid('signature'), ({ good }) =>
    withPart(good, 0, encoded({ ...partsOf(good).header, x: 1 })),
  ),
  ...['none', 'None', 'NONE', 'nOnE', '', null, 'HS256 ', 'hs256', ['HS256']].map((alg) => unsigned(alg)),
  unsigned('none', 'c2lnbmF0dXJl'),
  unsigned('ES256', Buffer.alloc(64).toString('base64url')),
  unsigned('EdDSA', Buffer.alloc(64).toString('base64url')),
  token('HS384 with the right secret', invalid('algorithm'), ({ good, secret }) => {
    const { header, claims } = partsOf(good);
    return forge({ header: { ...header, alg: 'HS384' }, claims }, secret, 'sha384');
  }),
  token('RS256 by a key of its own header', invalid('algorithm'), signedByRsa),
  token('RS256 confusion: HMAC with a public key', invalid('signature'), ({ good }) =>
    forge(partsOf(good), PUBLIC_PEM),
  ),
  headed('RS256 with the right secret', invalid('algorithm'), { alg: 'RS256' }),
  headed('unknown kid', invalid('unknown_key'), { kid: 'nobody' }),
  headed('kid that is a path', invalid('unknown_key'), { kid: '../../../../dev/null' }),
  headed('kid that is not text', invalid('unknown_key'), { kid: ['env'] }),
  signed('no kid', invalid('unknown_key'), ({ claims }) => ({ header: { alg: 'HS256' }, claims })),
  headed('crit that nobody knows', invalid('malformed'), { crit: ['x'], x: 1 }),
  headed('crit that is empty', invalid('malformed'), { crit: [] }),
  headed('crit b64', invalid('malformed'), { crit: ['b64'], b64: false }),
  claiming('wrong audience', invalid('audience'), () => ({ aud: 'somebody' })),
  claiming('no audience', invalid('audience'), () => ({ aud: [] })),
  claiming('wrong issuer', invalid('issuer'), () => ({ iss: 'somebody' })),
  ...WITHOUT_CLAIM,
  claiming('epoch that is text', invalid('claims'), ({ epoch }) => ({ epoch: String(epoch) })),
  claiming('expired', { status: 401, error: 'token_expired', noted: 'expired' }, () => ({
    iat: seconds() - 7300,
    exp: seconds() - 100,
  })),
  claiming('not valid before tomorrow', invalid('not_yet_valid'), () => ({ nbf: seconds() + 86_400 })),
  claiming('issued tomorrow', invalid('not_yet_valid'), () => ({
    iat: seconds() + 86_400,
    exp: seconds() + 90_000,
  })),
  claiming('of a run that is not there', dead('other_run'), () => ({ task_id: 'run-nobody' })),
  claiming('of another run with its phase and epoch', dead('other_agent'), (_claims, { otherRun }) => ({
    task_id: otherRun,
  })),
  claiming('of another phase', dead('other_phase'), () => ({ phase: 'DONE' })),
  claiming('of another agent', dead('other_agent'), () => ({ agent_id: 'bob' })),
  claiming('of an earlier epoch', dead('dead_epoch'), ({ epoch }) => ({ epoch: Number(epoch) - 1 })),
  claiming('of a later epoch', dead('dead_epoch'), ({ epoch }) => ({ epoch: Number(epoch) + 1 })),
  claiming('of an item where there are none', dead('other_agent'), () => ({ item: 'a' })),
  claiming('with an id that was never given', invalid('superseded'), () => ({ jti: 'made-up' })),
  token('replaced by two newer ones', invalid('superseded'), ({ superseded }) => superseded),
  token('replayed after the transition', dead('dead_epoch'), ({ replayed }) => replayed),
  token('of a run that was stopped', dead('other_phase'), ({ stopped }) => stopped),
  token('of a run that was given back', dead('dead_epoch'), ({ givenBack }) => givenBack),
  token('of an agent whose key was withdrawn', dead('dead_epoch'), ({ withdrawn }) => withdrawn),
  token('its signature cut short', invalid('signature'), ({ good }) => good.slice(0, -3)),
  token('its signature cut off', invalid('signature'), ({ good }) => withPart(good, 2, '')),
  token('its signature spelled otherwise', invalid('malformed'), ({ good }) => respelled(good)),
  token('its claims cut', invalid('signature'), ({ good }) =>
    withPart(good, 1, (good.split('.')[1] ?? '').slice(0, 40)),
  ),
  token('padded', invalid('malformed'), (mint) => `${mint.good}=`),
  token('claims that are no JSON', invalid('malformed'), ({ good, secret }) =>
    signText(`${good.split('.')[0]}.bm90IGpzb24`, secret),
  ),
  claiming('of nine kilobytes', invalid('too_large'), () => ({ filler: 'x'.repeat(7000) })),
  spelled('without its last part', 'malformed', (good) => good.split('.').slice(0, 2).join('.')),
  spelled('cut to nothing', 'malformed', () => 'Bearer'),
  spelled('without a scheme', 'malformed', (good) => good),
  spelled('with another scheme', 'malformed', (good) => `Basic ${good}`),
  spelled('with a scheme too many', 'malformed', (good) => `Bearer Bearer ${good}`),
  spelled('two in one header', 'malformed', (good) => `Bearer ${good} ${good}`),
  spelled('two in one list', 'malformed', (good) => `Bearer ${good}, Bearer ${good}`),
  spelled('a tab for the space', 'malformed', (good) => `Bearer\t${good}`),
  spelled('a space inside', 'malformed', (good) => `Bearer ${good.replace('.', ' .')}`),
  spelled('five parts', 'malformed', (good) => `Bearer ${good}.a.b`),
  spelled('in quotes', 'malformed', (good) => `Bearer "${good}"`),
  {
    name: 'the header twice, both good',
    headers: ({ good }) => [bearer(good), bearer(good)],
    ...unreadable('malformed'),
  },
  {
    name: 'the header twice, the second bad',
    headers: ({ good }) => [bearer(good), ['authorization', 'Bearer x.y.z']],
    ...unreadable('malformed'),
  },
  {
    name: 'in a cookie of its own',
    headers: ({ good }) => [['Cookie', `phase_token=${good}; token=${good}`]],
    ...unreadable('missing'),
  },
  {
    name: "in the cookie of a human's session",
    headers: ({ good }) => [['Cookie', `phasegate_session=${good}`]],
    ...unreadable('unknown'),
  },
  {
    name: 'in the header and in the cookie',
    headers: ({ good }) => [bearer(good), ['Cookie', `phasegate_session=${good}`]],
    ...unreadable('two_credentials'),
  },
  {
    name: 'in another header',
    headers: ({ good }) => [
      ['X-Phase-Token', good],
      ['Proxy-Authorization', `Bearer ${good}`],
    ],
    ...unreadable('missing'),
  },
  inUrl('in the query string', (good) => `token=${good}`, false),
  inUrl('in the query string under another name', (good) => `who=${good}`, false),
  inUrl('in the query string and in the header', (good) => `access_token=${good}`),
];

/** Another text that decodes to the same bytes: the last letter of a signature has bits to spare. */
function respelled(token: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = letters.indexOf(token.at(-1) ?? '');
  return `${token.slice(0, -1)}${letters[last ^ 1]}`;
}
