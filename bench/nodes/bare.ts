/**
 * The same bytes written by nothing but `pg`: `bare.ts DATABASE PAYLOADS`, the payloads as JSON. A transition updates one
 * row and appends one, a check appends one; statements are prepared, and every commit waits for the disk.
 */
import pg from 'pg';
import type { Payload } from '../transitions/bareCommits.ts';
import { contend } from './contender.ts';

const [connectionString = '', given = '{}'] = process.argv.slice(2);
const { transitions, check } = JSON.parse(given) as {
  readonly transitions: readonly Payload[];
  readonly check: string;
};
const MOST = 64;
const clients: pg.Client[] = [];
for (let index = 0; index < MOST; index++) {
  const client = new pg.Client({ connectionString, options: '-c synchronous_commit=on' });
  await client.connect();
  clients.push(client);
}
const first = clients[0] as pg.Client;
await first.query(`CREATE TABLE bare_runs (id bigint PRIMARY KEY, state text) WITH (fillfactor = 80);
  CREATE TABLE bare_audit (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run bigint, record text)`);
const RUNS = 1000;
await first.query("INSERT INTO bare_runs SELECT n, '' FROM generate_series(0, $1) AS n", [RUNS]);

const UPDATE = 'UPDATE bare_runs SET state = $2 WHERE id = $1';
const APPEND = 'INSERT INTO bare_audit (run, record) VALUES ($1, $2)';
const UPDATE_ALL = `UPDATE bare_runs r SET state = u.state FROM unnest($1::bigint[], $2::text[]) AS u(id, state)
  WHERE r.id = u.id`;
const APPEND_ALL =
  'INSERT INTO bare_audit (run, record) SELECT * FROM unnest($1::bigint[], $2::text[]) AS u(run, record)';
let moved = 0;

contend({
  prepare: async () => undefined,
  async go({ work, parallel, together, seconds }) {
    const end = performance.now() + seconds * 1000;
    let count = 0;
    const steps = work === 'transitions' ? oneTransition : oneCheck;
    const all = work === 'transitions' ? manyTransitions : manyChecks;
    const worker = async (client: pg.Client) => {
      for (; performance.now() < end; count += together ? parallel : 1) {
        await client.query('BEGIN');
        await (together ? all(client, parallel) : steps(client));
        await client.query('COMMIT');
      }
    };
    await Promise.all(clients.slice(0, together ? 1 : parallel).map(worker));
    return count;
  },
  close: async () => void (await Promise.all(clients.map((client) => client.end()))),
});

async function oneTransition(client: pg.Client): Promise<void> {
  const [run, payload] = next();
  await client.query({ name: 'update', text: UPDATE, values: [run, payload.state] });
  await client.query({ name: 'append', text: APPEND, values: [run, payload.record] });
}

async function oneCheck(client: pg.Client): Promise<void> {
  await client.query({ name: 'append', text: APPEND, values: [next()[0], check] });
}

async function manyTransitions(client: pg.Client, count: number): Promise<void> {
  const rows = Array.from({ length: count }, next);
  const runs = rows.map(([run]) => run);
  await client.query({ name: 'update all', text: UPDATE_ALL, values: [runs, rows.map(([, p]) => p.state)] });
  await client.query({ name: 'append all', text: APPEND_ALL, values: [runs, rows.map(([, p]) => p.record)] });
}

async function manyChecks(client: pg.Client, count: number): Promise<void> {
  const rows = Array.from({ length: count }, next);
  const values = [rows.map(([run]) => run), rows.map(() => check)];
  await client.query({ name: 'append all', text: APPEND_ALL, values });
}

/** The run whose turn it is, and what its next step writes. */
function next(): readonly [run: number, payload: Payload] {
  moved += 1;
  const payload = transitions[Math.floor(moved / RUNS) % transitions.length] as Payload;
  return [moved % RUNS, payload];
}
