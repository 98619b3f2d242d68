import { expect, test } from 'vitest';
import { connectionSettings } from './connectionSettings.ts';

test('an address says where, as whom and how a database is connected to', () => {
  expect(connectionSettings('postgres://ada:s%40x@127.0.0.1:5555/runs')).toEqual({
    host: '127.0.0.1',
    port: 5555,
    user: 'ada',
    password: 's@x',
    database: 'runs',
    ssl: false,
    schema: 'public',
    shown: 'postgres://ada@127.0.0.1:5555/runs',
    bare: 'postgres://ada@127.0.0.1:5555/runs',
  });
});

test('an address is shown with the schema that it names, and without the password', () => {
  expect(
    connectionSettings('postgres://ada:secret@db.example/runs?sslmode=require&schema=one'),
  ).toMatchObject({
    shown: 'postgres://ada@db.example/runs?schema=one',
    bare: 'postgres://ada@db.example/runs',
  });
});

test('a database elsewhere is spoken to by TLS and its certificate is verified, unless the address says otherwise', () => {
  const tls = (address: string) => connectionSettings(address).ssl;

  expect(tls('postgres://db.example/runs')).toEqual({});
  expect(tls('postgres://db.example/runs?sslmode=verify-full')).toEqual({});
  expect(tls('postgres://db.example/runs?sslmode=require')).toEqual({ rejectUnauthorized: false });
  expect(tls('postgres://db.example/runs?sslmode=disable')).toBe(false);
  expect(tls('postgresql:///runs?host=/run/postgresql')).toBe(false);
  expect(tls('postgres://localhost/runs?sslmode=verify-full')).toEqual({});
  expect(tls('postgres://127.evil.example/runs')).toEqual({});
  expect(tls('postgres://[::1]/runs')).toBe(false);
});

test.each([
  ['mysql://x/y', 'it cannot be read'],
  ['postgres://', 'it names no database'],
  ['postgres://ada:secret@h:port/y', 'it cannot be read'],
  ['postgres://h/y?sslmode=prefer', 'its `sslmode` is `prefer`'],
  ['postgres://h/y?schema=a"b', 'its `schema` is'],
  ['postgres://h/y?schema=pg_x', 'its `schema` is `pg_x`, which belongs to PostgreSQL itself'],
  ['postgres://h/y?schema=information_schema', 'which belongs to PostgreSQL itself'],
  ['postgres://h/y?options=-c', 'its parameter `options` is not known'],
  ['postgres://h/y?host=127.0.0.1', 'it names a host twice'],
  ['postgres://h/y?hostaddr=127.0.0.1', 'its parameter `hostaddr` is not known'],
  ['postgres://ada:secret100%@h/y', 'a percent sign in it begins no escape'],
  ['postgres://h/y?sslmode=verify-full&sslrootcert=/none', 'its `sslrootcert` cannot be read'],
])('%s is refused, and no password is told', (address, problem) => {
  const refused = (() => {
    try {
      connectionSettings(address);
    } catch (error) {
      return error;
    }
    return undefined;
  })();

  expect(refused).toMatchObject({ code: 'usage', message: expect.stringContaining(problem) });
  expect(String(refused)).not.toContain('secret');
});
