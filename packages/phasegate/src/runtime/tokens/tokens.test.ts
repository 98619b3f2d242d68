import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { cases as countOf } from '../../../../../test/tier.ts';
import type { TokenSecrets } from '../keys.ts';
import { TOKEN_FAULTS, type TokenFault, tokenRefused } from './tokenFaults.ts';
import { createTokens, type TokenRequest, type Tokens } from './tokens.ts';

const secrets: TokenSecrets = {
  current: { kid: 'k2', secret: Buffer.alloc(32, 2).toString('base64url') },
  previous: { kid: 'k1', secret: Buffer.alloc(32, 1).toString('base64url') },
};
const request: TokenRequest = {
  task_id: 'run-1',
  phase: 'TDD',
  allowed_tools: ['read_files', 'write_files'],
  agent_id: 'local',
  epoch: 4,
  expirySeconds: 7200,
};
const start = Date.parse('2026-01-01T00:00:00.500Z');
let clock: number;
let tokens: Tokens;

beforeEach(() => {
  clock = start;
  tokens = createTokens({ secrets, now: () => clock });
});

describe('a phase token', () => {
  test('carries run, phase, tools, agent, epoch and item, and is good for two hours [S2.13 S2.33 S2.34 C8]', async () => {
    const { token, jti, expiresAt } = await tokens.issue({ ...request, item: 'chapter-3' });

    const claims = await tokens.verify(token);
    expect(claims).toEqual({
      task_id: 'run-1',
      phase: 'TDD',
      allowed_tools: ['read_files', 'write_files'],
      agent_id: 'local',
      epoch: 4,
      item: 'chapter-3',
      jti,
      iat: Math.floor(start / 1000),
      exp: Math.floor(start / 1000) + 7200,
    });
    expect(expiresAt).toBe('2026-01-01T02:00:00.000Z');
    expect(payloadOf(token)).toMatchObject({ iss: 'phasegate', aud: 'phasegate' });
  });

  test('is signed with HS256 under a named key [S2.35]', async () => {
    const { token } = await tokens.issue(request);
    expect(headerOf(token)).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'k2' });
    const [header, payload, signature] = token.split('.');
    const expected = createHmac('sha256', Buffer.alloc(32, 2)).update(`${header}.${payload}`);
    expect(signature).toBe(expected.digest('base64url'));
  });

  test('has an id of its own', async () => {
    const [one, two] = [await tokens.issue(request), await tokens.issue(request)];
    expect(one.jti).not.toBe(two.jti);
    expect(one.token).not.toBe(two.token);
  });

  test('keeps a phase that is a number a number, also zero [C2]', async () => {
    const { token } = await tokens.issue({ ...request, phase: 0 });
    expect((await tokens.verify(token, { phase: 0 })).phase).toBe(0);
    await refuses(token, 'other_phase', { phase: '0' });
  });

  test('dies when its time is over, also when it was seen before [adv.H7]', async () => {
    const { token } = await tokens.issue(request);
    clock = start + 7_199_000;
    await tokens.verify(token);
    clock = start + 7_200_000;
    await refuses(token, 'expired');
    await expect(createTokens({ secrets, now: () => clock }).verify(token)).rejects.toThrow(
      TOKEN_FAULTS.expired,
    );
  });

  test('serves one run, phase, agent and epoch [S2.38 C8 adv.H7]', async () => {
    const { token } = await tokens.issue(request);
    const purpose = { task_id: 'run-1', phase: 'TDD', agent_id: 'local', epoch: 4 };
    await tokens.verify(token, purpose);
    await refuses(token, 'other_run', { ...purpose, task_id: 'run-2' });
    await refuses(token, 'other_phase', { ...purpose, phase: 'IMPL' });
    await refuses(token, 'other_agent', { ...purpose, agent_id: 'other' });
    await refuses(token, 'dead_epoch', { ...purpose, epoch: 5 });
  });
});

