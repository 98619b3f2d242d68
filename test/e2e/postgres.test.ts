import { mkdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, startRun, type TestProject } from './cli.ts';
import { serve } from './server.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';

test.each(['sqlite:/somewhere/state.db', 'postgres://u:hush@db.example/runs', 'state.db'])(
  'a move from %s is refused with what to write instead, and without what was written',
  async (from) => {
    const words = ['migrate-store', '--from', from, '--to', 'postgres://db.example/runs', '--json'];
    const { code, json } = await phasegate(makeProject(), words);

    expect({ code, error: json.error }).toEqual({ code: 2, error: 'usage' });
    expect(json.hint).toContain('write `--from sqlite:`');
    expect(JSON.stringify(json)).not.toContain('hush');
  },
);

test('a server keeps its runs in PostgreSQL, and every later command finds them there [S2.78]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const url = await freshSchema();
  const server = await serve(project, ['--database', url]);
  const added = await phasegate(project, ['agents', 'add', 'ada', '--json']);
  const key = String(added.json.key);
  const run = await startRun(project, 'errand', ['--queue']);
  const claimed = await server.send('POST', '/api/v1/tasks/claim', {
    bearer: key,
    body: { agent_id: 'ada' },
  });
  const token = String(claimed.body.phase_token);
  const checked = await server.send('POST', '/api/v1/tools/check', {
    bearer: token,
    body: { tool: 'read_files', input: { path: 'agent_workflow.yaml' } },
  });
  const moved = await server.send('POST', '/api/v1/tasks/transition', {
    bearer: token,
    body: { artifacts: {} },
  });
  const next = String(moved.body.phase_token);
  const ended = await server.send('POST', '/api/v1/tasks/transition', {
    bearer: next,
    body: { artifacts: {} },
  });
  server.kill('SIGTERM');
  await server.ended;

  expect(server.stderr()).toContain('every user of this machine can read the password');
  expect(server.stderr()).not.toContain(new URL(url).password);
  expect([claimed, checked, moved, ended].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(
    (await phasegate(project, ['status', run, '--json'], { env: { PHASEGATE_KEY: key } })).json,
  ).toMatchObject({ status: 'completed' });
  expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true, runs: 1 });
  const file = join(project.stateDir, 'database-url');
  expect(readFileSync(file, 'utf8').trim()).toBe(url);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a project in a file is told how to move: the address for a shell, with its user and without its password', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await phasegate(project, ['start', 'errand', 'x']);
  const env = {
    PHASEGATE_DATABASE: 'postgres://gate:s3cret@db.example:6432/runs?sslmode=require&schema=one',
  };

  const refused = await phasegate(project, ['runs', '--json'], { env });

  expect(refused).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(refused.json.hint).toContain(
    "--to 'postgres://gate@db.example:6432/runs?sslmode=require&schema=one'",
  );
  expect(refused.stdout + refused.stderr).not.toContain('s3cret');
});

