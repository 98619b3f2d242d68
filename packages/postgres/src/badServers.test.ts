import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, onTestFinished, test, vi } from 'vitest';
import { atEndOfFile } from '../../../test/atEndOfFile.ts';
import { freshSchema, sharedServer } from '../../../test/postgres/sharedServer.ts';
import { fileForServer, type PostgresServer, startServer } from '../../../test/postgres/startServer.ts';
import { FULL } from '../../../test/tier.ts';
import { connectionSettings } from './connectionSettings.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const seal = testSeal();
const { sampleRun } = samplesWith((text) => hash('sha256', text));

async function ownServer(settings: readonly string[] = []): Promise<PostgresServer> {
  const server = await startServer(settings);
  atEndOfFile(() => server.remove());
  return server;
}

test('a wrong password, a database that is not there and a port where nobody is are each told by name', async () => {
  const url = new URL(await sharedServer());
  const at = (change: (changed: URL) => void) => {
    const changed = new URL(url);
    change(changed);
    return openPostgresStore({ url: changed.href, seal });
  };

  const refused = await Promise.allSettled([
    at((changed) => {
      changed.password = 'no-such-secret';
    }),
    at((changed) => {
      changed.pathname = '/nowhere';
    }),
    at((changed) => {
      changed.port = '1';
    }),
  ]);

  expect(refused).toMatchObject([
    {
      reason: {
        code: 'store_unavailable',
        message: expect.stringContaining('the password is wrong'),
        hint: expect.stringMatching(/in PGPASSWORD .* in the address/),
      },
    },
    { reason: { code: 'store_unavailable', message: expect.stringContaining('no database of that name') } },
    {
      reason: {
        code: 'store_unavailable',
        message: expect.stringContaining('nothing listens at that address'),
        hint: expect.stringContaining('look whether it runs'),
      },
    },
  ]);
  expect(JSON.stringify(refused)).not.toContain('no-such-secret');
});

test('an address without the password that a server wants is told by name, with where to give it', async () => {
  const url = new URL(await freshSchema());
  const password = decodeURIComponent(url.password);
  url.password = '';
  onTestFinished(() => void vi.unstubAllEnvs());

  vi.stubEnv('PGPASSWORD', undefined);
  await expect(openPostgresStore({ url: url.href, seal })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('it wants a password, and none was given'),
    hint: expect.stringMatching(
      /:PASSWORD@127\.0\.0\.1:\d+\/\w+\?schema=t_\w+'\), or for one command in PGPASSWORD/,
    ),
  });
  vi.stubEnv('PGPASSWORD', password);
  await (await openPostgresStore({ url: url.href, seal })).close();
});

test('a role without the rights is told what to grant it, of a schema, a database and the tables of another', async () => {
  const url = await freshSchema();
  const { schema } = connectionSettings(url);
  await tamper(url, `CREATE ROLE poor_${schema} LOGIN PASSWORD 'x'`);
  const poor = new URL(url);
  poor.username = `poor_${schema}`;
  poor.password = 'x';

  await expect(openPostgresStore({ url: poor.href, seal })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining(`?schema=${schema}\` cannot be used: this user may not do that`),
    hint: expect.stringMatching(/GRANT ALL ON SCHEMA.*GRANT CREATE ON DATABASE.*REASSIGN OWNED BY/),
  });
});

test('a database of a newer version is refused, and nothing in it is changed', async () => {
  const url = await freshSchema();
  await (await openPostgresStore({ url, seal })).close();
  await tamper(url, 'UPDATE phasegate_format SET format = format + 1');

  await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({ code: 'store_newer' });
});

test('a database whose format is none is refused as not ours, and nothing in it is changed', async () => {
  const url = await freshSchema();
  await (await openPostgresStore({ url, seal })).close();
  for (const format of ['-3', 'NULL']) {
    await tamper(url, `UPDATE phasegate_format SET format = ${format}`);

    await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining('has no format that there is'),
      hint: expect.stringContaining('backup'),
    });
  }
});

test('a node goes on where a newer one has added to the tables, and one of its own version is not let in any more', async () => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  await tamper(
    url,
    `ALTER TABLE runs ADD COLUMN later text; ALTER TABLE leases ADD COLUMN later text DEFAULT 'x';
     CREATE TABLE later (one boolean); UPDATE phasegate_format SET format = format + 1`,
  );

  expect(await node.note('r1', [sampleDraft('tool_judged')])).toBe(true);
  expect(await node.load('r1')).toMatchObject({ version: 1 });
  await create(node, sampleRun('r2'));
  expect(await node.verify()).toMatchObject({ ok: true, runs: 2 });
  await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({
    code: 'store_newer',
    hint: expect.stringContaining('the version of Phasegate that the other nodes have'),
  });
});

