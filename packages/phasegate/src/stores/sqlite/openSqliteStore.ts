import {
  changesWorkflow,
  cutRun,
  isUnchanged,
  type PreparedWrite,
  prepareWrite,
  withFacts,
  withPlaces,
  writtenDrafts,
} from '@phasegate/audit';
import type { AuditKnowledge } from '@phasegate/audit/verify';
import { PhasegateError, type Run } from '@phasegate/core';
import { isStillSo } from '@phasegate/core/engine';
import type {
  AuditDraft,
  AuditReport,
  Beside,
  ChainHead,
  Seal,
  Store,
  VerifyOptions,
  WrittenDraft,
} from '../../runtime/ports.ts';
import { openAgentTable } from './agentTable.ts';
import { archiveParts } from './archiveParts.ts';
import { openArchiveTable } from './archiveTable.ts';
import { openAuditTable, PROJECT } from './auditTable.ts';
import { openBackupTable } from './backupTable.ts';
import { callParts } from './callParts.ts';
import { openCallTable } from './callTable.ts';
import { openDatabase } from './database.ts';
import { isOfTheDatabase, storeFault, unavailable } from './faults.ts';
import { finderParts } from './finderParts.ts';
import { createGroupCommit } from './groupCommit.ts';
import { openHeadTable } from './headTable.ts';
import { createHeldCounts } from './heldCounts.ts';
import { keptParts } from './keptParts.ts';
import { leaseParts } from './leaseParts.ts';
import { openLeaseTable } from './leaseTable.ts';
import { openPeopleTable } from './peopleTable.ts';
import { projectParts } from './projectParts.ts';
import { openRunFinder } from './runFinder.ts';
import { openRunTable, type RunRow } from './runTable.ts';
import { NO_HISTORY } from './runTexts.ts';
import { integer, lazily } from './statements.ts';
import { openTextTable } from './textTable.ts';
import { openTrustTable } from './trustTable.ts';
import type { VerifyThreads } from './verifyThreads.ts';
import { waitForTurn } from './waitForTurn.ts';
import { watchCommits } from './watchCommits.ts';
import { openWebhookTable } from './webhookTable.ts';
import { openWorkflowTable } from './workflowTable.ts';

/** What the store is opened with. */
export interface SqliteStoreOptions extends AuditKnowledge {
  /** The database; its folder must exist. */
  readonly file: string;
  readonly seal: Seal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Threads that a verification may share its work with. */
  readonly threads?: () => Promise<VerifyThreads>;
}

