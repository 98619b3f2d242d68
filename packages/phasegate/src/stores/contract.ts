import { hash } from 'node:crypto';
import type { Run } from '@phasegate/core';
import type { Store } from '../runtime/ports.ts';
import { AGENT_CLAUSES } from './contractAgents.ts';
import { AUDIT_CLAUSES } from './contractAudit.ts';
import { BACKUP_CLAUSES } from './contractBackups.ts';
import { CALL_CLAUSES } from './contractCalls.ts';
import { type Clause, create, type Expect } from './contractClause.ts';
import { FEED_CLAUSES } from './contractFeed.ts';
import { FINDING_CLAUSES } from './contractFinding.ts';
import { HUMAN_CLAUSES } from './contractHumans.ts';
import { LEASE_CLAUSES, sampleLease } from './contractLeases.ts';
import { RUN_CLAUSES } from './contractRuns.ts';
import { TRUST_CLAUSES } from './contractTrust.ts';
import { WEBHOOK_CLAUSES } from './contractWebhooks.ts';
import { WORKFLOW_CLAUSES } from './contractWorkflows.ts';
import { afterDraft, sampleDraft, samplesWith } from './sampleRun.ts';

const SAMPLES = samplesWith((text) => hash('sha256', text));

/** A store under test. */
export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens what it left behind anew; absent where nothing outlives it. */
  readonly reopen?: () => Promise<Store>;
  cleanup(): Promise<void>;
}

/** The test runner's own words, given by the caller so that none is needed here. */
export interface ContractRunner {
  describe(name: string, suite: () => void): void;
  test(name: string, body: () => Promise<void>): void;
  readonly expect: Expect;
}

/** What every store must do. Run it against an implementation: `storeContract('mine', open, { describe, test, expect })`. */
export function storeContract(name: string, open: () => Promise<OpenedStore>, runner: ContractRunner): void {
  runner.describe(`the ${name} store`, () => {
    for (const clause of CLAUSES) {
      runner.test(clause.name, async () => {
        const opened = await open();
        try {
          await clause.body(opened.store, runner.expect, SAMPLES);
        } finally {
          await opened.store.close();
          await opened.cleanup();
        }
      });
    }
    runner.test('gives back after a restart what was stored, where it stores at all', async () => {
      const opened = await open();
      try {
        await outliveRestart(opened, runner.expect, SAMPLES.sampleRun('r1'));
      } finally {
        await opened.cleanup();
      }
    });
  });
}

async function outliveRestart({ store, reopen }: OpenedStore, expect: Expect, run: Run): Promise<void> {
  await create(store, run);
  await store.save(afterDraft(run), 1, [sampleDraft('phase_completed')], {
    leases: [{ put: sampleLease() }],
  });
  await store.note('r1', [sampleDraft('tool_judged')]);
  const history = await store.history('r1', { after: 0, limit: 10 });
  const feed = await store.feed(0, 10);
  await store.close();
  if (reopen === undefined) return;

  const again = await reopen();
  const stored = await again.load('r1');
  expect(stored).toEqual({ run: afterDraft(run), version: 2 });
  expect(await again.history('r1', { after: 0, limit: 10 })).toEqual(history);
  expect(await again.feed(0, 10)).toEqual(feed);
  expect(await again.leases()).toEqual([sampleLease()]);
  expect(await again.save(afterDraft(run, { epoch: 3 }), 2, [])).toBe(true);
  expect(await again.verify()).toEqual({
    ok: true,
    runs: 1,
    records: 4,
    unanchored: 0,
    findings: [],
  });
  await again.close();
}

const CLAUSES: readonly Clause[] = [
  ...RUN_CLAUSES,
  ...FINDING_CLAUSES,
  ...WORKFLOW_CLAUSES,
  ...AUDIT_CLAUSES,
  ...FEED_CLAUSES,
  ...LEASE_CLAUSES,
  ...CALL_CLAUSES,
  ...AGENT_CLAUSES,
  ...WEBHOOK_CLAUSES,
  ...HUMAN_CLAUSES,
  ...TRUST_CLAUSES,
  ...BACKUP_CLAUSES,
];
