import {
  addedTo,
  changesWorkflow,
  createCommitListeners,
  digestOf,
  heldBy,
  isInPlace,
  isSameLease,
  isUnchanged,
  leaseWithToken,
  placesKeepingOut,
  placesOf,
  renewedLease,
  requireOwnWorkflow,
  runFromState,
  runSealHolds,
  sealRun,
  stateText,
  summaryOf,
  withFacts,
  writtenDrafts,
} from '@phasegate/audit';
import { type AuditKnowledge, type AuditRow, type AuditSource, verifyAudit } from '@phasegate/audit/verify';
import type { AuditRecord, Run, Workflow } from '@phasegate/core';
import { PhasegateError } from '@phasegate/core';
import { isStillSo, runInTheWay } from '@phasegate/core/engine';
import type {
  AuditDraft,
  Beside,
  ChainHead,
  FeedRecord,
  FeedSince,
  LeaseChange,
  LeaseRecord,
  Seal,
  Store,
} from '../runtime/ports.ts';
import { createMemoryCalls } from './memoryCalls.ts';
import { createMemoryFinder } from './memoryFinder.ts';
import { createMemoryKept } from './memoryKept.ts';
import { pageOf } from './memoryPage.ts';
import { createMemoryProject, type MemoryProject } from './memoryProject.ts';
import { namedHumans } from './namedHumans.ts';

