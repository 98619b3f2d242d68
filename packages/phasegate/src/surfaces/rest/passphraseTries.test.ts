import { type Json, type JsonObject, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openDoor, PASSPHRASE } from './fixtures/openDoor.ts';
import { createPassphraseTries } from './passphraseTries.ts';

test('tries of one human are judged one at a time, the sources in turn, and all of loopback is one [adv.P5]', async () => {
  const { tries } = opened();
  const order: string[] = [];
  let atOnce = 0;
  const judge = (name: string) => async () => {
    expect(++atOnce).toBe(1);
    await Promise.resolve();
    order.push(name);
    atOnce--;
    return name;
  };

  await Promise.all([
    ...['127.0.0.1', '127.0.0.2', '::1', '127.9.9.9'].map((source) =>
      tries.take({ human: 'maria', source }, judge('loopback')),
    ),
    tries.take({ human: 'maria', source: '10.0.0.7' }, judge('seven')),
    tries.take({ human: 'maria', source: '10.0.0.8' }, judge('eight')),
  ]);

  expect(order).toEqual(['loopback', 'loopback', 'seven', 'eight', 'loopback', 'loopback']);
});

test('after five wrong ones each answer takes two seconds more, from wherever it comes, up to eight [adv.P5]', async () => {
  const { tries, holds } = opened();
  for (let count = 0; count < 12; count++) {
    await tries.take({ human: 'maria', source: `127.0.0.${count}` }, wrong);
  }

  expect(holds).toEqual([2000, 4000, 6000, 8000, 8000, 8000, 8000]);
});

test("wrong ones are forgotten after ten minutes without any, and are nobody else's", async () => {
  const { tries, holds, pass } = opened();
  for (let count = 0; count < 6; count++) await tries.take({ human: 'maria', source: '::1' }, wrong);
  await tries.take({ human: 'otto', source: '::1' }, wrong);
  pass(10 * 60_000 + 1);
  await tries.take({ human: 'maria', source: '::1' }, wrong);

  expect(holds).toEqual([2000]);
});

test('a right one is answered while wrong ones of the same source are held, and never held itself [adv.P5]', async () => {
  const door = openDoor();
  await door.project.humans.add('maria', PASSPHRASE, null);
  const wrongOnes = Array.from({ length: 12 }, () => signIn(door, 'wrong horse battery'));
  let failed = 0;
  for (const one of wrongOnes) void one.then(({ status }) => (failed += status === 401 ? 1 : 0));

  const right = await signIn(door, PASSPHRASE);

  // No time has passed for the server: those that are held are still held.
  expect(right.status).toBe(201);
  expect(failed).toBe(5);
  door.pass(8_000);
  expect((await Promise.all(wrongOnes)).map(({ status }) => status)).toEqual(Array(12).fill(401));
  expect(await door.noted('credential_failed')).toHaveLength(12);
});

test('passphrases for acts of a browser are tried with those that sign in: wrong ones of both add up [adv.P5]', async () => {
  const door = openDoor();
  await door.project.humans.add('maria', PASSPHRASE, null);
  const { at, cookie } = await door.browser(await door.project.humans.unlock('maria', PASSPHRASE));
  const act = (passphrase: string) =>
    post(door, `${at}/api/v1/agents`, { name: 'ada', passphrase }, { cookie });
  const wrongOnes = Array.from({ length: 12 }, (_, count) =>
    count % 2 === 0 ? act('wrong horse battery') : signIn(door, 'wrong horse battery'),
  );
  let failed = 0;
  for (const one of wrongOnes) void one.then(({ status }) => (failed += status === 401 ? 1 : 0));

  const right = await act(PASSPHRASE);

  expect(right.status).toBe(201);
  const judged = async () =>
    (await door.noted('credential_failed')).filter((data) => own(data as Json, 'human'));
  await expect.poll(judged).toHaveLength(12);
  expect(failed).toBe(5);
  door.pass(8_000);
  expect((await Promise.all(wrongOnes)).map(({ status }) => status)).toEqual(Array(12).fill(401));
});

test('one source has so many in hand and no more; the others are judged all the same', async () => {
  const { tries } = opened({ held: true });
  for (let count = 0; count < 5; count++) await tries.take({ human: 'maria', source: '::1' }, wrong);
  for (let count = 0; count < 64; count++) void tries.take({ human: 'maria', source: '::1' }, wrong);

  expect(await tries.take({ human: 'maria', source: '127.0.0.1' }, right)).toBe('full');
  expect(await tries.take({ human: 'maria', source: '10.0.0.7' }, right)).toBe('right');
  expect(await tries.take({ human: 'maria', source: 'session of maria' }, right)).toBe('right');
});

test('what goes wrong while judging lets the next one have its turn', async () => {
  const { tries } = opened();
  const fault = tries.take({ human: 'maria', source: '::1' }, () => Promise.reject(new Error('no store')));
  const next = tries.take({ human: 'maria', source: '::1' }, right);

  await expect(fault).rejects.toThrow('no store');
  expect(await next).toBe('right');
});

test('what is held is answered when the server ends', async () => {
  const tries = createPassphraseTries({ now: () => 0 });
  for (let count = 0; count < 5; count++) await tries.take({ human: 'maria', source: '::1' }, wrong);
  let judged: () => void = () => undefined;
  const sixth = tries.take({ human: 'maria', source: '::1' }, async () => {
    setImmediate(() => judged());
    return null;
  });
  await new Promise<void>((resolve) => {
    judged = resolve;
  });
  tries.close();

  expect(await sixth).toBeNull();
});

const wrong = async () => null;
const right = async () => 'right';

function opened({ held = false } = {}) {
  let time = 0;
  const holds: number[] = [];
  const tries = createPassphraseTries({
    now: () => time,
    later: async (milliseconds) => {
      holds.push(milliseconds);
      if (held) await new Promise(() => undefined);
    },
  });
  return { tries, holds, pass: (milliseconds: number) => (time += milliseconds) };
}

function signIn(door: ReturnType<typeof openDoor>, passphrase: string): Promise<Response> {
  return post(door, '/api/v1/session', { passphrase, bearer: true });
}

async function post(
  door: ReturnType<typeof openDoor>,
  path: string,
  body: JsonObject,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...more };
  return door.app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}
