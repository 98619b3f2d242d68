import { hash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '@phasegate/core';
import { afterDraft, create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { FULL } from '../../../test/tier.ts';
import { connectionSettings } from './connectionSettings.ts';
import { DATABASE_LIMITS, openDatabase, PATIENTLY } from './database.ts';
import { openNode } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));
const LIMITS = { statement: 1200, late: 0 };
/** Longer than a statement of a request may take, on the server and here. */
const LONG = 'SELECT pg_sleep(1.5)';

test.runIf(FULL)('what reads or moves all of a large database may take as long as it takes', async () => {
  const [url, seal] = [await freshSchema(), testSeal()];
  const asked: string[] = [];
  const node = await openNode(url, seal, {
    limits: LIMITS,
    fold: (_, events) => (events.length > 1 ? ended() : sampleRun('r1')),
    intercept: (query) => async (text, values) => {
      if (/^(?:SELECT DISTINCT ON|DELETE FROM run_heads)/.test(text)) {
        asked.push(text.slice(0, 6));
        await query(LONG);
      }
      return query(text, values);
    },
  });
  await create(node, sampleRun('r1'));
  await node.save(ended(), 1, [sampleDraft('phase_completed', { phase: 'DRAFT' })], {
    project: [sampleDraft('run_ended', {})],
  });
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-archive-')), 'runs.jsonl');

  const archived = await node.archive?.({ before: '2036-01-01T00:00:00.000Z', file, by: 'human:maria' });

  expect(archived).toMatchObject({ runs: 1 });
  expect(asked).toEqual(['SELECT', 'DELETE']);
});

test('migrations and verifications may take as long as they take, and any other question may not', async () => {
  const database = openDatabase(connectionSettings(await freshSchema()), { ...DATABASE_LIMITS, ...LIMITS });
  const [patient, other] = [database.client({ patient: true }), database.client()];
  await Promise.all([patient.connect(), other.connect()]);
  const reading = database.reading(async (query) => {
    await query(PATIENTLY);
    return query(LONG);
  });

  expect(await Promise.allSettled([patient.query(LONG), reading, other.query(LONG)])).toMatchObject([
    { value: { rowCount: 1 } },
    { value: { count: 1 } },
    { reason: { message: expect.stringContaining('timeout') } },
  ]);

  await Promise.all([patient.end(), other.end(), database.close()]);
});

function ended(): Run {
  return afterDraft(sampleRun('r1'), { status: 'completed' } as Partial<Run>);
}
