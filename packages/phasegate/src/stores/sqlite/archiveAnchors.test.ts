import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { verifyAudit } from '@phasegate/audit/verify';
import type { Run } from '@phasegate/core';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { expect, onTestFinished, test } from 'vitest';
import type { Seal } from '../../runtime/ports.ts';
import { makeStateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { sqliteSource } from './verifySqlite.ts';

test('what more anchors cost does not grow with the runs that are archived', async () => {
  const state = makeStateFolder();
  onTestFinished(() => state.remove());
  const store = state.open();
  onTestFinished(() => store.close());
  const database = new DatabaseSync(state.file, { readOnly: true });
  onTestFinished(() => database.close());

  const archive = async (ids: readonly string[]) => {
    for (const id of ids) {
      await create(store, sampleRun(id));
      const ended = afterDraft(sampleRun(id), { status: 'completed' } as Partial<Run>);
      await store.save(ended, 1, [sampleDraft('phase_completed', {})], {
        project: [sampleDraft('run_ended', {})],
      });
    }
    const to = { before: '2026-06-01T00:00:00.000Z', file: join(state.folder, `${ids[0]}.jsonl`) };
    expect(await store.archive?.({ ...to, by: 'human:maria' })).toMatchObject({ runs: ids.length });
  };
  const sumsFor = async (anchors: readonly string[]) => {
    let sums = 0;
    const seal: Seal = {
      ...state.seal,
      fingerprint(...head) {
        sums += 1;
        return state.seal.fingerprint(...head);
      },
    };
    const source = sqliteSource(database, state.seal);
    const report = await verifyAudit({ source, seal, knowledge: {}, options: { anchors } });
    expect(report.findings).toEqual([]);
    return sums;
  };
  const sumsOfMore = async () => {
    const anchors: string[] = [];
    for (let more = 0; more < 5; more += 1) {
      await store.note(null, [sampleDraft('signed_in', {})]);
      anchors.push((await store.verify({ anchor: true })).anchor ?? '');
    }
    return (await sumsFor(anchors)) - (await sumsFor(anchors.slice(-1)));
  };

  await archive(['r1', 'r2']);
  const few = await sumsOfMore();
  await archive(Array.from({ length: 10 }, (_, index) => `more${index}`));
  expect(await sumsOfMore()).toBe(few);
});
