import type { Run } from '../engine/run.ts';
import type { Store } from '../ports/store.ts';
import { AGENT_CLAUSES } from './agentClauses.ts';
import { AUDIT_CLAUSES } from './auditClauses.ts';
import { BACKUP_CLAUSES } from './backupClauses.ts';
import { CALL_CLAUSES } from './callClauses.ts';
import { type Clause, create, type Expect } from './clause.ts';
import { FEED_CLAUSES } from './feedClauses.ts';
import { FINDING_CLAUSES } from './findingClauses.ts';
import { HUMAN_CLAUSES } from './humanClauses.ts';
import { ITEM_CLAUSES } from './itemClauses.ts';
import { KEPT_CLAUSES } from './keptClauses.ts';
import { LEASE_CLAUSES, sampleLease } from './leaseClauses.ts';
import { RUN_CLAUSES } from './runClauses.ts';
import { afterDraft, type Sha256, sampleDraft, samplesWith } from './samples.ts';
import { TRUST_CLAUSES } from './trustClauses.ts';
import { WEBHOOK_CLAUSES } from './webhookClauses.ts';
import { WORKFLOW_CLAUSES } from './workflowClauses.ts';
import { WORKSPACE_CLAUSES } from './workspaceClauses.ts';

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
  /** Stores compare it with the workflow a run carries; core has none of its own. */
  readonly sha256: Sha256;
}

/** What every store must do. Run it against an implementation: `storeContract('mine', open, { describe, test, expect, sha256 })`. */
export function storeContract(name: string, open: () => Promise<OpenedStore>, runner: ContractRunner): void {
  const samples = samplesWith(runner.sha256);
  runner.describe(`the ${name} store`, () => {
    for (const clause of CLAUSES) {
      runner.test(clause.name, async () => {
        const opened = await open();
        try {
          await clause.body(opened.store, runner.expect, samples);
        } finally {
          await opened.store.close();
          await opened.cleanup();
        }
      });
    }
    runner.test('gives back after a restart what was stored, where it stores at all', async () => {
      const opened = await open();
      try {
        await outliveRestart(opened, runner.expect, samples.sampleRun('r1'));
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
  ...ITEM_CLAUSES,
  ...FINDING_CLAUSES,
  ...WORKFLOW_CLAUSES,
  ...WORKSPACE_CLAUSES,
  ...AUDIT_CLAUSES,
  ...FEED_CLAUSES,
  ...KEPT_CLAUSES,
  ...LEASE_CLAUSES,
  ...CALL_CLAUSES,
  ...AGENT_CLAUSES,
  ...WEBHOOK_CLAUSES,
  ...HUMAN_CLAUSES,
  ...TRUST_CLAUSES,
  ...BACKUP_CLAUSES,
];
