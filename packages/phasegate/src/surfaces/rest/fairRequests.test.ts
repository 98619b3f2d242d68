import { expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';

const CHECK = '/api/v1/tools/check';
const BODY = JSON.stringify({ tool: 'read_files', input: { path: 'a' } });

test('a caller with many requests at once keeps nobody else’s waiting for all of them [adv.O5]', async () => {
  const door = openDoor();
  const [mallory, ada] = [await door.holder('mallory'), await door.holder('ada')];
  const answered: string[] = [];
  const ask = async (who: string, { authorization }: { readonly authorization: string }) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await door.app.request(CHECK, { method: 'POST', headers, body: BODY });
    expect(response.status).toBe(200);
    answered.push(who);
  };

  const flood = Array.from({ length: 40 }, () => ask('mallory', mallory));
  await Promise.all([...flood, ask('ada', ada)]);

  expect(answered).toHaveLength(41);
  expect(answered.indexOf('ada')).toBeLessThan(10);
});

test('a caller has at most 256 requests under way, and another one its own [adv.O5]', async () => {
  const door = openDoor();
  const [mallory, ada] = [await door.holder('mallory'), await door.holder('ada')];
  const held = Promise.withResolvers<void>();
  const send = (authorization: string, wait: Promise<void>) =>
    door.app.request(CHECK, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'content-length': String(BODY.length) },
      body: bodyAfter(wait),
      duplex: 'half',
    } as RequestInit);

  const slow = Array.from({ length: 256 }, () => send(mallory.authorization, held.promise));
  const more = await Promise.all([send(mallory.authorization, Promise.resolve())]);
  const other = await send(ada.authorization, Promise.resolve());
  held.resolve();

  expect([more[0]?.status, other.status]).toEqual([429, 200]);
  for (const response of await Promise.all(slow)) expect(response.status).toBe(200);
  expect((await send(mallory.authorization, Promise.resolve())).status).toBe(200);
});

/** A body that comes once something has happened. */
function bodyAfter(wait: Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      await wait;
      controller.enqueue(new TextEncoder().encode(BODY));
      controller.close();
    },
  });
}
