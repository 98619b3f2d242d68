import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openKeys } from '../../packages/phasegate/src/runtime/keys.ts';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, phasegate, type TestProject } from './cli.ts';
import { type Answer, type Served, serve } from './server.ts';
import { shareKeys, startIn, tokenOf, twoNodes } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';

test('a node with other keys is refused by name before it serves, and let in with the keys of the others', async () => {
  const [one, other] = [
    makeProject({ 'agent_workflow.yaml': ERRAND }),
    makeProject({ 'agent_workflow.yaml': ERRAND }),
  ];
  const env = { PHASEGATE_DATABASE: await freshSchema() };
  const run = await startIn(one, env);

  const refused = await phasegate(other, ['runs', '--json'], { env });
  const served = await asProcess(other, ['serve', '--port', '0', '--json'], { env });

  expect(refused).toMatchObject({ code: 1, json: { error: 'store_unavailable' } });
  expect(refused.json.message).toContain('is sealed with other keys than those of this node');
  expect(refused.json.hint).toMatch(/^let PHASEGATE_KEYS_FILE name the file/);
  expect(refused.json.hint).toContain(join(other.stateDir, 'keys.json'));
  expect(served).toMatchObject({ code: 1, json: { message: refused.json.message } });
  // What the database did not take is not kept: the node is as it was.
  expect(existsSync(join(other.stateDir, 'keys.json'))).toBe(false);

  shareKeys(one, other);
  const admitted = await phasegate(other, ['runs', '--json'], { env });
  expect(admitted).toMatchObject({ code: 0, json: { runs: [{ run }] } });
  const { hostname, port, pathname } = new URL(env.PHASEGATE_DATABASE);
  const examined = await phasegate(other, ['doctor', '--json']);
  expect(examined.json.checks).toContainEqual({
    name: 'store',
    status: 'ok',
    message: expect.stringMatching(`^postgres://${hostname}:${port}${pathname}\\?schema=\\w+ opens$`),
  });
});

test('doctor says that a database takes no writes, and serve does not start on it', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { PHASEGATE_DATABASE: await freshSchema() };
  await startIn(project, env);
  const role = `only_${new URL(env.PHASEGATE_DATABASE).searchParams.get('schema')}`;
  await tamper(
    env.PHASEGATE_DATABASE,
    `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'x'; ALTER ROLE ${role} SET default_transaction_read_only = on`,
  );
  const reading = new URL(env.PHASEGATE_DATABASE);
  reading.username = role;
  reading.password = 'x';
  const only = { env: { PHASEGATE_DATABASE: reading.href } };

  const examined = await phasegate(project, ['doctor', '--json'], only);
  const served = await asProcess(project, ['serve', '--port', '0', '--json'], only);

  expect(examined.json.checks).toContainEqual({
    name: 'store',
    status: 'broken',
    message: expect.stringContaining('opens, and takes no writes: it is a replica, or set to read-only'),
    next_step: expect.stringContaining('the primary server'),
  });
  expect(served).toMatchObject({ code: 1, json: { error: 'store_unavailable' } });
  expect(served.json.message).toContain('it takes no writes');
});

test.runIf(FULL)(
  'nodes that share a file of keys take the tokens of each other, also when it is rotated while they serve',
  async () => {
    const [one, other] = [
      makeProject({ 'agent_workflow.yaml': ERRAND }),
      makeProject({ 'agent_workflow.yaml': ERRAND }),
    ];
    const database = { PHASEGATE_DATABASE: await freshSchema() };
    const run = await startIn(one, database);
    const env = { ...database, PHASEGATE_KEYS_FILE: sharedKeysOf(one) };
    const nodes = [await serve(one, [], env), await serve(other, [], env)] as const;
    const added = await phasegate(one, ['agents', 'add', 'ada', '--json'], { env });
    const key = String(added.json.key);
    const before = await tokenOf(nodes[0], key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);

    expect(await checked(nodes[1], before)).toBe(200);
    const passphrase = 'open sesame';
    await phasegate(one, ['humans', 'add', 'maria'], { env, passphrase });
    expect((await phasegate(one, ['tokens', 'rotate'], { env, passphrase })).code).toBe(0);
    // A server looks at the file once in a while; only the newest two tokens of an epoch are good.
    let [old, fresh] = [before, before];
    const isSignedAnew = async () => {
      [old, fresh] = [fresh, await tokenOf(nodes[0], key, ['/api/v1/tasks/token', { task_id: run }])];
      return fresh.split('.')[0] !== old.split('.')[0];
    };
    await expect.poll(isSignedAnew, { timeout: 20_000 }).toBe(true);

    for (const node of nodes) {
      expect(await checked(node, old)).toBe(200);
      expect(await checked(node, fresh)).toBe(200);
    }
  },
);

