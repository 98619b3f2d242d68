import type { AuditRecord, Run } from '@phasegate/core';
import { PhasegateError } from '@phasegate/core';
import type { AuditDraft, ChainHead, HumanRecord, Seal, Store, TrustRecord } from '../runtime/ports.ts';
import type { AuditKnowledge, AuditRow, AuditSource } from './auditSource.ts';
import { withFacts } from './projectNote.ts';
import { runFromState, stateText, summaryOf } from './storedRun.ts';
import { verifyAudit } from './verifyAudit.ts';
import { requireOwnWorkflow } from './workflowHash.ts';

/** A store that forgets: for tests and for trying a workflow out. It chains and seals as the durable ones do. */
export function createMemoryStore({ seal, ...knowledge }: { readonly seal: Seal } & AuditKnowledge): Store {
  const rows = new Map<string, Row>();
  const chains = new Map<string | null, AuditRecord[]>();
  const people = new Map<string, HumanRecord>();
  const formerPeople: HumanRecord[] = [];
  const trust: TrustRecord[] = [];
  let closed = false;

  function headOf(runId: string | null): ChainHead {
    const newest = chains.get(runId)?.at(-1);
    return { seq: newest?.seq ?? 0, hash: newest?.hash ?? '' };
  }

  function append(runId: string | null, drafts: readonly AuditDraft[]): ChainHead {
    const chain = chains.get(runId) ?? [];
    for (const { dataText: _, ...record } of seal.chain(runId, headOf(runId), drafts)) chain.push(record);
    chains.set(runId, chain);
    return headOf(runId);
  }

  function seat(run: Run, version: number, drafts: Drafts): void {
    const head = append(run.id, drafts.run);
    const state = stateText(run);
    const mac = seal.mac({ runId: run.id, version, ...head, state });
    rows.set(run.id, { run, state, version, head, mac });
    append(null, withFacts(drafts.project, ['run_started', 'run_ended'], { run: run.id, ...head }));
  }

  /** Nothing is done in the caller's own turn, as with a store that waits for a disk. */
  async function doing<T>(work: () => T): Promise<T> {
    await undefined;
    if (closed) throw new PhasegateError('store_unavailable', 'the store was closed');
    return work();
  }

  return {
    load: (runId) =>
      doing(() => {
        const row = rows.get(runId);
        return row && { run: row.run, version: row.version };
      }),
    create: (run, audit, project) =>
      doing(() => {
        if (rows.has(run.id)) return false;
        requireOwnWorkflow(run);
        // What is kept is what a file would give back, so that a value JSON cannot hold shows in tests too.
        const kept = runFromState(stateText(run), () => run.workflow);
        seat(kept, 1, { run: audit, project });
        return true;
      }),
    save: (run, version, audit, project = []) =>
      doing(() => {
        if (rows.get(run.id)?.version !== version) return false;
        const kept = runFromState(stateText(run), () => run.workflow);
        seat(kept, version + 1, { run: audit, project });
        return true;
      }),
    note: (runId, drafts, epoch) =>
      doing(() => {
        if (runId === null) {
          append(null, drafts);
          return true;
        }
        const row = rows.get(runId);
        if (row === undefined || (epoch !== undefined && row.run.epoch !== epoch)) return false;
        seat(row.run, row.version, { run: drafts, project: [] });
        return true;
      }),
    history: (runId, { after, limit }) =>
      doing(() => (chains.get(runId) ?? []).slice(after, limit < 0 ? undefined : after + limit)),
    list: ({ status, workflow, limit }) =>
      doing(() =>
        [...rows.values()]
          .map(({ run }) => summaryOf(run))
          .filter((run) => status === undefined || run.status === status)
          .filter((run) => workflow === undefined || run.workflow === workflow)
          .reverse()
          .sort((one, other) => compare(other.startedAt, one.startedAt))
          .slice(0, limit),
      ),

    humans: () => doing(() => [...people.values()].sort((one, other) => compare(one.name, other.name))),
    putHuman: (human, drafts) =>
      doing(() => {
        retire(people, formerPeople, human.name);
        people.set(human.name, human);
        const { name, publicKey } = human;
        append(null, withFacts(drafts, ['human_added'], { name, publicKey }));
      }),
    removeHuman: (name, drafts) =>
      doing(() => {
        if (!retire(people, formerPeople, name)) return false;
        append(null, withFacts(drafts, ['human_removed'], { name }));
        return true;
      }),
    trusted: (hash) => doing(() => trust.findLast((record) => record.hash === hash)),
    trustedBefore: (workflow) => doing(() => trust.findLast((record) => record.workflow === workflow)),
    putTrust: (record, drafts) =>
      doing(() => {
        trust.push(record);
        const { workflow, hash } = record;
        append(null, withFacts(drafts, ['workflow_trusted'], { workflow, hash }));
      }),

    async verify() {
      await doing(() => undefined);
      return verifyAudit(sourceOf({ rows, chains, people, formerPeople }), seal, knowledge);
    },
    async backup() {
      throw new PhasegateError('store_unavailable', 'a store in memory has no file to back up');
    },
    async close() {
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

interface Drafts {
  readonly run: readonly AuditDraft[];
  readonly project: readonly AuditDraft[];
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** A human who is gone is kept for the decisions that carry their signature. */
function retire(people: Map<string, HumanRecord>, former: HumanRecord[], name: string): boolean {
  const human = people.get(name);
  if (human === undefined) return false;
  former.push(human);
  return people.delete(name);
}

/** Memory has no one who could change it from outside, so it signs no head. */
function sourceOf(memory: {
  readonly rows: ReadonlyMap<string, Row>;
  readonly chains: ReadonlyMap<string | null, readonly AuditRecord[]>;
  readonly people: ReadonlyMap<string, HumanRecord>;
  readonly formerPeople: readonly HumanRecord[];
}): AuditSource {
  const { rows, chains, people, formerPeople } = memory;
  return {
    rows: () => [...rows.values()].map(auditRow),
    records: (run) => chains.get(run) ?? [],
    seqOf: (run) => rows.get(run)?.head.seq,
    hashAt: (run, seq) => chains.get(run)?.[seq - 1]?.hash,
    orphans: () => [],
    head: () => null,
    workflow: (hash) => [...rows.values()].find(({ run }) => run.workflowHash === hash)?.run.workflow ?? null,
    humans: () => [
      ...formerPeople.map((human) => ({ human, removed: true, sealed: true })),
      ...[...people.values()].map((human) => ({ human, removed: false, sealed: true })),
    ],
  };
}

function auditRow({ run, state, version, head, mac }: Row): AuditRow {
  const columns = { ...summaryOf(run), workflowHash: run.workflowHash };
  return { id: run.id, workflowHash: run.workflowHash, version, head, mac, headed: head, state, columns };
}