describe('a token of ours', () => {
  test.each([request, { ...request, item: 'the first' }])(
    'is known at once, also to the one who did not issue it [S2.79]: %o',
    async (asked) => {
      const { token } = tokens.issue(asked);
      expect(tokens.check(token)).not.toBeInstanceOf(Promise);
      const elsewhere = createTokens({ secrets, now: () => clock });
      expect(elsewhere.check(token)).not.toBeInstanceOf(Promise);
      expect(await elsewhere.verify(token)).toEqual(await tokens.verify(token));
      expect(elsewhere.known(token)).toEqual(tokens.known(token));
    },
  );

  test('is known at once only as it was signed: what else holds is verified and then known', async () => {
    const { token } = tokens.issue(request);
    const [, payload = ''] = token.split('.');
    const key = Buffer.alloc(32, 2);
    const header = headerOf(token) as object;
    const sign = (text: string) => `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    const others = [
      sign(`${encode({ ...header, cty: 'x' })}.${payload}`),
      sign(`${encode(header)}.${encode({ ...(payloadOf(token) as object), nbf: 0 })}`),
    ];
    for (const other of others) {
      const elsewhere = createTokens({ secrets, now: () => clock });
      expect(elsewhere.known(other)).toBe(null);
      expect(await elsewhere.verify(other)).toMatchObject({ task_id: 'run-1' });
      expect(elsewhere.known(other)).toMatchObject({ task_id: 'run-1' });
    }
  });

  test('says whose it was when its time is over, and nothing is believed of a forged one', async () => {
    const { token, jti } = tokens.issue(request);
    const [header, payload] = token.split('.');
    clock = start + 7_200_000;
    const elsewhere = createTokens({ secrets, now: () => clock });
    for (const office of [tokens, elsewhere]) {
      expect(await office.check(token)).toMatchObject({ ok: false, fault: 'expired', claims: { jti } });
    }
    const forged = `${header}.${payload}.${'A'.repeat(43)}`;
    expect(await elsewhere.check(forged)).toEqual({ ok: false, fault: 'signature', claims: null });
  });

  test('leaves out a list of tools that is too long, and is not made when it would be too large itself', async () => {
    const allowed_tools = Array.from({ length: 500 }, (_, n) => `mcp:server/tool-${n}`);
    const { token } = tokens.issue({ ...request, allowed_tools });
    expect(token.length).toBeLessThan(8192);
    expect(await createTokens({ secrets, now: () => clock }).verify(token)).toMatchObject({
      allowed_tools: [],
    });
    expect(() => tokens.issue({ ...request, item: 'x'.repeat(8192) })).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    );
  });

  test.each([
    ['expired', 'token_expired'],
    ['other_run', 'token_dead'],
    ['other_phase', 'token_dead'],
    ['other_agent', 'token_dead'],
    ['dead_epoch', 'token_dead'],
    ['superseded', 'token_invalid'],
    ['signature', 'token_invalid'],
  ] as const)('that is refused as `%s` is `%s`', (fault, code) => {
    expect(tokenRefused(fault)).toMatchObject({ code, message: TOKEN_FAULTS[fault] });
  });
});

describe('the secret', () => {
  test('comes from the environment where it is set [S2.36]', async () => {
    const ORCHESTRATOR_JWT_SECRET = 'a secret of more than thirty-two bytes';
    const environment = { ORCHESTRATOR_JWT_SECRET };
    const own = createTokens({ secrets, environment, now: () => clock });
    const { token } = await own.issue(request);

    const [header, payload, signature] = token.split('.');
    const expected = createHmac('sha256', ORCHESTRATOR_JWT_SECRET).update(`${header}.${payload}`);
    expect(signature).toBe(expected.digest('base64url'));
    await own.verify(token);
    await createTokens({ secrets, environment, now: () => clock }).verify(token);
    await refuses(token, 'unknown_key');
  });

  test.each(['', 'short', 'x'.repeat(31)])('`%s` of the environment is too short to sign with', (secret) => {
    const environment = { ORCHESTRATOR_JWT_SECRET: secret };
    expect(() => createTokens({ secrets, environment, now: () => clock })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });

  test('before the last rotation still verifies, the one before that no more [S2.39]', async () => {
    const { token } = await tokens.issue(request);
    const rotated = { current: { kid: 'k3', secret: Buffer.alloc(32, 3).toString('base64url') } };
    const once = createTokens({ secrets: { ...rotated, previous: secrets.current }, now: () => clock });
    await once.verify(token);
    expect(headerOf((await once.issue(request)).token)).toMatchObject({ kid: 'k3' });

    const twice = { current: { kid: 'k4', secret: secrets.current.secret }, previous: rotated.current };
    await expect(createTokens({ secrets: twice, now: () => clock }).verify(token)).rejects.toThrow(
      TOKEN_FAULTS.unknown_key,
    );
  });

  test('of the environment can be rotated too [S2.39]', async () => {
    const [before, after] = ['the secret before it was changed', 'the secret after it was changed..'];
    const old = createTokens({
      secrets,
      environment: { ORCHESTRATOR_JWT_SECRET: before },
      now: () => clock,
    });
    const { token } = await old.issue(request);
    const environment = { ORCHESTRATOR_JWT_SECRET: after, ORCHESTRATOR_JWT_SECRET_PREVIOUS: before };
    await createTokens({ secrets, environment, now: () => clock }).verify(token);
  });
});

describe('a token that is not ours is refused with its own reason [adv.H7 S2.41]', () => {
  const claims = { ...request, iss: 'phasegate', aud: 'phasegate', jti: 'j', iat: 0, exp: 4e9 };
  const forge = (header: object, payload: object, secret: string | Buffer = Buffer.alloc(32, 2)) => {
    const text = `${encode(header)}.${encode(payload)}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const good = { alg: 'HS256', kid: 'k2' };
  const cases: readonly (readonly [string, TokenFault, () => string])[] = [
    ['no text', 'malformed', () => ''],
    ['no JWT', 'malformed', () => 'abc'],
    ['two parts', 'malformed', () => `${encode(good)}.${encode(claims)}`],
    ['four parts', 'malformed', () => `${forge(good, claims)}.x`],
    ['a header that is no JSON', 'malformed', () => `!!!.${encode(claims)}.x`],
    ['a payload that is no JSON', 'malformed', () => forgeText(good, 'not json')],
    ['a payload that is a list', 'malformed', () => forge(good, [])],
    ['a critical extension', 'malformed', () => forge({ ...good, crit: ['x'], x: 1 }, claims)],
    ['alg none', 'algorithm', () => `${encode({ alg: 'none', kid: 'k2' })}.${encode(claims)}.`],
    ['alg None', 'algorithm', () => `${encode({ alg: 'None', kid: 'k2' })}.${encode(claims)}.`],
    ['alg HS512', 'algorithm', () => forge({ alg: 'HS512', kid: 'k2' }, claims)],
    ['alg RS256 with a MAC', 'algorithm', () => forge({ alg: 'RS256', kid: 'k2' }, claims)],
    ['no alg', 'algorithm', () => forge({ kid: 'k2' }, claims)],
    ['no kid', 'unknown_key', () => forge({ alg: 'HS256' }, claims)],
    ['another kid', 'unknown_key', () => forge({ alg: 'HS256', kid: 'k9' }, claims)],
    ['a kid from the prototype', 'unknown_key', () => forge({ alg: 'HS256', kid: 'constructor' }, claims)],
    ['another secret', 'signature', () => forge(good, claims, 'x'.repeat(32))],
    ['no signature', 'signature', () => `${encode(good)}.${encode(claims)}.`],
    ["the previous key's signature", 'signature', () => forge(good, claims, Buffer.alloc(32, 1))],
    ['too many bytes', 'too_large', () => forge(good, { ...claims, item: 'x'.repeat(8192) })],
    ['a time that is over', 'expired', () => forge(good, { ...claims, exp: start / 1000 - 1 })],
    ['a time to come', 'not_yet_valid', () => forge(good, { ...claims, nbf: 4e9 })],
    ['an issue in the future', 'not_yet_valid', () => forge(good, { ...claims, iat: 3.9e9 })],
    ['another audience', 'audience', () => forge(good, { ...claims, aud: 'elsewhere' })],
    ['no audience', 'audience', () => forge(good, { ...claims, aud: undefined })],
    ['another issuer', 'issuer', () => forge(good, { ...claims, iss: 'someone' })],
    ['no end', 'claims', () => forge(good, { ...claims, exp: undefined })],
    ['an end that is text', 'claims', () => forge(good, { ...claims, exp: '4000000000' })],
    ['no run', 'claims', () => forge(good, { ...claims, task_id: undefined })],
    ['an empty run', 'claims', () => forge(good, { ...claims, task_id: '' })],
    ['a phase that is null', 'claims', () => forge(good, { ...claims, phase: null })],
    ['a phase that is a fraction', 'claims', () => forge(good, { ...claims, phase: 1.5 })],
    ['tools that are text', 'claims', () => forge(good, { ...claims, allowed_tools: 'bash' })],
    ['tools that are numbers', 'claims', () => forge(good, { ...claims, allowed_tools: [1] })],
    ['an epoch that is text', 'claims', () => forge(good, { ...claims, epoch: '4' })],
    ['an item that is a list', 'claims', () => forge(good, { ...claims, item: [] })],
    ['no id', 'claims', () => forge(good, { ...claims, jti: undefined })],
  ];

  test.each(cases)('%s', async (_, fault, make) => {
    expect(tokens.known(make())).toBe(null);
    await refuses(make(), fault);
  });

  test('the same forge makes a good token out of good parts', async () => {
    expect((await tokens.verify(forge(good, claims))).task_id).toBe('run-1');
  });

  test('an alien token signed by a library with our secret but without our claims', async () => {
    const token = await new SignJWT({ sub: 'me' })
      .setProtectedHeader({ alg: 'HS256', kid: 'k2' })
      .setExpirationTime(4e9)
      .sign(Buffer.alloc(32, 2));
    await refuses(token, 'issuer');
  });

  test('any change of any character', async () => {
    const { token } = await tokens.issue(request);
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 2), fc.constantFrom(...'Az09+/=-_. ~é'), async (at, letter) => {
        const changed = token.slice(0, at) + letter + token.slice(at + 1);
        fc.pre(changed !== token);
        expect(tokens.known(changed)).toBe(null);
        await expect(tokens.verify(changed)).rejects.toMatchObject({ code: 'token_invalid' });
      }),
      { numRuns: countOf({ quick: 100, full: 2000 }) },
    );
  });

  test('any text at all', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(fc.base64String(), { maxLength: 5 }).map((parts) => parts.join('.')),
          fc.jsonValue().map((value) => `${encode({ alg: 'HS256', kid: 'k2' })}.${encode(value)}.AAAA`),
          fc.jsonValue().map((value) => `${encode(value)}.${encode({})}.AAAA`),
        ),
        async (text) => {
          await expect(tokens.verify(text)).rejects.toMatchObject({ code: 'token_invalid' });
        },
      ),
      { numRuns: countOf({ quick: 100, full: 2000 }) },
    );
  });

  function forgeText(header: object, payload: string): string {
    const text = `${encode(header)}.${Buffer.from(payload).toString('base64url')}`;
    return `${text}.${createHmac('sha256', Buffer.alloc(32, 2)).update(text).digest('base64url')}`;
  }
});

async function refuses(token: string, fault: TokenFault, expected?: Parameters<Tokens['verify']>[1]) {
  await expect(tokens.verify(token, expected)).rejects.toMatchObject({
    code: tokenRefused(fault).code,
    message: TOKEN_FAULTS[fault],
  });
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function headerOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
}

function payloadOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