test('a database that takes no writes is read and verified, and every write is refused', async () => {
  const url = await freshSchema();
  await create(await openNode(url, seal), sampleRun('r1'));
  const { schema } = connectionSettings(url);
  await tamper(
    url,
    `CREATE ROLE reader_${schema} LOGIN SUPERUSER PASSWORD 'x';
     ALTER ROLE reader_${schema} SET default_transaction_read_only = on`,
  );
  const reading = new URL(url);
  reading.username = `reader_${schema}`;
  reading.password = 'x';
  const node = await openNode(reading.href, seal);

  expect(await node.takesWrites?.()).toBe(false);
  expect(await (await openNode(url, seal)).takesWrites?.()).toBe(true);
  expect(await node.load('r1')).toMatchObject({ version: 1 });
  expect(await node.verify()).toMatchObject({ ok: true, runs: 1 });
  await expect(create(node, sampleRun('r2'))).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('it takes no writes'),
  });
});

test('a database that answers too late is given up on in time, and answers again when it can', async () => {
  const url = await freshSchema();
  let slow = false;
  const node = await openNode(url, seal, {
    limits: { statement: 300 },
    intercept: (query) => async (text, values) => {
      if (slow && text.startsWith('SELECT r.id')) await query('SELECT pg_sleep(30)');
      return query(text, values);
    },
  });
  await create(node, sampleRun('r1'));
  slow = true;

  const late = expect.objectContaining({
    code: 'store_unavailable',
    message: expect.stringContaining('in time'),
  });
  await expect(node.load('r1')).rejects.toEqual(late);
  await expect(node.note('r1', [sampleDraft('tool_judged')])).rejects.toEqual(late);
  slow = false;
  expect(await node.note('r1', [sampleDraft('tool_judged')])).toBe(true);
  expect(await node.verify()).toMatchObject({ ok: true, records: 3 });
});

test.runIf(FULL)(
  'while the database is away requests are refused, and when it is back they are answered',
  async () => {
    const server = await ownServer();
    const node = await openNode(server.url(), seal);
    await create(node, sampleRun('r1'));

    await server.stop();
    await expect(node.load('r1')).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(node.note('r1', [sampleDraft('tool_judged')])).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await server.start();

    expect(await node.note('r1', [sampleDraft('tool_judged')])).toBe(true);
    await server.kill();
    await expect(node.load('r1')).rejects.toMatchObject({ code: 'store_unavailable' });
    await server.start();
    expect(await node.load('r1')).toMatchObject({ version: 1 });
    expect(await node.verify()).toMatchObject({ ok: true, records: 3 });
  },
);

test.runIf(FULL)(
  'TLS that is demanded is spoken, its certificate verified where that is asked, or the database refused',
  async () => {
    const server = await ownServer();
    const plain = server.url();
    await expect(openPostgresStore({ url: `${plain}?sslmode=require`, seal })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('it speaks no TLS'),
    });
    await server.stop();
    const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
    const files = ['-keyout', join(server.folder, 'made.key'), '-out', join(server.folder, 'made.crt')];
    execFileSync('openssl', [...words, '-addext', 'subjectAltName=IP:127.0.0.1', ...files], {
      stdio: 'ignore',
    });
    const certificate = readFileSync(join(server.folder, 'made.crt'), 'utf8');
    const crt = fileForServer(server, 'server.crt', certificate);
    const key = fileForServer(server, 'server.key', readFileSync(join(server.folder, 'made.key'), 'utf8'));
    await server.start(['ssl=on', `ssl_cert_file=${crt}`, `ssl_key_file=${key}`]);

    await expect(openPostgresStore({ url: `${plain}?sslmode=verify-full`, seal })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('its certificate is not accepted'),
    });
    const named = `${plain.replace('@127.0.0.1', '@localhost')}?sslrootcert=${crt}`;
    await expect(openPostgresStore({ url: `${named}&sslmode=verify-full`, seal })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('its certificate is for another name: `127.0.0.1`'),
      hint: expect.stringContaining('`sslmode=verify-ca`'),
    });
    await (await openPostgresStore({ url: `${named}&sslmode=verify-ca`, seal })).close();
    for (const tls of ['sslmode=require', `sslmode=verify-full&sslrootcert=${crt}`]) {
      const node = await openNode(`${plain}?${tls}`, seal);
      expect(await node.countLeases()).toBe(0);
    }
    const [row] = await tamper(
      `${plain}?sslmode=require`,
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    expect(row).toEqual({ ssl: true });
  },
);
