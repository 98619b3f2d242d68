import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { StatementSync } from 'node:sqlite';

/** Does the work; where a file is named, what the processor did meanwhile is written to it. */
export async function profiled(file: string | undefined, work: () => Promise<void>): Promise<void> {
  if (file === undefined) return work();
  nameSqlite();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 250 });
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  writeFileSync(file, JSON.stringify(profile));
}

/** The name under which a profile has what SQLite does, and what waiting for the disk takes. */
export const SQLITE = 'insideSqlite';
export const COMMIT = 'commitOfSqlite';

/** Time in SQLite counts as its caller's unless a function of our own stands between them. */
function nameSqlite(): void {
  const made = StatementSync.prototype as unknown as Record<string, (...values: unknown[]) => unknown>;
  for (const name of ['run', 'get', 'all']) {
    const inner = made[name] as (...values: unknown[]) => unknown;
    made[name] = function insideSqlite(this: StatementSync, ...values: unknown[]) {
      return this.sourceSQL === 'COMMIT' ? commitOfSqlite(this, inner) : inner.apply(this, values);
    };
  }
}

function commitOfSqlite(statement: StatementSync, inner: (...values: unknown[]) => unknown): unknown {
  return inner.call(statement);
}
