import { type AuditRecord, type Phasegate, PhasegateError } from '@phasegate/core';
import type { FeedRecord, ReachedProject } from '../../runtime/ports.ts';

const PAGE = 1000;

/** The records a caller may see: of one run, or of the project and all its runs, each chain in order. */
export async function* auditRecords(
  gate: Phasegate,
  runId: string | undefined,
  after: ReadonlyMap<string | null, number> = new Map(),
): AsyncGenerator<AuditRecord> {
  if (runId !== undefined) {
    yield* chain(gate, runId, after);
    return;
  }
  yield* projectChain(gate, after);
  const runs = await gate.runs({ limit: Number.MAX_SAFE_INTEGER });
  for (const { run } of runs) yield* chain(gate, run, after);
}

/** The records of all chains after an id, in the order they became durable. */
export async function* feedRecords(
  { feed }: Pick<ReachedProject, 'feed'>,
  after: number,
): AsyncGenerator<FeedRecord> {
  for (let last = after; ; ) {
    const page = await feed.after(last, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    last = page.at(-1)?.id ?? last;
  }
}

/**
 * Records of several chains, each chain in its order and the chains among each other by time. The time in a record is
 * that of the request it belongs to, which is earlier than those of checks that ran in it: each counts from the latest
 * time that its chain has had.
 */
export function byTime(records: readonly AuditRecord[]): readonly AuditRecord[] {
  const latest = new Map<string | null, string>();
  const placed = records
    .toSorted((one, other) => one.seq - other.seq)
    .map((record) => {
      const before = latest.get(record.run) ?? '';
      const at = record.time > before ? record.time : before;
      latest.set(record.run, at);
      return { at, record };
    });
  // Sorting keeps what is equal in its order.
  placed.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  return placed.map(({ record }) => record);
}

async function* chain(
  gate: Phasegate,
  runId: string | null,
  seen: ReadonlyMap<string | null, number>,
): AsyncGenerator<AuditRecord> {
  let after = seen.get(runId) ?? 0;
  for (;;) {
    const page = await gate.history(runId, { after, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}

async function* projectChain(
  gate: Phasegate,
  seen: ReadonlyMap<string | null, number>,
): AsyncGenerator<AuditRecord> {
  try {
    yield* chain(gate, null, seen);
  } catch (error) {
    // The project's own chain may be closed to an agent; its runs are still its own.
    if (!(error instanceof PhasegateError) || error.code !== 'not_permitted') throw error;
  }
}
