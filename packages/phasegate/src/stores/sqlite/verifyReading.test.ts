import { create, sampleDraft } from '@phasegate/core/store-contract';
import { expect, onTestFinished, test } from 'vitest';
import { makeStateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

const TIME = '1970-01-01T00:00:00.000Z';
const ADA = {
  name: 'ada',
  publicKey: 'key',
  wrappedKey: { kdf: 'scrypt', n: 1, r: 1, p: 1, salt: '', iv: '', tag: '', ciphertext: '' },
  addedAt: TIME,
} as const;

test('what is read with a verification is what was verified, whatever is written meanwhile', async () => {
  const state = makeStateFolder();
  onTestFinished(() => state.remove());
  const store = state.open();
  await create(store, sampleRun('r2'));
  await store.note('r2', [sampleDraft('tool_judged', { tool: 'bash' }), sampleDraft('tool_judged')]);
  await store.putHuman(ADA, [sampleDraft('human_added')]);
  const query = { events: ['tool_judged'], since: TIME, limit: 100 } as const;
  const seen: unknown[] = [];

  const report = await store.verify({
    async reading(moment) {
      state.tamper(`UPDATE audit SET data = '{"tool":"forged"}' WHERE event = 'tool_judged'`);
      await store.note('r2', [sampleDraft('tool_judged', { tool: 'later' })]);
      await store.putHuman({ ...ADA, name: 'eve' }, [sampleDraft('human_added')]);
      seen.push(
        (await moment.feedSince(query)).map(({ data }) => data),
        await moment.humans(),
      );
    },
  });
  const broken = await store.verify({ reading: async () => void seen.push('read though it is broken') });

  expect([report.ok, broken.ok]).toEqual([true, false]);
  expect(seen).toEqual([[{ tool: 'bash' }, {}], [{ name: 'ada', publicKey: ADA.publicKey }]]);
  await store.close();
});