/** Opens the store on a file, made where there is none. Throws `store_newer`, `store_corrupt`, `store_unavailable`. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { file, seal, now } = options;
  const database = openDatabase(file, seal);
  const workflows = openWorkflowTable(database);
  const texts = openTextTable(database);
  const finding = openRunFinder(database, texts);
  const runs = openRunTable(database, seal, { workflows, finding, texts });
  const audit = openAuditTable(database, texts);
  const heads = openHeadTable(database, seal, audit);
  const leases = openLeaseTable(database, seal);
  const agents = openAgentTable(database, seal);
  const people = openPeopleTable(database, seal);
  const trust = openTrustTable(database, seal, {
    ends: heads.stored,
    page: (page) => audit.page({ key: PROJECT, run: null }, page),
    // Without it only the next process reads more.
    keep: (mark) => void kept.keep(mark, { run: null, audit: [] }).catch(() => undefined),
  });
  const calls = openCallTable(database);
  const held = createHeldCounts(finding.countHeld);
  const archived = openArchiveTable(database, seal);
  const dataVersion = lazily(database, 'PRAGMA data_version');
  const [begin, commit] = [lazily(database, 'BEGIN IMMEDIATE'), lazily(database, 'COMMIT')];
  const tables = [runs, heads, leases, agents, calls, people, trust, held];
  let seenVersion = -1;
  let foldedAt = Number.NEGATIVE_INFINITY;
  /** Whether run records of ours are newer than the signed head. */
  let unfolded = false;
  let foldNow = false;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let verified: Promise<unknown> = Promise.resolve();

  /** Another process's commit changes this number; ours does not. */
  const versionNow = () => integer(dataVersion().get() ?? {}, 'data_version');
  const listeners = watchCommits(versionNow);

  function lookAround(): void {
    const version = versionNow();
    if (version === seenVersion) return;
    seenVersion = version;
    for (const table of tables) table.doubt();
  }

  let lookedThisTurn = false;

  /** Reads of one turn of the event loop need one look: what is decided on them is held against the row anyway. */
  function lookOnce(): void {
    if (!lookedThisTurn) lookForThisTurn();
  }

  function lookForThisTurn(): void {
    lookAround();
    if (lookedThisTurn) return;
    lookedThisTurn = true;
    setImmediate(() => {
      lookedThisTurn = false;
    });
  }

  function foldIfDue(): void {
    const time = now();
    // The first write signs. What a short-lived process did would else be signed by a second commit, when it closes, and
    // a database that was killed in its first second would look as if somebody had taken its head away.
    // The absolute value: a clock that was put back must not stop the folding.
    if (unfolded && (foldNow || Math.abs(time - foldedAt) >= FOLD_EVERY)) {
      heads.fold();
      foldedAt = time;
      foldNow = false;
      unfolded = false;
    } else heads.remember();
    heads.write(new Date(time).toISOString());
  }

  const commits = createGroupCommit({
    begin() {
      if (closed) throw unavailable(file, 'it was closed');
      waitForTurn(begin(), dataVersion);
      // Who is answered by this batch goes on in the same turn.
      lookForThisTurn();
    },
    finish() {
      audit.settle();
      runs.write();
      foldIfDue();
    },
    commit() {
      commit().run();
      for (const table of tables) table.committed();
      if (unfolded) foldLater();
    },
    rollback() {
      for (const table of [...tables, audit]) table.discarded();
      foldedAt = Number.NEGATIVE_INFINITY;
      unfolded = true;
      if (!closed && database.isTransaction) database.exec('ROLLBACK');
    },
    done: listeners.tell,
    declined: (error) => error instanceof PhasegateError,
    everybodys: isOfTheDatabase,
    fault: (error) => storeFault(error, file),
  });

  /** An idle process signs what it wrote too; a dying one leaves it to the next that writes. */
  function foldLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      // A failure here is not lost: the next write meets it and reports it.
      foldSoon().catch(() => undefined);
    }, FOLD_EVERY).unref();
  }

  function foldSoon(): Promise<void> {
    return commits.submit(() => {
      foldNow = true;
    });
  }

  /** Also what other processes wrote, which may not come to sign it. */
  function foldAll(): Promise<void> {
    return commits.submit(() => {
      unfolded = true;
      foldNow = true;
    });
  }

  async function asking<T>(question: () => T): Promise<T> {
    if (closed) throw unavailable(file, 'it was closed');
    try {
      return question();
    } catch (error) {
      throw storeFault(error, file);
    }
  }

  /** Chains records to a run; gives the head it then has. */
  function chain(
    { key, id, head }: { readonly key: number; readonly id: string; readonly head: ChainHead },
    drafts: readonly WrittenDraft[],
    stored?: readonly string[],
  ): ChainHead {
    const records = seal.chain(id, head, drafts);
    audit.append(key, records, stored);
    heads.moved(key);
    unfolded = true;
    const newest = records.at(-1) ?? head;
    return { seq: newest.seq, hash: newest.hash };
  }

  /** Chains records to a run whose state stays as it is. */
  function grow(before: RunRow, drafts: readonly WrittenDraft[]): void {
    if (drafts.length === 0) return;
    const { key, run, head } = before;
    runs.grow(before, chain({ key, id: run.id, head }, drafts));
  }

  /** Stores a run with its records and what goes beside it; the caller has checked that it may. */
  function seat(next: SeatedRun, before: RunRow | undefined, beside: Beside): true {
    const { run, write, version } = next;
    const project = beside.project ?? [];
    const cut = cutRun(write, before, run);
    if (project.length > 0) heads.require();
    const key = before?.key ?? runs.newKey();
    const placeOf = texts.placing(key, before?.places ?? NO_HISTORY.places);
    const stored = write.drafts.map((draft) => withPlaces(draft, placeOf));
    const head = chain({ key, id: run.id, head: before?.head ?? FIRST_LINK }, write.written, stored);
    runs.place({ key, run, version, head, cut, placeOf }, before);
    held.placed(before?.run, run);
    for (const change of beside.leases ?? []) leases.change(change);
    for (const id of beside.calls?.void ?? []) calls.drop(run.id, id);
    heads.append(withFacts(project, ['run_started', 'run_ended'], { run: run.id, ...head }));
    return true;
  }

  const kept = keptParts({ database, seal, commits, asking, runs, heads, grow });

  async function verify(how: VerifyOptions = {}): Promise<AuditReport> {
    if (closed) throw unavailable(file, 'it was closed');
    const { verifySqlite } = await import('./verifySqlite.ts');
    // One after another: each takes all cores.
    const report = verified.then(() => verifySqlite(options, how));
    verified = report.catch(() => undefined);
    return report;
  }

  return {
    load: (runId) =>
      asking(() => {
        lookOnce();
        const row = runs.current(runId);
        return row && { run: row.run, version: row.version };
      }),
    peek(runId, item) {
      if (closed) throw unavailable(file, 'it was closed');
      try {
        lookOnce();
        return { run: runs.current(runId)?.run, lease: leases.current(runId, item) };
      } catch (error) {
        throw storeFault(error, file);
      }
    },
    async create(run, audit, project) {
      const write = prepareWrite(run, audit);
      writtenDrafts(project);
      return commits.submit(() => {
        if (runs.current(run.id) !== undefined || archived.has(run.id)) return false;
        if (runs.inTheWayOf(run) !== undefined || runs.isKeptOut(undefined, run)) return false;
        if (project.length > 0) heads.require();
        const kept = { ...run, workflow: workflows.keep(run) };
        return seat({ run: kept, write, version: 1 }, undefined, { project });
      });
    },
    async save(run, version, audit, beside = {}) {
      const write = prepareWrite(run, audit);
      writtenDrafts(beside.project ?? []);
      return commits.submit(() => {
        const before = runs.current(run.id);
        if (before === undefined || before.version !== version) return false;
        if (beside.calls !== undefined && !calls.areOver(run.id, beside.calls)) return false;
        const leaseOf = (item: string | null) => leases.current(run.id, item);
        if (!isStillSo(before.run, beside.held, leaseOf) || !isUnchanged(beside.seen, leaseOf)) return false;
        if (runs.isKeptOut(before.run, run)) return false;
        const kept = changesWorkflow(before.run, run, write.written)
          ? { ...run, workflow: workflows.keep(run) }
          : run;
        return seat({ run: kept, write, version: version + 1 }, before, beside);
      });
    },
    async note(runId, audit, judgedAt) {
      const drafts = writtenDrafts(audit);
      return commits.submit(() => {
        if (runId === null) {
          heads.require();
          heads.append(drafts);
          return true;
        }
        const before = runs.current(runId);
        if (before === undefined || !isStillSo(before.run, judgedAt, (item) => leases.current(runId, item)))
          return false;
        grow(before, drafts);
        return true;
      });
    },
    history: (runId, page) =>
      asking(() => {
        const key = runId === null ? PROJECT : runs.keyOf(runId);
        return key === undefined ? [] : audit.page({ key, run: runId }, page);
      }),
    workflow: (hash) => asking(() => workflows.find(hash)),
    ...finderParts({ commits, asking, runs, finding, held, lookAround: lookOnce }),

    feed: (after, limit, reading) => asking(() => audit.feed(after, limit, reading)),
    feedSince: (query) => asking(() => audit.since(query)),
    feedEnd: () => asking(() => audit.feedEnd()),
    onCommit(listener) {
      if (closed) throw unavailable(file, 'it was closed');
      return listeners.add(listener);
    },

    ...leaseParts({ commits, asking, lookAround: lookOnce, leases, runs, grow }),
    ...callParts({ commits, asking, lookAround: lookOnce, runs, leases, calls, grow }),
    ...kept,
    ...projectParts({
      commits,
      asking,
      lookAround,
      lookOnce,
      heads,
      people,
      trust,
      agents,
      webhooks: openWebhookTable(database, seal),
      backups: openBackupTable(database),
      time: () => new Date(now()).toISOString(),
    }),

    verify,
    ...archiveParts({
      ...options,
      database,
      archived,
      audit,
      heads,
      runs,
      commits,
      asking,
      verify,
      foldAll,
    }),
    async backup(target) {
      // What is copied should be covered by a signature whole.
      await foldSoon();
      const { backupSqlite } = await import('./backupSqlite.ts');
      const { record, write } = await backupSqlite({ database, file: target, now });
      await commits.submit(() => {
        heads.require();
        write();
        heads.append([backedUp(record.createdAt, { id: record.id, path: record.path })]);
      });
      return record;
    },
    async close() {
      if (closed) return;
      clearTimeout(timer);
      listeners.clear();
      // What still waits is written and signed in one go; only without it signing needs a commit of its own.
      foldNow = true;
      commits.flush();
      const folded = unfolded ? foldSoon() : undefined;
      commits.flush();
      closed = true;
      database.close();
      await folded;
    },
  };
}

/** Run records are covered by their run's seal at once and by the signed head after this long at most. */
const FOLD_EVERY = 1000;

const FIRST_LINK: ChainHead = { seq: 0, hash: '' };

interface SeatedRun {
  readonly run: Run;
  readonly write: PreparedWrite;
  readonly version: number;
}

function backedUp(time: string, data: AuditDraft['data']): AuditDraft {
  return { time, principal: 'engine:phasegate', event: 'database_backed_up', data };
}
