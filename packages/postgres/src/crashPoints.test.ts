import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { cases, FULL } from '../../../test/tier.ts';
import { openKeys } from '../../phasegate/src/runtime/keys.ts';
import { createSeal } from '../../phasegate/src/runtime/seal.ts';
import {
  type CrashPoint,
  committedAt,
  createCrashPoints,
  inTurns,
  leadToEnd,
  whereOf,
} from '../../phasegate/src/stores/fixtures/crashPoints.ts';
import { runScript } from '../../phasegate/src/stores/fixtures/runScript.ts';
import { connectionSettings } from './connectionSettings.ts';
import { tamper } from './fixtures/nodes.ts';
import { rowsAt } from './fixtures/rowsAt.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const SCRIPT = '../../../../postgres/src/fixtures/killedWrites.ts';
/** In the full tier all points of one act; all points of all acts take long. */
const ACTS = cases({ quick: 1, full: 1, long: 1000 });

/** What an act does when nobody kills it. */
interface Reference {
  readonly transactions: readonly (readonly string[])[];
  /** After each transaction: the rows, and what verifying found. */
  readonly left: readonly { readonly rows: unknown; readonly findings: readonly unknown[] }[];
}

test.runIf(FULL)(
  'a node killed at any statement boundary of any kind of transaction leaves what was before it or after it, whole, and another node goes on with it [adv.K3 adv.K5]',
  {
    timeout: 1_800_000,
  },
  async () => {
    // One for all, so that the same is signed and sealed the same way.
    const folder = mkdtempSync(join(tmpdir(), 'phasegate-keys-'));
    const seal = createSeal(openKeys(folder));
    const acts = JSON.parse((await runScript(SCRIPT, ['', folder])).stdout) as readonly string[];
    const references = new Map<string, Reference>();
    const { points, kinds, add } = createCrashPoints();
    await inTurns(acts.slice(0, ACTS), async (act) => {
      const { code, stdout, stderr } = await runScript(SCRIPT, [await freshSchema(), folder, act]);
      expect([code, stderr], act).toEqual([0, '']);
      references.set(act, JSON.parse(stdout));
    });
    for (const [act, { transactions }] of references) add(act, transactions);
    const tried = [...points.values()];

    await inTurns(tried, async (point) => {
      const { act, place, at } = point;
      const where = whereOf(point);
      const url = await freshSchema();
      const { code } = await runScript(SCRIPT, [url, folder, act, String(place), String(at)]);
      expect(code, where).toBeNull();
      await isGone(url);
      const { rows, findings } = leftAt(references.get(act) as Reference, point);
      expect(await rowsAt(url), where).toEqual(rows);
      const store = await openPostgresStore({ url, seal });
      expect((await store.verify()).findings, where).toEqual(findings);
      await leadToEnd(store, where);
      expect((await store.verify()).findings, where).toEqual(findings);
      await store.close();
      await tamper(url, `DROP SCHEMA "${connectionSettings(url).schema}" CASCADE`);
    });

    console.log(`${acts.length} acts, ${kinds.size} kinds of transactions, killed at ${tried.length} points`);
    expect(tried.length).toBeGreaterThan(cases({ quick: 60, full: 60, long: 300 }));
  },
);

function leftAt({ left }: Reference, point: CrashPoint): Reference['left'][number] {
  return left[committedAt(point) - 1] ?? { rows: {}, findings: [] };
}

/** The database ends a transaction whose client is gone when it notices that. */
async function isGone(url: string): Promise<void> {
  const { schema } = connectionSettings(url);
  const connected = `SELECT 1 FROM pg_stat_activity WHERE application_name = '${schema}'`;
  await vi.waitFor(async () => expect(await tamper(url, connected)).toEqual([]), { timeout: 60_000 });
}
