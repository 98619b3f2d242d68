import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { StatementSync } from 'node:sqlite';

/** Does the work; where a file is named, what the processor did meanwhile is written to it. */
export async function profiled(file: string | undefined, work: () => Promise<void>): Promise<void> {
  if (file === undefined) return work();
  const profile = await profiling();
  await work();
  writeFileSync(file, JSON.stringify((await profile.end()).profile));
}

/** A profile that goes on. */
export interface Profiling {
  end(): Promise<Profiled>;
}

/** What was seen of this process from the beginning of a profile to its end. */
export interface Profiled {
  /** As V8 writes it. */
  readonly profile: unknown;
  /** In microseconds: in our own code, and in the system's for us. */
  readonly cpu: { readonly user: number; readonly system: number };
  /** Which part of the time the event loop did not wait. */
  readonly busy: number;
  readonly commits: number;
  /** Statements of SQLite that were run, without `COMMIT`. */
  readonly statements: number;
}

/** Begins one. */
export async function profiling(): Promise<Profiling> {
  nameSqlite();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 250 });
  const before = { ...counted };
  const loop = performance.eventLoopUtilization();
  const cpu = process.cpuUsage();
  await session.post('Profiler.start');
  return {
    async end() {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      return {
        profile,
        cpu: process.cpuUsage(cpu),
        busy: performance.eventLoopUtilization(loop).utilization,
        commits: counted.commits - before.commits,
        statements: counted.statements - before.statements,
      };
    },
  };
}

/** The name under which a profile has what SQLite does, and what waiting for the disk takes. */
export const SQLITE = 'insideSqlite';
export const COMMIT = 'commitOfSqlite';

const counted = { commits: 0, statements: 0 };
let isNamed = false;

/** Time in SQLite counts as its caller's unless a function of our own stands between them. */
function nameSqlite(): void {
  if (isNamed) return;
  isNamed = true;
  const made = StatementSync.prototype as unknown as Record<string, (...values: unknown[]) => unknown>;
  for (const name of ['run', 'get', 'all']) {
    const inner = made[name] as (...values: unknown[]) => unknown;
    made[name] = function insideSqlite(this: StatementSync, ...values: unknown[]) {
      if (this.sourceSQL === 'COMMIT') return commitOfSqlite(this, inner);
      counted.statements += 1;
      return inner.apply(this, values);
    };
  }
}

function commitOfSqlite(statement: StatementSync, inner: (...values: unknown[]) => unknown): unknown {
  counted.commits += 1;
  return inner.call(statement);
}
