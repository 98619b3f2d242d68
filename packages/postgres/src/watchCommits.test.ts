import { sampleDraft } from '@phasegate/core/store-contract';
import { expect, test, vi } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { connectionSettings } from './connectionSettings.ts';
import { clientConfig, DATABASE_LIMITS } from './database.ts';
import { openNode } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { GuardedClient } from './guardedClient.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const seal = testSeal();
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** At once, and at some later steps of a connection that is being made. */
const TURNS = [0, 1, 2, 4, 8, 16];

test.each(TURNS)(
  'a node that nobody listens to any more, %i turns after somebody did, can be closed',
  async (turns) => {
    const store = await openPostgresStore({ url: await freshSchema(), seal });
    const stop = store.onCommit(() => undefined);
    for (let left = turns; left > 0; left -= 1) await turn();
    stop();

    await expect(store.close()).resolves.toBeUndefined();
  },
);

test('who listens right after somebody has left hears of what other nodes commit', async () => {
  const url = await freshSchema();
  const [one, other] = [await openNode(url, seal), await openNode(url, seal)];
  other.onCommit(() => undefined)();
  const heard = vi.fn();
  other.onCommit(heard);
  await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 10_000);
  heard.mockClear();

  await one.note(null, [sampleDraft('server_started')]);

  await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 10_000);
});

test.each(TURNS)('who waits for a connection that is ended %i turns later is told', async (turns) => {
  const client = new GuardedClient(clientConfig(connectionSettings(await freshSchema()), DATABASE_LIMITS));
  const made = client.connect().then(
    () => 'made',
    (error: Error) => error.message,
  );
  for (let left = turns; left > 0; left -= 1) await turn();

  await client.end();

  expect(['made', 'the connection was ended while it was made']).toContain(await made);
});