/** A store that forgets: for tests and for trying a workflow out. It chains and seals as the durable ones do. */
export function createMemoryStore({ seal, ...knowledge }: { readonly seal: Seal } & AuditKnowledge): Store {
  const rows = new Map<string, Row>();
  const workflows = new Map<string, Workflow>();
  const chains = new Map<string | null, AuditRecord[]>();
  const feed: FeedRecord[] = [];
  /** By run, then by item. */
  const leases = new Map<string, Map<string | null, LeaseRecord>>();
  const leaseOf = (run: string) => (item: string | null) => leases.get(run)?.get(item);
  const calls = createMemoryCalls();
  const listeners = createCommitListeners();
  let closed = false;

  function headOf(runId: string | null): ChainHead {
    const newest = chains.get(runId)?.at(-1);
    return { seq: newest?.seq ?? 0, hash: newest?.hash ?? '' };
  }

  function append(runId: string | null, drafts: readonly AuditDraft[]): ChainHead {
    const chain = chains.get(runId) ?? [];
    for (const { dataText: _, ...record } of seal.chain(runId, headOf(runId), writtenDrafts(drafts))) {
      chain.push(record);
      feed.push({ id: feed.length + 1, ...record });
    }
    chains.set(runId, chain);
    return headOf(runId);
  }

  function seat(run: Run, version: number, beside: Beside & { readonly run: readonly AuditDraft[] }): void {
    // Before anything is written: memory has nothing to roll back to.
    writtenDrafts(beside.project ?? []);
    const head = append(run.id, beside.run);
    const state = stateText(run);
    const mac = sealRun(seal, { runId: run.id, version, head, digest: digestOf(state) });
    const written = rows.get(run.id)?.version !== version;
    rows.set(run.id, { run, state, version, head, mac });
    if (written) finder.wrote(run);
    for (const change of beside.leases ?? []) changeLease(change);
    for (const id of beside.calls?.void ?? []) calls.drop(run.id, id);
    append(null, withFacts(beside.project ?? [], ['run_started', 'run_ended'], { run: run.id, ...head }));
  }

  function noteOn(runId: string | null, drafts: readonly AuditDraft[]): void {
    const row = runId === null ? undefined : rows.get(runId);
    if (row === undefined) append(null, drafts);
    else seat(row.run, row.version, { run: drafts });
  }

  function keepWorkflow(run: Run): void {
    requireOwnWorkflow(run);
    workflows.set(run.workflowHash, run.workflow);
  }

  function isKeptOut(before: Run | undefined, run: Run): boolean {
    const places = placesKeepingOut(before, run);
    if (places.length === 0) return false;
    return [...rows.values()].some((row) => row.run.id !== run.id && isInPlace(row.run, places));
  }

  function changeLease(change: LeaseChange): void {
    const { run, item } = 'put' in change ? change.put : change.drop;
    const ofRun = leases.get(run) ?? new Map<string | null, LeaseRecord>();
    if ('put' in change && change.onlyHeld && ofRun.get(item)?.agent !== change.put.agent) return;
    if ('put' in change) ofRun.set(item, change.put);
    else ofRun.delete(item);
    leases.set(run, ofRun);
  }

  /** Nothing is done in the caller's own turn, as with a store that waits for a disk. */
  async function asking<T>(question: () => T): Promise<T> {
    await undefined;
    if (closed) throw new PhasegateError('store_unavailable', 'the store was closed');
    return question();
  }

  async function changing<T>(work: () => T): Promise<T> {
    const answer = await asking(work);
    listeners.tell();
    return answer;
  }

  const finder = createMemoryFinder({ rows, chainOf: (run) => chains.get(run) ?? [], asking });
  const project = createMemoryProject({ asking, changing, append: (drafts) => append(null, drafts) });

  return {
    load: (runId) =>
      asking(() => {
        const row = rows.get(runId);
        return row && { run: row.run, version: row.version };
      }),
    peek(runId, item) {
      if (closed) throw new PhasegateError('store_unavailable', 'the store was closed');
      return { run: rows.get(runId)?.run, lease: leases.get(runId)?.get(item) };
    },
    create: (run, audit, project) =>
      changing(() => {
        if (rows.has(run.id)) return false;
        if (
          runInTheWay(
            run,
            [...rows.values()].map((row) => summaryOf(row.run)),
          ) !== undefined
        )
          return false;
        if (isKeptOut(undefined, run)) return false;
        keepWorkflow(run);
        // What is kept is what a file would give back, so that a value JSON cannot hold shows in tests too.
        const kept = runFromState(stateText(run), () => run.workflow);
        seat(kept, 1, { run: audit, project });
        return true;
      }),
    save: (run, version, audit, beside = {}) =>
      changing(() => {
        const before = rows.get(run.id);
        if (before === undefined || before.version !== version) return false;
        if (beside.calls !== undefined && !calls.areOver(run.id, beside.calls)) return false;
        if (!isStillSo(before.run, beside.held, leaseOf(run.id))) return false;
        if (!isUnchanged(beside.seen, leaseOf(run.id))) return false;
        if (isKeptOut(before.run, run)) return false;
        if (changesWorkflow(before.run, run, audit)) keepWorkflow(run);
        addedTo(before.run.decisions, run.decisions, 'decisions');
        addedTo(before.run.completions, run.completions, 'completions');
        const kept = runFromState(stateText(run), () => run.workflow);
        seat(kept, version + 1, { ...beside, run: audit });
        return true;
      }),
    note: (runId, drafts, judgedAt) =>
      changing(() => {
        const row = runId === null ? null : rows.get(runId);
        if (row === undefined) return false;
        if (row !== null && !isStillSo(row.run, judgedAt, leaseOf(row.run.id))) return false;
        noteOn(runId, drafts);
        return true;
      }),
    history: (runId, { after, limit, ...reading }) =>
      asking(() => pageOf(chains.get(runId) ?? [], { after, limit }, reading)),
    workflow: (hash) => asking(() => workflows.get(hash)),
    ...finder.parts,

    feed: (after, limit, reading = {}) => asking(() => pageOf(feed, { after, limit }, reading)),
    feedSince: (query) => asking(() => feedIn(feed, query)),
    feedEnd: () => asking(() => feed.length),
    onCommit: (listener) => listeners.add(listener),

    lease: (runId, item) => asking(() => leases.get(runId)?.get(item)),
    leases: (agent) =>
      asking(() =>
        [...leases.values()]
          .flatMap((ofRun) => [...ofRun.values()])
          .filter((lease) => agent === undefined || lease.agent === agent)
          .sort(byRunAndItem),
      ),
    someLeases: (limit) =>
      asking(() =>
        [...leases.values()]
          .flatMap((ofRun) => [...ofRun.values()])
          .sort(byRunAndItem)
          .slice(0, limit),
      ),
    countLeases: () => asking(() => [...leases.values()].reduce((sum, ofRun) => sum + ofRun.size, 0)),
    leasesEnded: (now) =>
      asking(() =>
        [...leases.values()]
          .flatMap((ofRun) => [...ofRun.values()])
          .filter(({ expiresAt }) => expiresAt <= now)
          .sort((one, other) => compare(one.expiresAt, other.expiresAt) || byRunAndItem(one, other))
          .map(({ run, item }) => ({ run, item })),
      ),
    renewLease: (lease) =>
      changing(() => {
        const renewed = renewedLease(leases.get(lease.run)?.get(lease.item), lease);
        if (renewed === null) return false;
        changeLease({ put: renewed });
        return true;
      }),
    renewToken: (lease, drafts) =>
      changing(() => {
        const row = rows.get(lease.run);
        if (row === undefined || !isStillSo(row.run, heldBy(lease), leaseOf(lease.run))) return false;
        const put = leaseWithToken(leases.get(lease.run)?.get(lease.item), lease);
        seat(row.run, row.version, { run: drafts, leases: [{ put }] });
        return true;
      }),
    dropLease: (seen) =>
      changing(() => {
        if (!isSameLease(leases.get(seen.run)?.get(seen.item), seen)) return false;
        changeLease({ drop: seen });
        return true;
      }),

    beginCall: (call, version, drafts, held) =>
      changing(() => {
        const row = rows.get(call.run);
        if (row === undefined || row.version !== version) return false;
        if (!isStillSo(row.run, held, leaseOf(call.run))) return false;
        calls.begin(call);
        seat(row.run, row.version, { run: drafts });
        return true;
      }),
    endCall: ({ run, id }, drafts) =>
      changing(() => {
        calls.drop(run, id);
        const row = rows.get(run);
        if (row !== undefined && drafts.length > 0) seat(row.run, row.version, { run: drafts });
      }),
    calls: (runId, item) => asking(() => calls.of(runId, item)),
    askToEnd: (runId, ids) => changing(() => calls.askToEnd(runId, ids)),

    ...createMemoryKept({
      asking,
      changing,
      runOf: (run) => rows.get(run)?.run,
      append: (run, drafts) => noteOn(run, drafts),
    }),
    ...project.parts,

    async verify(options = {}) {
      await asking(() => undefined);
      const source = sourceOf({ rows, workflows, chains, project, seal });
      const kept = [...feed];
      const report = await verifyAudit({ source, seal, knowledge, options });
      if (report.ok)
        await options.reading?.({
          feedSince: async (query) => feedIn(kept, query),
          humans: async () => namedHumans(await source.humans()),
        });
      return report;
    },
    async backup() {
      throw new PhasegateError('store_unavailable', 'a store in memory has no file to back up');
    },
    async close() {
      listeners.clear();
      closed = true;
    },
  };
}

