import { expect, test } from 'vitest';
import { withoutSecrets } from './withoutSecrets.ts';

test('nothing that opens the database of the runs is inherited, under whatever name', () => {
  const url = 'postgres://gate:s3cret%2Fword@db.example/runs?sslmode=require';
  const kept = {
    PATH: '/bin',
    PGHOST: 'db.example',
    DATABASE_URL: 'postgres://app@localhost/app',
    EMPTY: '',
  };
  const secret = {
    PHASEGATE_DATABASE: url,
    PGPASSWORD: 'x',
    pgpassword: 'x',
    PGPASSFILE: '/etc/pgpass',
    PGSERVICE: 'runs',
    PGSERVICEFILE: '/etc/pg_service.conf',
    PGSSLKEY: '/etc/key',
    PGSSLCERT: '/etc/crt',
    PGSSLPASSWORD: 'x',
    RUNS_URL: url,
    START_WORDS: `serve --database ${url}`,
    RUNS_PASSWORD: 's3cret/word',
    OTHER_URL: 'postgres://other:s3cret%2Fword@localhost/runs',
  };

  expect(withoutSecrets({ ...kept, ...secret })).toEqual(kept);
});

test('a database without a password, or with one that is a word of a path, takes nothing else away', () => {
  const kept = { PATH: '/usr/lib/postgres/bin:/bin', HOME: '/home/x' };
  for (const at of ['embedded', 'postgres://gate@db/runs', 'postgres://gate:postgres@db/runs'])
    expect(withoutSecrets({ ...kept, PHASEGATE_DATABASE: at })).toEqual(kept);
});
