import { hash } from 'node:crypto';
import { afterDraft, create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test, vi } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));
/** Each of them has been asked often enough by then for the database to keep one plan for good. */
const SAVES = 12;

test('statements that were planned on an empty table never read a whole one', async () => {
  const [url, seal] = [await freshSchema(), testSeal()];
  await (await openNode(url, seal)).close();
  const before = await read(url);
  const node = await openNode(url, seal);
  const run = sampleRun('r1');
  const lease = { run: 'r1', item: null, agent: 'a', epoch: 1, expiresAt: '2026-01-01T00:00:00.000Z' };
  await create(node, run);
  for (let version = 1; version <= SAVES; version += 1) {
    expect((await node.load('r1'))?.version).toBe(version);
    const put = { ...lease, jti: null, previousJti: null };
    const leases = [{ put }];
    const calls = { item: null, void: [], begun: 0 };
    await node.save(afterDraft(run), version, [sampleDraft('phase_completed')], { leases, calls });
    await node.lease('r1', null);
    await node.calls('r1', null);
    await node.renewLease({ ...put, expiresAt: '2026-01-01T00:00:01.000Z' });
  }
  // What was read is told when the one who read it is gone.
  await node.close();
  await vi.waitFor(async () => expect((await read(url)).written).toBeGreaterThan(before.written));

  expect((await read(url)).whole).toEqual(before.whole);
});

interface Counted {
  readonly whole: unknown;
  readonly written: number;
}

async function read(url: string): Promise<Counted> {
  const [row] = await tamper(
    url,
    `SELECT json_object_agg(relname, seq_scan) AS whole,
        sum(n_tup_upd) FILTER (WHERE relname = 'run_heads') AS written
      FROM pg_stat_user_tables WHERE schemaname = current_schema
        AND relname IN ('runs', 'run_heads', 'leases', 'calls', 'calls_begun')`,
  );
  const { whole, written } = row as { readonly whole: unknown; readonly written: unknown };
  return { whole, written: Number(written) };
}