interface Row {
  readonly run: Run;
  readonly state: string;
  readonly version: number;
  readonly head: ChainHead;
  readonly mac: string;
}

function byRunAndItem(one: LeaseRecord, other: LeaseRecord): number {
  return compare(one.run, other.run) || compare(one.item ?? '', other.item ?? '');
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Memory has no one who could change it from outside, so it signs no head. */
function sourceOf(memory: {
  readonly rows: ReadonlyMap<string, Row>;
  readonly workflows: ReadonlyMap<string, Workflow>;
  readonly chains: ReadonlyMap<string | null, readonly AuditRecord[]>;
  readonly project: MemoryProject;
  readonly seal: Seal;
}): AuditSource {
  const { rows, workflows, chains, project, seal } = memory;
  return {
    rows: () => [...rows.values()].map((row) => auditRow(seal, row)),
    records: (run) => chains.get(run) ?? [],
    seqOf: (run) => rows.get(run)?.head.seq,
    hashAt: (run, seq) => chains.get(run)?.[seq - 1]?.hash,
    orphans: () => [],
    head: () => null,
    workflow: (hash) => workflows.get(hash) ?? null,
    humans: project.humans,
    agents: project.agents,
    acceptances: project.acceptances,
    unsealed: () => [],
  };
}

function auditRow(seal: Seal, { run, state, version, head, mac }: Row): AuditRow {
  const { id, workflowHash } = run;
  const sealed = runSealHolds(seal, mac, { runId: id, version, head, state });
  const columns = { ...summaryOf(run), workflowHash, ...placesOf(run) };
  return { id, workflowHash, head, sealed, headed: head, run, columns };
}

function feedIn(
  feed: readonly FeedRecord[],
  { events, since, after = 0, limit }: FeedSince,
): readonly FeedRecord[] {
  return feed
    .slice(after)
    .filter(({ event, time }) => (events as readonly string[]).includes(event) && time >= since)
    .slice(0, limit);
}
