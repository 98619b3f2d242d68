import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE, PERMISSIVE, PLAN } from './fixtures/workflows.ts';

describe('POST /tools/check', () => {
  test.each([
    ['a tool of the phase', { tool: 'read_files', input: { path: 'a.ts' } }, { allowed: true }],
    [
      'a forbidden tool',
      { tool: 'bash', input: { command: 'ls' } },
      { allowed: false, code: 'tool_forbidden' },
    ],
    [
      'a tool nobody allowed',
      { tool: 'edit_file', input: { path: 'a.ts' } },
      { allowed: false, code: 'tool_not_allowed' },
    ],
    ['a tool nobody knows', { tool: 'teleport', input: {} }, { allowed: false, code: 'tool_unknown' }],
    ['no input', { tool: 'write_files' }, { allowed: false }],
  ])(
    'answers %s with 200 and the verdict [S2.14 S2.22 S2.27 S2.40 S2.42 S2.43 S2.44]',
    async (_name, body, verdict) => {
      const bed = openApiBed(FIVE);
      const { token } = await bed.claimed(await bed.agent('a1'), 'a1');

      const got = await bed.post('/tools/check', token, body);

      expect(got.status).toBe(200);
      expect(got.body).toMatchObject(verdict);
      if (!verdict.allowed)
        expect(got.body).toMatchObject({ reason: expect.any(String), next_action: expect.any(String) });
    },
  );

  test('judges a batch in its order, and records each verdict before it is answered', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { body } = await bed.post('/tools/check', token, {
      calls: [
        { tool: 'bash', input: { command: 'ls' } },
        { tool: 'grep', input: { pattern: 'x' } },
        { tool: 'fetch' },
      ],
    });

    expect((body.results as Json[]).map((one) => own(one, 'allowed'))).toEqual([false, true, false]);
    const judged = (await auditOf(bed, run)).filter(({ event }) => event === 'tool_judged');
    expect(judged).toMatchObject([
      {
        principal: 'agent:a1',
        data: { tool: 'bash', phase: 'PLAN', allowed: false, code: 'tool_forbidden' },
      },
      { principal: 'agent:a1', data: { tool: 'grep', phase: 'PLAN', allowed: true } },
      { principal: 'agent:a1', data: { tool: 'fetch', phase: 'PLAN', allowed: false } },
    ]);
  });

  test('leaves in the audit who asked for what and when, with which token, for which task, in which phase [S2.83]', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
    const [, payload = ''] = token.split('.');
    const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { readonly jti: string };

    // Allowed, forbidden, unknown, and one that no phase could allow.
    const calls = [
      { tool: 'read_files', input: { path: 'a.ts' } },
      { tool: 'bash', input: { command: 'ls' } },
      { tool: 'teleport' },
      { tool: 'read_files', input: { path: 7 } },
    ];
    for (const call of calls) await bed.post('/tools/check', token, call);

    const records = await auditOf(bed, run);
    const judged = records.filter(({ event }) => event === 'tool_judged');
    expect(judged).toMatchObject(
      calls.map(({ tool }) => ({
        run,
        principal: 'agent:a1',
        data: { tool, phase: 'PLAN', token: jti },
      })),
    );
    for (const { time } of judged) expect(new Date(time).toISOString()).toBe(time);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    expect(records.find(({ event }) => event === 'token_issued')).toMatchObject({
      run,
      data: { jti, phase: 'PLAN', expires_at: expect.any(String) },
    });
  });

  test('needs a token: none is 401, a key or a session is 403, and a dead one is refused [S2.41 S2.97]', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const { run, token } = await bed.claimed(key, 'a1');
    const call = { tool: 'read_files', input: { path: 'a' } };
    await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
    await bed.post('/tasks/transition', token, { artifacts: PLAN });

    expect(await bed.post('/tools/check', undefined, call)).toMatchObject({ status: 401 });
    expect(await bed.post('/tools/check', key, call)).toMatchObject({ status: 403 });
    expect(await bed.post('/tools/check', await bed.human(), call)).toMatchObject({ status: 403 });
    expect(await bed.post('/tools/check', `${token}x`, call)).toMatchObject({ status: 401 });
    expect(await bed.post('/tools/check', token, call)).toMatchObject({
      status: 403,
      body: { error: 'token_dead' },
    });
  });

  test('says in permissive mode what it would have refused [C9 S2.91]', async () => {
    const bed = openApiBed(PERMISSIVE);
    const { token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { body } = await bed.post('/tools/check', token, { tool: 'fetch', input: { url: 'x' } });

    expect(body).toMatchObject({ allowed: true, would_refuse: [{ code: 'tool_not_allowed' }] });
  });

  test.each([
    ['neither a tool nor calls', {}, ['tool']],
    ['both', { tool: 'grep', calls: [{ tool: 'grep' }] }, ['calls']],
    ['51 calls', { calls: Array(51).fill({ tool: 'grep', input: {} }) }, ['calls']],
    ['no calls', { calls: [] }, ['calls']],
    ['a tool that is a number, and a field', { tool: 1, path: 'x' }, ['path', 'tool']],
    [
      'calls that are wrong',
      { calls: [{ tool: 'grep', input: [] }, { input: {} }, { tool: '', x: 1 }] },
      ['calls.0.input', 'calls.1.tool', 'calls.2.tool', 'calls.2.x'],
    ],
    ['a name of 10 KB', { tool: 'x'.repeat(10_000) }, ['tool']],
  ])('refuses %s with every field, and judges nothing', async (_name, body, fields) => {
    const bed = openApiBed(FIVE);
    const { token } = await bed.claimed(await bed.agent('a1'), 'a1');
    const before = await bed.records();

    for (const route of ['/tools/check', '/tools/execute']) {
      const got = await bed.post(route, token, body as Json);

      expect(got.status).toBe(422);
      expect((got.body.problems as { field: string }[]).map(({ field }) => field).sort()).toEqual(fields);
    }
    expect(await bed.records()).toBe(before);
  });
});

