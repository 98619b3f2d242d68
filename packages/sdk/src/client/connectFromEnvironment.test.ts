import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectFromEnvironment } from './connectFromEnvironment.ts';
import { type ScriptedServer, scriptedServer, tokenFor } from './fixtures/scriptedServer.ts';

let server: ScriptedServer;
let folder: string;

beforeEach(async () => {
  server = await scriptedServer();
  folder = mkdtempSync(join(tmpdir(), 'phasegate-sdk-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

test('the key and the run of the environment are enough', async () => {
  const token = tokenFor({ task: 'r4' });
  server.script({ status: 200, body: { task: { id: 'r4' }, phase_token: token } }, { status: 200, body: {} });

  await connectFromEnvironment({
    PHASEGATE_URL: server.url,
    PHASEGATE_KEY: 'pgk_a',
    PHASEGATE_RUN: 'r4',
  }).getPhase();

  expect(server.requests).toMatchObject([
    { url: '/api/v1/tasks/token', headers: { authorization: 'Bearer pgk_a' }, body: { task_id: 'r4' } },
    { url: '/api/v1/runs/r4/phase' },
  ]);
});

test('what was handed over at the start is read from its descriptor, as often as it is asked for', async () => {
  const token = tokenFor({ task: 'r5' });
  const file = join(folder, 'credentials');
  writeFileSync(file, JSON.stringify({ key: 'pgk_b', token, task: 'r5' }));
  const descriptor = openSync(file, 'r');
  const env = { PHASEGATE_URL: server.url, PHASEGATE_CREDENTIALS_FD: String(descriptor) };
  server.script({ status: 200, body: {} }, { status: 200, body: {} });

  await connectFromEnvironment(env).getPhase();
  await connectFromEnvironment(env).getPhase();
  closeSync(descriptor);

  expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/api/v1/runs/r5/phase', `Bearer ${token}`],
    ['/api/v1/runs/r5/phase', `Bearer ${token}`],
  ]);
});

test('a reader can be given where the platform has none', async () => {
  const token = tokenFor({ task: 'r6' });
  server.script({ status: 200, body: {} });

  const client = connectFromEnvironment(
    { PHASEGATE_URL: server.url, PHASEGATE_CREDENTIALS_FD: '3' },
    (descriptor) => JSON.stringify({ token, descriptor }),
  );
  await client.getPhase();

  expect(server.requests[0]?.url).toBe('/api/v1/runs/r6/phase');
});

test('a descriptor that is closed or holds nonsense gives nothing; without a key that is an error', () => {
  const bad = () => {
    throw new Error('EBADF');
  };
  const env = { PHASEGATE_URL: server.url, PHASEGATE_CREDENTIALS_FD: '3' };

  expect(() => connectFromEnvironment(env, bad)).toThrow('there is no credential');
  expect(() => connectFromEnvironment(env, () => 'nonsense')).toThrow('there is no credential');
  expect(() => connectFromEnvironment({ ...env, PHASEGATE_KEY: 'pgk_c' }, bad)).not.toThrow();
});

test('without an address there is nothing to connect to', () => {
  expect(() => connectFromEnvironment({ PHASEGATE_KEY: 'pgk_d' })).toThrow('`PHASEGATE_URL` is not set');
});