test('a project is in one database: another one, or none, is refused by name', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const [one, other] = [await freshSchema(), await freshSchema()];
  const at = (url: string) => ({ env: { PHASEGATE_DATABASE: url } });
  await phasegate(project, ['start', 'errand', 'x'], at(one));

  const elsewhere = await phasegate(project, ['runs'], at(other));
  const embedded = await phasegate(project, ['runs'], at('embedded'));
  const wrong = await phasegate(project, ['runs'], at('mysql://x/y'));

  expect(elsewhere).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the runs of this project are in `postgres://'),
  });
  expect(embedded).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not in `the embedded database`'),
  });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('postgres://USER@HOST/NAME') });
  expect((await phasegate(project, ['runs', '--json'])).json).toMatchObject({
    runs: [{ workflow: 'errand' }],
  });
});

test('runs in a file are not left behind for a database that has none', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await phasegate(project, ['start', 'errand', 'x']);

  const refused = await phasegate(project, ['runs'], { env: { PHASEGATE_DATABASE: await freshSchema() } });

  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('phasegate migrate-store') });
});

/** A project in a file, with a human, an agent and runs in several states. */
async function makeWorked(): Promise<TestProject> {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  for (const goal of ['one', 'two', 'three']) await phasegate(project, ['start', 'errand', goal]);
  const { runs } = (await phasegate(project, ['runs', '--json'])).json as { runs: { run: string }[] };
  await phasegate(project, ['done', runs[0]?.run ?? '']);
  await phasegate(project, ['done', runs[0]?.run ?? '']);
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: 'open sesame' });
  return project;
}

test('runs are moved from the file to PostgreSQL, are verified there, and go on there', async () => {
  const project = await makeWorked();
  const to = await freshSchema();
  const move = (words: readonly string[] = []) =>
    phasegate(project, ['migrate-store', '--to', to, '--as', 'maria', '--json', ...words], {
      passphrase: 'open sesame',
    });
  const before = (await phasegate(project, ['runs', '--json'])).json;
  const verified = (await phasegate(project, ['audit', 'verify', '--json'])).json;

  const moved = await move();

  expect(moved).toMatchObject({ code: 0, json: { runs: 3, records: verified.records, verified: true } });
  // The first who opens it is a node with other keys.
  const stranger = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { PHASEGATE_DATABASE: to };
  expect(await phasegate(stranger, ['runs', '--json'], { env })).toMatchObject({
    code: 1,
    json: { message: expect.stringContaining('is sealed with other keys') },
  });
  expect((await phasegate(project, ['runs', '--json'])).json).toEqual(before);
  expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true, runs: 3 });
  const { runs } = before as { runs: { run: string; status: string }[] };
  const active = runs.find(({ status }) => status === 'active')?.run ?? '';
  expect(await phasegate(project, ['done', active])).toMatchObject({ code: 0 });
  expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true, runs: 3 });
  expect(await move()).toMatchObject({
    code: 2,
    json: {
      message: expect.stringContaining('in PostgreSQL already, in `postgres://'),
      hint: expect.stringContaining('migrate-store --moved'),
    },
  });
});

test.runIf(FULL)('a move that is cut short at its very end is resumed by the same command', async () => {
  const [project, to] = [await makeWorked(), await freshSchema()];
  const move = () =>
    phasegate(project, ['migrate-store', '--to', to, '--as', 'maria', '--json'], {
      passphrase: 'open sesame',
    });
  const before = (await phasegate(project, ['runs', '--json'])).json;
  // Where the address is to be written there is a folder.
  const inTheWay = join(project.stateDir, `database-url.${process.pid}`);
  mkdirSync(inTheWay);
  expect((await move()).code).not.toBe(0);
  expect((await phasegate(project, ['runs', '--json'])).json).toEqual(before);
  rmdirSync(inTheWay);

  expect(await move()).toMatchObject({ code: 0, json: { runs: 3, verified: true } });

  expect((await phasegate(project, ['runs', '--json'])).json).toEqual(before);
  expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true, runs: 3 });
});

test('runs are not moved without a human, into what is not empty, or while a server runs', async () => {
  const [project, used] = [await makeWorked(), await freshSchema()];
  const other = makeProject({ 'agent_workflow.yaml': ERRAND });
  await phasegate(other, ['start', 'errand', 'x'], { env: { PHASEGATE_DATABASE: used } });
  const move = (to: string) =>
    phasegate(project, ['migrate-store', '--to', to, '--as', 'maria', '--json'], {
      passphrase: 'open sesame',
    });

  expect(await phasegate(other, ['migrate-store', '--to', used, '--json'])).toMatchObject({
    json: { error: 'no_human' },
  });
  expect(await move(used)).toMatchObject({
    code: 2,
    json: { message: expect.stringContaining('is not empty') },
  });
  const server = await serve(project);
  expect(await move(await freshSchema())).toMatchObject({ json: { error: 'server_running' } });
  server.kill('SIGTERM');
  await server.ended;
  expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true, runs: 3 });
});
