import { expect, test } from 'vitest';
import { connect, makeTestBed } from '../fixtures/connect.ts';

test('searches of one agent are done one at a time, so many wait, and no other agent waits for them [adv.O5]', async () => {
  const bed = await makeTestBed({ 'docs/locks.md': '# Locks\n\nHold one at a time.\n' });
  const parts = (name: string) => ({ ...bed.parts({ kind: 'agent', name }), agent: name });
  const hanging = Promise.withResolvers<void>();
  let [inside, most] = [0, 0];
  const { standards } = parts('ada');
  const slow = {
    ...standards,
    search: async (query: Parameters<typeof standards.search>[0]) => {
      most = Math.max(most, ++inside);
      await hanging.promise;
      return standards.search(query).finally(() => inside--);
    },
  };
  const ada = await connect({ ...parts('ada'), standards: slow }, { era: 'legacy' });
  const bob = await connect(parts('bob'), { era: 'legacy' });
  const query = { query: 'locks' };
  const found = { results: [expect.objectContaining({ file: 'docs/locks.md' })] };

  const searches = Array.from({ length: 17 }, () => ada.call('search_standards', query));
  expect(await ada.call('search_standards', query)).toMatchObject({
    error: 'rate_limited',
    message: '`ada` has too many searches under way',
  });
  expect(await bob.call('search_standards', query)).toMatchObject(found);

  hanging.resolve();
  for (const done of await Promise.all(searches)) expect(done).toMatchObject(found);
  expect(most).toBe(1);
});
