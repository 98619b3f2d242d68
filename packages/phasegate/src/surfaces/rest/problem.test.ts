import { ERROR_CODES, type ErrorCode, PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import type { Log } from './parts.ts';
import { problemOf, RequestRefused, STATUS_OF } from './problem.ts';

describe('a problem', () => {
  test.each([
    ['credential_invalid', 401],
    ['token_expired', 401],
    ['token_dead', 403],
    ['not_permitted', 403],
    ['run_unknown', 404],
    ['run_changed', 409],
    ['too_large', 413],
    ['request_invalid', 422],
    ['rate_limited', 429],
    ['store_unavailable', 503],
    ['keys_unavailable', 503],
  ] as const)('of `%s` is answered with %i, as problem+json', async (code, status) => {
    const response = problemOf(new PhasegateError(code, 'this went wrong'), '/api/v1/runs');

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      type: `urn:phasegate:error:${code}`,
      title: ERROR_CODES[code],
      status,
      error: code,
      instance: '/api/v1/runs',
    });
  });

  test('has a status for every fault, and only one is our own', () => {
    const own = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => STATUS_OF[code] === 500);

    expect(Object.keys(STATUS_OF).sort()).toEqual(Object.keys(ERROR_CODES).sort());
    expect(own).toEqual(['internal']);
  });

  test('asks for a bearer where the credential is missing or wrong', () => {
    const response = problemOf(new PhasegateError('credential_invalid', 'no'));

    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="phasegate"');
  });

  test('lists the fields, and carries the headers of its refusal', async () => {
    const fields = [{ field: 'calls.0.tool', message: 'must be a string' }];
    const response = problemOf(
      new RequestRefused('request_invalid', 'no', { status: 415, headers: { 'retry-after': '9' }, fields }),
    );

    expect(response.status).toBe(415);
    expect(response.headers.get('retry-after')).toBe('9');
    expect(await response.json()).toMatchObject({ status: 415, message: 'no', problems: fields });
  });

  test('lists where in which file a definition is wrong', async () => {
    const problem = {
      file: 'a.yaml',
      line: 3,
      column: 5,
      code: 'unknown_key',
      message: 'm',
      severity: 'error',
    } as const;
    const response = problemOf(
      new PhasegateError('workflow_invalid', 'no', { problems: [problem], hint: 'h' }),
    );

    expect(await response.json()).toMatchObject({
      problems: [{ field: 'a.yaml:3:5', file: 'a.yaml', line: 3, column: 5, message: 'm' }],
      hint: 'h',
    });
  });
});

describe('a fault of our own', () => {
  test.each([
    ['an unknown error', new TypeError('secret inside'), 500, 'internal'],
    ['something that is not an error', 'secret inside', 500, 'internal'],
    ['an internal fault', new PhasegateError('internal', 'secret inside'), 500, 'internal'],
    ['the store', new PhasegateError('store_unavailable', '/secret inside'), 503, 'store_unavailable'],
    ['the keys', new PhasegateError('keys_unavailable', '/secret inside'), 503, 'keys_unavailable'],
  ])('says nothing of the inside; the log has it under an id: %s', async (_name, error, status, code) => {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const response = problemOf(error, '/x', logTo(lines));
    const text = await response.text();
    const { id, error: said } = JSON.parse(text) as { id: string; error: string };

    expect(response.status).toBe(status);
    expect(said).toBe(code);
    expect(text).not.toContain('secret inside');
    expect(text).not.toContain('.ts');
    expect(lines).toMatchObject([{ id, cause: expect.stringContaining('secret inside') }]);
  });

  test.each(['store_unavailable', 'keys_unavailable', 'database_busy'] as const)(
    'that may pass says when to ask again and who finds out why: %s',
    async (code) => {
      const response = problemOf(new PhasegateError(code, 'inside', { hint: 'chmod 600 /secret' }));
      const body = (await response.json()) as Readonly<Record<string, string>>;

      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(body).toMatchObject({
        message: ERROR_CODES[code],
        hint: expect.stringContaining('log of this server'),
      });
      expect(JSON.stringify(body)).not.toContain('/secret');
    },
  );

  test('that came after something may have been done invites nobody to repeat it', async () => {
    const hint = 'look before you repeat it';
    const response = problemOf(new PhasegateError('store_unavailable', 'inside', { uncertain: true, hint }));

    expect(response.headers.get('retry-after')).toBeNull();
    expect(await response.json()).toMatchObject({ error: 'store_unavailable', uncertain: true, hint });
  });
});

function logTo(lines: Readonly<Record<string, unknown>>[]): Log {
  const write = (fields: Readonly<Record<string, unknown>>) => void lines.push(fields);
  return { info: write, warn: write, error: write };
}
