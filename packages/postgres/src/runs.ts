import {
  changesWorkflow,
  cutRun,
  isInPlace,
  isUnchanged,
  type PreparedWrite,
  placesKeepingOut,
  prepareWrite,
  requireOwnWorkflow,
  summaryOf,
  tampered,
  withFacts,
  writtenDrafts,
} from '@phasegate/audit';
import type { Run, RunSummary } from '@phasegate/core';
import { isStillSo, runInTheWay } from '@phasegate/core/engine';
import type { AuditStore, Beside, RunStore } from '@phasegate/core/ports';
import { chainPage } from './audit.ts';
import type { Batch } from './batch.ts';
import { coalesced } from './coalesced.ts';
import type { Database, Query } from './database.ts';
import { notOver, summary } from './finder.ts';
import { leaseFor } from './leaseRows.ts';
import { eraOf } from './partitions.ts';
import { type RunReader, type RunRow, sound } from './runReader.ts';
import type { Workflows } from './workflows.ts';
import type { Writer } from './writer.ts';

/** The runs of a store and their chains. */
export function runParts(parts: {
  readonly database: Database;
  readonly writer: Writer;
  readonly reader: RunReader;
  readonly workflows: Workflows;
}): Omit<RunStore, 'list'> & Omit<AuditStore, 'verify'> {
  const { database, writer, reader, workflows } = parts;
  const one = coalesced(async (ids: readonly string[]) => {
    const found = await reader.find(database.query, [...new Set(ids)], false);
    return (id) => found.get(id);
  });

  /** Stores a run with its records and what goes beside it; the caller has checked that it may. */
  function seat(batch: Batch, next: SeatedRun, before: RunRow | undefined): true {
    const { run, version, write, beside } = next;
    const { written, drafts } = write;
    const cut = cutRun(write, before, run);
    const head = batch.place({ run, version, era: eraOf(run.startedAt), cut, written, drafts }, before);
    for (const change of beside.leases ?? []) batch.changeLease(change);
    for (const id of beside.calls?.void ?? []) batch.dropCall(run.id, id);
    batch.project(withFacts(beside.project ?? [], ['run_started', 'run_ended'], { run: run.id, ...head }));
    return true;
  }

  /** The run with the workflow that all of its runs share; the batch stores it where it is new. */
  function withWorkflow(batch: Batch, run: Run): Run {
    requireOwnWorkflow(run);
    const workflow = workflows.shared(run.workflowHash, run.workflow);
    batch.keepWorkflow(run.workflowHash, workflow);
    return { ...run, workflow };
  }

  return {
    async load(runId) {
      const row = sound(await one(runId));
      return row && { run: row.run, version: row.version };
    },
    async create(run, audit, project) {
      const write = prepareWrite(run, audit);
      writtenDrafts(project);
      const others = rivals(undefined, run);
      return writer.submit({
        needs: { runs: [], made: { run: run.id, era: eraOf(run.startedAt) } },
        contends: () => others.wanted,
        look: others.look,
        act(batch) {
          if (batch.current(run.id) !== undefined || batch.isArchived(run.id)) return false;
          if (others.isInTheWay(batch) || others.keepOut(batch)) return false;
          const kept = withWorkflow(batch, run);
          return seat(batch, { run: kept, version: 1, write, beside: { project } }, undefined);
        },
      });
    },
    async save(run, version, audit, beside = {}) {
      const write = prepareWrite(run, audit);
      writtenDrafts(beside.project ?? []);
      let others: Rivals | undefined;
      const changes = beside.leases ?? [];
      const runs = changes.map((change) => ('put' in change ? change.put.run : change.drop.run));
      const leases = [
        ...changes.flatMap((change) => ('put' in change && change.onlyHeld ? [change.put] : [])),
        ...leaseFor(run.id, beside.held),
        ...(beside.seen === undefined ? [] : [beside.seen]),
      ];
      return writer.submit({
        needs: {
          runs: [run.id, ...runs],
          leases,
          ...(beside.calls === undefined ? {} : { calls: [run.id] }),
        },
        contends(batch) {
          const before = batch.current(run.id);
          if (before?.version !== version) return false;
          others = rivals(before.run, run);
          return others.wanted;
        },
        look: async (query) => others?.look(query),
        act(batch) {
          const before = batch.current(run.id);
          if (before === undefined || before.version !== version) return false;
          if (beside.calls !== undefined && !batch.areOver(run.id, beside.calls)) return false;
          const leaseOf = (item: string | null) => batch.lease(run.id, item);
          if (!isStillSo(before.run, beside.held, leaseOf) || !isUnchanged(beside.seen, leaseOf))
            return false;
          if (others?.keepOut(batch) === true) return false;
          const kept = changesWorkflow(before.run, run, write.written) ? withWorkflow(batch, run) : run;
          return seat(batch, { run: kept, version: version + 1, write, beside }, before);
        },
      });
    },
    async note(runId, audit, judgedAt) {
      const drafts = writtenDrafts(audit);
      return writer.submit({
        needs: runId === null ? { runs: [] } : { runs: [runId], leases: leaseFor(runId, judgedAt) },
        act(batch) {
          if (runId === null) {
            batch.project(drafts);
            return true;
          }
          const before = batch.current(runId);
          if (before === undefined || !isStillSo(before.run, judgedAt, (of) => batch.lease(runId, of)))
            return false;
          batch.grow(before, drafts);
          return true;
        },
      });
    },
    history: (runId, page) => chainPage(database.query, runId, page),
    async workflow(hash) {
      const { rows } = await database.query('SELECT 1 FROM workflows WHERE hash = $1', [hash]);
      if (rows.length === 0) return undefined;
      const workflow = (await workflows.fetch(database.query, [hash])).get(hash);
      if (workflow === undefined) throw tampered(`workflow \`${hash}\``);
      return workflow;
    },
  };
}

