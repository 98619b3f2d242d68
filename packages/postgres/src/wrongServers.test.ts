import { hash } from 'node:crypto';
import { create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { connectionSettings } from './connectionSettings.ts';
import { DATABASE_LIMITS, openDatabase } from './database.ts';
import { storeFault } from './faults.ts';
import { openNode } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { message, method, replaceable, serverSaying, WELCOME } from './fixtures/wrongServer.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const seal = testSeal();
const { sampleRun } = samplesWith((text) => hash('sha256', text));
const NOT_OURS = {
  code: 'store_unavailable',
  message: expect.stringContaining('it answers with what is not the protocol of PostgreSQL'),
  hint: expect.stringContaining('look whether PostgreSQL'),
};
const HTTP = 'HTTP/1.1 400 Bad Request\r\n\r\n';

test.each([
  [7, 'GSSAPI'],
  [9, 'SSPI'],
  [99, 'the method of number 99'],
])(
  'a server that wants to know its user by method %i is told by name, with where that is set',
  async (number, name) => {
    const url = await serverSaying(method(number));

    await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(`it wants this user to be known by ${name}, which is not supported`),
      hint: expect.stringContaining('pg_hba.conf'),
    });
  },
);

test('a server whose mechanisms for passwords are others is told so, with where that is set', async () => {
  const mechanisms = Buffer.concat([method(10).subarray(5), Buffer.from('OAUTHBEARER\0\0')]);
  const url = await serverSaying(message('R', mechanisms));

  await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('in a way that is not supported'),
    hint: expect.stringContaining('pg_hba.conf'),
  });
});

const MALFORMED: readonly (readonly [name: string, said: string | Buffer])[] = [
  ...[...'RSKZENAT'].map((kind) => [`a length of one in ${kind}`, message(kind, '', 1)] as const),
  ...[...'RZKTDA'].map((kind) => [`nothing in ${kind}`, message(kind)] as const),
  ['an error without an end', message('E', 'SFATAL')],
  ['an error without its last zero', message('E', 'SFATAL\0')],
  ['a notice without an end', message('N', 'x')],
  ['a longer error than there is', message('E', 'SFATAL\0\0 ')],
  ['a method with too much', message('R', '\0\0\0\0more')],
  ['a kind that there is not', message('?', 'x')],
  ['more than there can be', message('E', '', 0xffffffff)],
  ['a row that nobody asked for', message('D', '\0\0')],
  ['a row of less than no columns', message('D', Buffer.from([0xff, 0xff]))],
  ['HTTP', HTTP],
];

test.each(MALFORMED)('a server that says %s when it is connected to is not waited for', async (_, said) => {
  const url = await serverSaying(said);

  await expect(openPostgresStore({ url, seal, limits: { connect: 60_000 } })).rejects.toMatchObject(NOT_OURS);
});

test.each(MALFORMED.filter(([name]) => name !== 'a row that nobody asked for'))(
  'a server that answers a statement with %s fails it, on every kind of connection',
  async (_, said) => {
    const limits = { ...DATABASE_LIMITS, statement: 60_000 };
    const url = await serverSaying(WELCOME, said);
    const database = openDatabase(connectionSettings(url), limits);
    const client = database.client({ patient: true });
    await client.connect();

    const failed = await Promise.allSettled([
      database.query('SELECT 1'),
      database.writing((query) => query('SELECT 1')),
      client.query('SELECT 1'),
    ]);

    for (const one of failed) {
      expect(one.status).toBe('rejected');
      expect(storeFault((one as PromiseRejectedResult).reason, url)).toMatchObject({
        code: 'store_unavailable',
      });
    }
    await Promise.all([database.close(), client.end()]);
  },
);

test('a server that lets everybody in and is silent then is given up on in time', async () => {
  const url = await serverSaying(WELCOME);

  await expect(openPostgresStore({ url, seal, limits: { statement: 100, late: 0 } })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('it did not answer in time'),
  });
});

test('messages are read as well where they come byte by byte', async () => {
  const error = message('E', 'SFATAL\0C28000\0Mno\0\0');
  const url = await serverSaying(error.subarray(0, 3));
  const whole = await serverSaying(error);

  await expect(openPostgresStore({ url, seal, limits: { connect: 100 } })).rejects.toMatchObject({
    message: expect.stringContaining('it did not answer in time'),
  });
  await expect(openPostgresStore({ url: whole, seal })).rejects.toMatchObject({
    message: expect.stringContaining('this user, or this way to connect, is refused'),
  });
});

test('an error in words of its own is told with them', async () => {
  const url = await serverSaying(message('E', 'Mthe pool is full\0\0'));

  await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('the pool is full'),
  });
});

test('a node whose server comes to say what it cannot read refuses, and goes on when that is over', async () => {
  const way = await replaceable(await freshSchema());
  const node = await openNode(way.url, seal);
  await create(node, sampleRun('r1'));
  const told: unknown[] = [];
  node.onCommit(() => told.push(true));

  for (const instead of [method(7), message('E', '', 1), message('?')]) {
    way.replace(instead);
    const refused = { code: 'store_unavailable' };
    await expect(node.load('r1')).rejects.toMatchObject(refused);
    await expect(node.note('r1', [sampleDraft('tool_judged')])).rejects.toMatchObject(refused);
    await expect(node.duty?.isMine()).rejects.toMatchObject(refused);
    way.replace(null);
    expect(await node.note('r1', [sampleDraft('tool_judged')])).toBe(true);
  }
  expect(await node.verify()).toMatchObject({ ok: true, records: 5 });
});

test.each([
  ['HTTP', [HTTP]],
  ['an error', [message('E', 'SFATAL\0C28000\0Mno\0\0')]],
  ['more than that it speaks TLS', [`S${HTTP}`]],
  ['that it speaks TLS, and then something else', ['S', HTTP]],
])('where TLS is demanded, a server that says %s is not one, in one line', async (_, said) => {
  const url = `${await serverSaying(...said)}?sslmode=require`;

  await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^[^\n]*TLS with it failed: [a-zA-Z ]+$/),
    hint: expect.stringContaining('look whether PostgreSQL'),
  });
});