describe('POST /tools/execute', () => {
  test('carries an allowed call out in the workspace and gives a receipt [S2.17]', async () => {
    const bed = openApiBed(FIVE);
    writeFileSync(join(bed.folder, 'a.txt'), 'hello');
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { status, body } = await bed.post('/tools/execute', token, {
      tool: 'read_files',
      input: { path: 'a.txt' },
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({
      allowed: true,
      result: { ok: true },
      receipt: {
        run,
        phase: 'PLAN',
        agent: 'a1',
        tool: 'read_files',
        ok: true,
        signature: expect.any(String),
      },
    });
    expect(JSON.stringify(body.result)).toContain('hello');
  });

  test('refuses with 200 and neither result nor receipt, and nothing was done [S2.14]', async () => {
    const bed = openApiBed(FIVE);
    const { token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { status, body } = await bed.post('/tools/execute', token, {
      tool: 'write_files',
      input: { path: 'test/a.txt', content: 'x' },
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({ allowed: false, code: 'tool_not_allowed', result: null, receipt: null });
    expect(() => readFileSync(join(bed.folder, 'test/a.txt'))).toThrow();
  });

  test('judges the calls after a refused one all the same, in their order', async () => {
    const bed = openApiBed(FIVE);
    mkdirSync(join(bed.folder, 'test'));
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
    await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
    const { body: next } = await bed.post('/tasks/transition', token, { artifacts: PLAN });

    const { body } = await bed.post('/tools/execute', String(next.phase_token), {
      calls: [
        { tool: 'write_files', input: { path: 'src/no.txt', content: 'no' } },
        { tool: 'write_files', input: { path: 'test/yes.txt', content: 'yes' } },
      ],
    });

    expect(body.results).toMatchObject([
      { allowed: false, result: null, receipt: null },
      { allowed: true, result: { ok: true }, receipt: { tool: 'write_files' } },
    ]);
    expect(readFileSync(join(bed.folder, 'test/yes.txt'), 'utf8')).toBe('yes');
    expect(() => readFileSync(join(bed.folder, 'src/no.txt'))).toThrow();
  });
});

test('GET /tools lists what can be carried out, to anyone who is somebody', async () => {
  const bed = openApiBed(FIVE);
  const key = await bed.agent('a1');

  const { status, body } = await bed.get('/tools', key);

  expect(status).toBe(200);
  expect((body.tools as Json[]).map((tool) => own(tool, 'name'))).toEqual(
    expect.arrayContaining(['read_files', 'write_files', 'edit_file', 'list_files', 'grep', 'bash', 'git']),
  );
  expect((await bed.get('/tools')).status).toBe(401);
});

function auditOf({ project }: ApiBed, run: string) {
  return project.as({ kind: 'human', name: 'operator' }).history(run);
}
