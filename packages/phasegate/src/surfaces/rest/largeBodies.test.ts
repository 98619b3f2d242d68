import { expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';

const CHECK = '/api/v1/tools/check';
/** In milliseconds. */
const LONGEST_REST = 2000;
const CALL = { tool: 'read_files', input: { path: 'a' } };

test('an agent sends one large body at a time with a rest after it, and waits for no other agent’s [adv.O4 adv.O5]', async () => {
  const door = openDoor();
  const [ada, bob] = [await door.holder('ada'), await door.holder('bob')];
  const held = Promise.withResolvers<void>();
  const answered: string[] = [];
  const send = async (who: string, authorization: string, wait: Promise<void>) => {
    const response = await door.app.request(CHECK, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      body: bodyAfter(wait),
      duplex: 'half',
    } as RequestInit);
    answered.push(`${who} ${response.status}`);
  };

  const first = send('ada first', ada.authorization, held.promise);
  const second = send('ada second', ada.authorization, Promise.resolve());
  await send('bob', bob.authorization, Promise.resolve());
  const small = await door.app.request(CHECK, {
    method: 'POST',
    headers: { authorization: ada.authorization, 'content-type': 'application/json', 'content-length': '60' },
    body: JSON.stringify(CALL),
  });
  expect([small.status, ...answered]).toEqual([200, 'bob 200']);

  held.resolve();
  await first;
  expect(answered).toEqual(['bob 200', 'ada first 200']);
  door.pass(LONGEST_REST);
  await second;
  expect(answered).toEqual(['bob 200', 'ada first 200', 'ada second 200']);
});

test('an agent sends many bodies of some KB freely, and beyond 1 MB together one at a time [adv.O4 adv.O5]', async () => {
  const door = openDoor();
  const [ada, bob] = [await door.holder('ada'), await door.holder('bob')];
  const answered: string[] = [];
  const send = async (who: string, authorization: string, bytes: number) => {
    const body = JSON.stringify(CALL).padEnd(bytes);
    const headers = {
      authorization,
      'content-type': 'application/json',
      'content-length': String(body.length),
    };
    const response = await door.app.request(CHECK, { method: 'POST', headers, body });
    answered.push(`${who} ${response.status}`);
  };
  const many = (count: number, bytes: number) =>
    Promise.all(Array.from({ length: count }, () => send('ada', ada.authorization, bytes)));

  await many(100, 8 * 1024);
  await many(16, 64 * 1024);
  expect(answered.splice(0)).toEqual(Array.from({ length: 116 }, () => 'ada 200'));

  const [first, second] = [many(1, 60_000), many(1, 60_000)];
  await first;
  await send('bob', bob.authorization, 60_000);
  await send('ada small', ada.authorization, 4 * 1024);
  expect(answered.splice(0)).toEqual(['ada 200', 'bob 200', 'ada small 200']);

  door.pass(LONGEST_REST);
  await second;
  // Half a megabyte came back meanwhile.
  await many(8, 60_000);
  expect(answered).toEqual(Array.from({ length: 9 }, () => 'ada 200'));
});

/** A body that comes whole once something has happened. */
function bodyAfter(wait: Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      await wait;
      controller.enqueue(new TextEncoder().encode(JSON.stringify(CALL)));
      controller.close();
    },
  });
}
