import { expect, test } from 'vitest';
import { openMemoryProject } from '../../runtime/fixtures/openMemoryProject.ts';
import type { SignInKind, SignInRows } from '../../runtime/ports.ts';
import { memoryRows } from '../../runtime/signIns/memoryRows.ts';
import { ERRAND, PASSPHRASE } from './fixtures/openDoor.ts';
import { createSessions, type Opened, type Sessions } from './sessions.ts';

const HOUR = 3_600_000;

/** Two nodes that share rows, whose uses are written once a minute. */
async function twoNodes() {
  let time = 0;
  const { project } = openMemoryProject(ERRAND);
  await project.humans.add('maria', PASSPHRASE, null);
  const rows: SignInRows = { ...memoryRows(() => time), usedEvery: 60_000 };
  const parts = { project, signIns: await project.signIns() };
  const nodes = [createSessions(parts, rows), createSessions(parts, rows)] as const;
  const maria = await project.humans.unlock('maria', PASSPHRASE);
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { parts, rows, one: nodes[0], two: nodes[1], maria, pass };
}

test('rows have nothing one could sign in or sign by', async () => {
  const { rows, one, maria } = await twoNodes();
  const code = await one.newCode(maria);
  const bearer = opened(await one.open(maria, 'bearer'));
  const cookie = opened(await one.open(maria, 'cookie'));

  const kinds: SignInKind[] = ['session', 'code', 'challenges'];
  const kept = JSON.stringify(await Promise.all(kinds.map((kind) => rows.all(kind))));

  expect(kept).toContain('maria');
  for (const secret of [code, bearer.secret, cookie.secret, cookie.place ?? '', PASSPHRASE]) {
    expect(kept).not.toContain(secret);
    expect(kept).not.toContain(secret.slice(4));
  }
  const sealed = (await rows.all('session')).map(({ data }) => data.sealed === null);
  expect(sealed.sort()).toEqual([false, true]);
});

test('the key of a bearer goes with its secret, and a row that was put in the place of another signs nothing', async () => {
  const { rows, one, two, maria } = await twoNodes();
  const [mine, other] = [opened(await one.open(maria, 'bearer')), opened(await one.open(maria, 'bearer'))];
  expect((await two.find(shown(mine)))?.human?.sign('yes')).toBe(maria.sign('yes'));

  const [first, second] = await rows.all('session');
  if (first === undefined || second === undefined) throw new Error('there are two');
  await rows.put('session', { key: first.key, data: second.data }, first.data);

  expect((await two.find(shown(mine)))?.human).toBe(null);
  expect((await two.find(shown(mine)))?.asksPassphrase).toBe(true);
  expect((await two.find(shown(other)))?.human?.sign('yes')).toBe(maria.sign('yes'));
});

test('a use is written once a minute, keeps a session alive at every node, and brings back none that was ended', async () => {
  const { parts, rows, one, two, maria, pass } = await twoNodes();
  const cookie = shown(opened(await one.open(maria, 'cookie')));
  const used = async () => (await rows.all('session'))[0]?.data.used;

  pass(59_999);
  await one.find(cookie);
  expect(await used()).toBe(0);
  pass(1);
  await one.find(cookie);
  expect(await used()).toBe(60_000);
  for (let round = 0; round < 3; round += 1) {
    pass(11 * HOUR);
    expect(await (round % 2 === 0 ? two : one).find(cookie)).not.toBe(null);
  }
  pass(60_000);
  const slow: SignInRows = {
    ...rows,
    async get(kind, key) {
      const found = await rows.get(kind, key);
      await two.end(cookie);
      return found;
    },
  };
  // It was read before it was ended, and used after.
  expect(await createSessions(parts, slow).find(cookie)).not.toBe(null);
  expect(await rows.all('session')).toEqual([]);
  expect(await one.find(cookie)).toBe(null);
});

