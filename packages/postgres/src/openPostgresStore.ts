import type { AuditKnowledge } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { KeptRecord, Seal, Store } from '@phasegate/core/ports';
import { feedParts } from './audit.ts';
import { callParts } from './calls.ts';
import { createDatabaseClock } from './clock.ts';
import { connectionSettings } from './connectionSettings.ts';
import { requireWhole } from './copyMark.ts';
import { DATABASE_LIMITS, type DatabaseLimits, type Intercept, openDatabase } from './database.ts';
import { createDuty, type DutyTimes } from './duty.ts';
import { unavailable } from './faults.ts';
import { finderParts } from './finder.ts';
import { keptParts } from './kept.ts';
import { leaseParts } from './leases.ts';
import { migrate } from './migrate.ts';
import { createPartitions } from './partitions.ts';
import { projectParts } from './project.ts';
import { createRunReader } from './runReader.ts';
import { runParts } from './runs.ts';
import { watchCommits } from './watchCommits.ts';
import { createWorkflows } from './workflows.ts';
import { createWritable } from './writable.ts';
import { createWriter } from './writer.ts';

/** What the store is opened with. */
export interface PostgresStoreOptions extends AuditKnowledge {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  readonly url: string;
  readonly seal: Seal;
  /** Whether it was made before: then its tables are not made where there are none. */
  readonly existed?: boolean;
  readonly limits?: Partial<DatabaseLimits>;
  /** For tests: how soon the duty passes to another. */
  readonly duty?: Partial<DutyTimes>;
  /** For tests: sees every statement before it is asked. */
  readonly intercept?: Intercept;
}

/** Opens the store on a database, whose tables are made where there are none. Any number of nodes may share it. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { seal } = options;
  const settings = connectionSettings(options.url);
  const { shown, bare, schema } = settings;
  const limits = { ...DATABASE_LIMITS, ...options.limits };
  const database = openDatabase(settings, limits, options.intercept);
  const clock = createDatabaseClock();
  try {
    await migrate(database, options.existed);
    const { rows } = await database.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS clock');
    clock.told(Number(rows[0]?.clock));
    await requireWhole(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
  const channel = `phasegate_${schema}`.slice(0, 63);
  const workflows = createWorkflows();
  const reader = createRunReader(seal, workflows, clock.told);
  const listeners = watchCommits(database, channel);
  const duty = createDuty(database, options.duty);
  const writable = createWritable(database);
  const writer = createWriter({
    database,
    seal,
    reader,
    partitions: createPartitions(database),
    largest: limits.batch,
    flushing: { seal, channel, clock: clock.told },
    writable,
    done: listeners.tell,
  });
  const parts = { database, writer, seal, reader, workflows };
  let closed = false;
  let verified: Promise<unknown> = Promise.resolve();

  const time = () => new Date(clock.now()).toISOString();
  const verify: Store['verify'] = async (how = {}) => {
    const { verifyPostgres } = await import('./verifyPostgres.ts');
    // One after another: each keeps a connection for long.
    const report = verified.then(() => verifyPostgres(database, options, how));
    verified = report.catch(() => undefined);
    return report;
  };
  const kept = keptParts(parts);
  // Without it only the next node reads more.
  const keep = (mark: KeptRecord) => void kept.keep(mark, { run: null, audit: [] }).catch(() => undefined);
  const archives = async () =>
    (await import('./archiveRuns.ts')).archiveParts({ ...parts, knowledge: options, time, verify });

  return {
    ...runParts(parts),
    ...finderParts(parts),
    ...feedParts(database),
    ...leaseParts(parts),
    ...callParts(parts),
    ...kept,
    ...projectParts({ ...parts, time, keep }),
    archive: async (order) => (await archives()).archive(order),
    archiveFiles: async () => (await archives()).archiveFiles(),
    archivedRun: async (runId) => (await archives()).archivedRun(runId),
    now: clock.now,
    duty,
    async takesWrites() {
      // On for a replica, and where the server, the database or the role is set so.
      const { rows } = await database.query("SELECT current_setting('transaction_read_only') AS only_read");
      return rows[0]?.only_read === 'off';
    },
    demandWritable: writable.demand,
    onCommit(listener) {
      if (closed) throw unavailable(shown, 'it was closed');
      return listeners.add(listener);
    },
    verify,
    async backup() {
      throw new PhasegateError('store_unavailable', `a copy of \`${shown}\` is made by its own tools`, {
        hint: `run \`pg_dump --format=custom --schema=${schema} --file=FILE '${bare}'\`${schema === 'public' ? '' : `; before \`pg_restore --schema=${schema}\`, make that schema: it does not do so itself`}`,
      });
    },
    async close() {
      if (closed) return;
      closed = true;
      await writer.settle();
      await listeners.close();
      await duty.close();
      await database.close();
    },
  };
}