test.runIf(FULL)(
  'while the file of keys cannot be believed a node refuses every token at every door, and takes them again after',
  async () => {
    const project = makeProject({ 'agent_workflow.yaml': ERRAND });
    const database = { PHASEGATE_DATABASE: await freshSchema() };
    const run = await startIn(project, database);
    const file = sharedKeysOf(project);
    const good = readFileSync(file);
    const env = { ...database, PHASEGATE_KEYS_FILE: file };
    const key = String((await phasegate(project, ['agents', 'add', 'ada', '--json'], { env })).json.key);
    const node = await serve(project, [], env);
    const token = await tokenOf(node, key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);
    const body = { task_id: run };
    const doors = async () => [
      await checked(node, token),
      (await node.send('GET', '/api/v1/state/snapshot', { bearer: token })).status,
      (await node.send('POST', '/api/v1/tasks/token', { bearer: key, body })).status,
    ];
    expect(await checked(node, token)).toBe(200);

    for (const put of [rmSync, half, openToOthers]) {
      put(file);
      await expect.poll(() => checked(node, token), { timeout: 20_000 }).toBe(503);
      for (let round = 0; round < 5; round += 1) expect(await doors()).toEqual([503, 503, 503]);
      const told = await node.send('POST', '/api/v1/tasks/token', { bearer: key, body });
      expect(told.body).toMatchObject({
        error: 'keys_unavailable',
        message: expect.stringContaining('keys'),
        hint: expect.stringContaining('put the file of keys right'),
      });
      expect(JSON.stringify(told.body)).not.toContain(file);
      const readiness = async () => (await node.send('GET', '/readyz')).body.status;
      await expect.poll(readiness, { timeout: 20_000 }).toBe('keys_unavailable');

      writeFileSync(file, good);
      chmodSync(file, 0o600);
      expect(await checked(node, token)).toBe(200);
      await expect.poll(readiness, { timeout: 20_000 }).toBe('ready');
    }
  },
);

test.runIf(FULL)(
  'nodes of one workspace that share its measures move one run by turns, and no token of an earlier epoch passes at either',
  async () => {
    const { project, env: shared, one, two, key } = await twoNodes(ERRAND, await freshSchema());
    expect(one.stderr()).toContain('PHASEGATE_KEYS_FILE is not set');
    await startIn(project, shared);
    const first = await tokenOf(one, key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);
    // Seen by both, so that either has it in its memory.
    expect([await checked(one, first), await checked(two, first)]).toEqual([200, 200]);

    const moved = await left(two, first);
    expect(moved).toMatchObject({ status: 200, body: { phase: 'RETURN' } });
    expect([await checked(one, first), await checked(two, first)]).toEqual([403, 403]);
    expect(await left(one, first)).toMatchObject({ status: 403, body: { error: 'token_dead' } });

    const ended = await left(one, String(moved.body.phase_token));
    expect(ended).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect((await phasegate(project, ['audit', 'verify', '--json'], { env: shared })).json).toMatchObject({
      ok: true,
    });
  },
);

test.each([
  ['start', 'errand'],
  ['serve', '--port', '0'],
])('a folder for measures that an agent could write is refused, at `%s`', async (...words) => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { PHASEGATE_MEASURES: join(project.root, 'measures') };

  const refused = await phasegate(project, [...words, '--json'], { env });

  expect(refused).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(refused.json.message).toContain('PHASEGATE_MEASURES');
});

test('a folder for measures that is not there is not made, as it would be this node’s alone', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const missing = join(project.base, 'not-mounted');

  const refused = await phasegate(project, ['start', 'errand', '--json'], {
    env: { PHASEGATE_MEASURES: missing },
  });

  expect(refused).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(refused.json.message).toContain(`${missing}, which is not there`);
  expect(refused.json.hint).toContain('mkdir -m 700');
  expect(existsSync(missing)).toBe(false);
});

const NOT_KEYS: readonly (readonly [name: string, put: (file: string) => void, refused: string])[] = [
  ['one that is not there', (file) => rmSync(file), 'is not there'],
  ['one that others can read', (file) => chmodSync(file, 0o640), 'can be read or written by others'],
  ['one that is half written', (file) => truncateSync(file, 100), 'it is not JSON'],
  ['one of another project', (file) => writeFileSync(file, someKeys(), { mode: 0o600 }), 'are others than'],
  ['a folder', folderAt, 'is not a file'],
];

test.each(NOT_KEYS)('keys that nodes share are refused where the file is %s', async (_, put, refused) => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await startIn(project, {});
  const file = sharedKeysOf(project);
  const env = { PHASEGATE_KEYS_FILE: file };
  expect((await phasegate(project, ['runs', '--json'], { env })).code).toBe(0);

  put(file);

  const answered = await phasegate(project, ['runs', '--json'], { env });
  expect(answered.code).not.toBe(0);
  expect(answered.json.message).toContain(file);
  expect(answered.json.message).toContain(refused);
  expect(answered.json.hint).toEqual(expect.any(String));
});