test('while nothing can be written who is signed in may look, for as long as the session lasts, and nobody signs in', async () => {
  const { parts, rows, one, maria, pass } = await twoNodes();
  const cookie = shown(opened(await one.open(maria, 'cookie')));
  const away = async () => Promise.reject(new Error('read-only'));
  const node = createSessions(parts, { ...rows, put: away, drop: away });

  for (let hour = 0; hour < 11; hour += 1) {
    pass(HOUR);
    expect(await node.find(cookie)).toMatchObject({ name: 'maria' });
  }
  await expect(node.open(maria, 'cookie')).rejects.toThrow('read-only');
  pass(HOUR);
  expect(await node.find(cookie)).toBe(null);
  expect(await rows.all('session')).toHaveLength(1);
});

test('nodes that open more sessions at once than there may be end as many, each told by one of them', async () => {
  const { rows, one, two, maria } = await twoNodes();
  for (let count = 0; count < 64; count += 1) await one.open(maria, 'cookie');

  const more = await Promise.all([one, two, one, two].map((node) => node.open(maria, 'cookie')));

  expect(await rows.all('session')).toHaveLength(64);
  const ended = more.map((one) => opened(one).crowdedOut?.id);
  expect(new Set(ended).size).toBe(4);
  expect(ended).not.toContain(undefined);
});

test('a session takes what it has spent of its challenges with it, and a row of nobody goes with the next sign-in', async () => {
  const { rows, one, two, maria, pass } = await twoNodes();
  const first = opened(await one.open(maria, 'cookie'));
  const second = opened(await one.open(maria, 'cookie'));
  for (const key of [first.session.id, second.session.id, 'nobody'])
    await rows.put('challenges', { key, data: { spent: [], over: '' } }, null);

  await two.end(shown(first));
  expect((await rows.all('challenges')).map(({ key }) => key)).toEqual([second.session.id, 'nobody']);
  await two.open(maria, 'cookie');
  expect((await rows.all('challenges')).map(({ key }) => key)).toEqual([second.session.id]);
  pass(12 * HOUR);
  await two.open(maria, 'cookie');
  expect(await rows.all('challenges')).toEqual([]);
  expect(await rows.all('session')).toHaveLength(1);
});

test('who signs in with a passphrase while it is changed is signed in by neither, and a link ends with it', async () => {
  const { parts, one, two, maria } = await twoNodes();
  const link = await one.newCode(maria);
  // Judged with the old passphrase; and before a session was made of it, the passphrase was another.
  await parts.project.humans.changePassphrase('maria', PASSPHRASE, 'another long passphrase');

  expect(await two.open(maria, 'bearer')).toBe(null);
  expect(await two.open(maria, 'cookie')).toBe(null);
  expect(await two.redeem(link, 'cookie')).toBe(null);
  expect(await two.redeem(await one.newCode(maria), 'cookie')).toBe(null);
  const again = await parts.project.humans.unlock('maria', 'another long passphrase');
  expect(await two.open(again, 'bearer')).not.toBe(null);
  expect(await two.redeem(await one.newCode(again), 'cookie')).not.toBe(null);
});

test('a row that another version wrote in another way is nobody', async () => {
  const { rows, one, maria } = await twoNodes();
  const cookie = opened(await one.open(maria, 'cookie'));
  const [row] = await rows.all('session');
  for (const change of [{ name: 5 }, { since: null }, { used: 'now' }, { place: undefined }]) {
    const data = JSON.parse(JSON.stringify({ ...row?.data, ...change }));
    const key = row?.key ?? '';
    await rows.put('session', { key, data }, await rows.get('session', key));
    expect(await one.find(shown(cookie)), JSON.stringify(change)).toBe(null);
    expect(await one.list()).toEqual([]);
  }
});

function opened(given: Awaited<ReturnType<Sessions['open']>>): Opened {
  if (given === null) throw new Error('nobody was signed in');
  return given;
}

function shown({ secret, place }: Opened) {
  return { secrets: [secret], place };
}
