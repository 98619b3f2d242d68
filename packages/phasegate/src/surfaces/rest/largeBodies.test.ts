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