test('keys that nodes share are named from outside of the project, and with those of another database refused', async () => {
  const [one, other] = [
    makeProject({ 'agent_workflow.yaml': ERRAND }),
    makeProject({ 'agent_workflow.yaml': ERRAND }),
  ];
  const inside = { PHASEGATE_KEYS_FILE: join(one.root, 'keys.json') };
  expect(await phasegate(one, ['runs', '--json'], { env: inside })).toMatchObject({
    code: 2,
    json: { error: 'usage', message: expect.stringContaining('PHASEGATE_KEYS_FILE') },
  });
  const database = { PHASEGATE_DATABASE: await freshSchema() };
  await startIn(one, database);
  const file = join(other.base, 'shared.json');
  writeFileSync(file, someKeys(), { mode: 0o600 });
  const env = { ...database, PHASEGATE_KEYS_FILE: file };

  const refused = await phasegate(other, ['runs', '--json'], { env });

  expect(refused).toMatchObject({ code: 1, json: { error: 'store_unavailable' } });
  expect(refused.json.message).toContain('is sealed with other keys');
  expect(refused.json.hint).toContain(file);
  copyFileSync(sharedKeysOf(one), file);
  expect((await phasegate(other, ['runs', '--json'], { env })).code).toBe(0);
});

test('keys that were in the state directory before stay there where a database does not take them', async () => {
  const [one, other] = [
    makeProject({ 'agent_workflow.yaml': ERRAND }),
    makeProject({ 'agent_workflow.yaml': ERRAND }),
  ];
  const env = { PHASEGATE_DATABASE: await freshSchema() };
  await startIn(one, env);
  const [file, before] = [join(other.stateDir, 'keys.json'), someKeys()];
  mkdirSync(other.stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, before, { mode: 0o600 });

  const refused = await phasegate(other, ['runs', '--json'], { env });

  expect(refused.json).toMatchObject({ error: 'store_unavailable' });
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('first processes of a node at the same time agree on its keys, and the database on them', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { PHASEGATE_DATABASE: await freshSchema() };

  const all = await Promise.all(
    Array.from({ length: 4 }, () => phasegate(project, ['runs', '--json'], { env })),
  );

  expect(all.map(({ code, json }) => [code, json.message])).toEqual(all.map(() => [0, undefined]));
  expect((await phasegate(project, ['audit', 'verify', '--json'], { env })).json).toMatchObject({ ok: true });
});

test('a command that is not told of the file of keys does not rotate the copy, and doctor shows the file in use', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await startIn(project, {});
  const file = sharedKeysOf(project);
  const [env, passphrase] = [{ PHASEGATE_KEYS_FILE: file }, 'open sesame'];
  await phasegate(project, ['humans', 'add', 'maria'], { env, passphrase });
  const copy = join(project.stateDir, 'keys.json');
  const before = [readFileSync(file, 'utf8'), readFileSync(copy, 'utf8')];

  const refused = await phasegate(project, ['tokens', 'rotate', '--json'], { passphrase });

  expect(refused).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(refused.json.message).toContain(`the keys of this project are taken from \`${file}\``);
  expect(refused.json.hint).toContain('set PHASEGATE_KEYS_FILE=');
  expect([readFileSync(file, 'utf8'), readFileSync(copy, 'utf8')]).toEqual(before);
  const { json } = await phasegate(project, ['doctor', '--json'], { env });
  expect(json.checks).toContainEqual({ name: 'keys', status: 'ok', message: `${file} (mode 0600)` });
  expect((await phasegate(project, ['tokens', 'rotate'], { env, passphrase })).code).toBe(0);
  expect(readFileSync(file, 'utf8')).not.toBe(before[0]);
});

function sharedKeysOf(project: TestProject): string {
  const file = join(project.base, 'shared.json');
  copyFileSync(join(project.stateDir, 'keys.json'), file);
  chmodSync(file, 0o600);
  return file;
}

function someKeys(): string {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-keys-'));
  openKeys(folder);
  return readFileSync(join(folder, 'keys.json'), 'utf8');
}

async function checked(node: Served, token: string): Promise<number> {
  const body = { tool: 'read_files', input: { path: 'agent_workflow.yaml' } };
  return (await node.send('POST', '/api/v1/tools/check', { bearer: token, body })).status;
}

function left(node: Served, token: string): Promise<Answer> {
  return node.send('POST', '/api/v1/tasks/transition', { bearer: token, body: { artifacts: {} } });
}

function half(file: string): void {
  truncateSync(file, 100);
}

function openToOthers(file: string): void {
  chmodSync(file, 0o644);
}

function folderAt(file: string): void {
  rmSync(file);
  mkdirSync(file, { mode: 0o700 });
}