interface SeatedRun {
  readonly run: Run;
  readonly version: number;
  readonly write: PreparedWrite;
  readonly beside: Beside;
}

/** The other runs that a run may have to wait for. */
interface Rivals {
  /** Whether there can be any. */
  readonly wanted: boolean;
  look(query: Query): Promise<void>;
  /** Whether one must end before this one may start. */
  isInTheWay(batch: Batch): boolean;
  /** Whether one has the workspace that this one comes to hold. */
  keepOut(batch: Batch): boolean;
}

function rivals(before: Run | undefined, run: Run): Rivals {
  const places = placesKeepingOut(before, run);
  const { id: workflow, oneRunPer } = run.workflow;
  const isNew = before === undefined;
  let inPlaces: readonly RunSummary[] = [];
  let unfinished: readonly RunSummary[] = [];
  return {
    wanted: places.length > 0 || (isNew && oneRunPer !== undefined),
    async look(query) {
      if (places.length > 0) {
        const { rows } = await query(`${IN_PLACES} WHERE workspace = ANY($1)`, [places]);
        inPlaces = rows.map(summary);
      }
      if (!isNew || oneRunPer === undefined) return;
      const targets = oneRunPer === 'workflow' ? {} : { targets: [run.target ?? ''] };
      unfinished = await notOver(query, { workflow, ...targets });
    },
    isInTheWay(batch) {
      if (oneRunPer === undefined) return false;
      const placed = batch.placed();
      const names = new Set(placed.map(({ id }) => id));
      const others = unfinished.filter((other) => !names.has(other.run));
      return runInTheWay(run, [...placed.map(summaryOf), ...others]) !== undefined;
    },
    keepOut(batch) {
      if (places.length === 0) return false;
      const placed = batch.placed();
      if (placed.some((other) => other.id !== run.id && isInPlace(other, places))) return true;
      const names = new Set([run.id, ...placed.map(({ id }) => id)]);
      return inPlaces.some((other) => !names.has(other.run));
    },
  };
}

const IN_PLACES = `SELECT id, workflow_id, target, goal, overridden, status, phase, holder, epoch, priority, capabilities,
  started_at, updated_at FROM runs`;
