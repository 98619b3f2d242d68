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
