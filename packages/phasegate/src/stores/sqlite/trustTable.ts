import type { DatabaseSync } from 'node:sqlite';
import {
  followTrust,
  isFarBehind,
  keptMark,
  markFrom,
  marksBefore,
  NO_TRUST,
  requireNoted,
  sealedTrust,
  storedTrust,
  TRUST_MARK,
  type TrustMark,
} from '@phasegate/audit';
import type { StoredTrust } from '@phasegate/audit/verify';
import type { AuditRecord } from '@phasegate/core';
import type { ChainHead, KeptRecord, Seal, TrustRecord } from '../../runtime/ports.ts';
import { storedKept } from './keptParts.ts';
import { lazily, text } from './statements.ts';

/** What humans accepted. */
export interface TrustTable {
  /** The newest first. Throws `state_tampered` where they are not those of the project's chain. */
  acceptances(): readonly TrustRecord[];
  put(trust: TrustRecord): void;
  /** To be called when another process may have written. */
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** The project's chain, which the rows are held against. */
export interface ProjectChain {
  /** Where it ends, as it is signed. */
  ends(): ChainHead;
  page(page: { readonly after: number; readonly limit: number }): readonly AuditRecord[];
  /** Keeps a mark for other processes. */
  keep(mark: KeptRecord): void;
}

/** Opens the table. */
export function openTrustTable(database: DatabaseSync, seal: Seal, chain: ProjectChain): TrustTable {
  const write = lazily(database, 'INSERT INTO trusted (hash, workflow, data, mac) VALUES (?, ?, ?, ?)');
  const readMark = lazily(database, 'SELECT * FROM kept WHERE kind = ? AND key = ?');
  /** Up to where the chain was read, by this process. */
  let known = NO_TRUST;
  /** Answers that nobody has written past; every start asks, and people seldom accept something. */
  let kept: readonly TrustRecord[] | undefined;

  /** The mark at the end of the chain; null where its records do not lead there. */
  function follow(from: TrustMark, end: ChainHead): TrustMark | null {
    const walk = followTrust(seal, from);
    for (let { seq } = from.head; seq < end.seq; seq = walk.mark().head.seq) {
      const page = chain.page({ after: seq, limit: Math.min(PAGE, end.seq - seq) });
      if (page.length === 0 || !page.every((record) => walk.take(record))) return null;
    }
    const mark = walk.mark();
    return mark.head.seq === end.seq && mark.head.hash === end.hash ? mark : null;
  }

  function storedMark(): TrustMark {
    const row = readMark().get(TRUST_MARK.kind, TRUST_MARK.key);
    return markFrom(row === undefined ? null : storedKept(seal, row));
  }

  function atEnd(): TrustMark | null {
    const end = chain.ends();
    const stored = storedMark();
    for (const mark of marksBefore(end, [known, stored])) {
      const found = follow(mark, end);
      if (found === null) continue;
      known = found;
      if (isFarBehind(stored, end)) chain.keep(keptMark(found));
      return found;
    }
    return null;
  }

  function read(): readonly TrustRecord[] {
    const stored = allTrust(database, seal);
    // Where nothing is accepted nothing is let in, whatever was.
    return stored.length === 0 ? [] : requireNoted(stored, atEnd());
  }

  return {
    acceptances() {
      kept ??= atOnce(database, read);
      return kept;
    },
    put(trust) {
      kept = undefined;
      const { data, mac } = sealedTrust(seal, trust);
      write().run(trust.hash, trust.workflow, data, mac);
    },
    doubt() {
      kept = undefined;
    },
    committed: () => undefined,
    discarded() {
      kept = undefined;
    },
  };
}

/** All rows, oldest first. */
export function allTrust(database: DatabaseSync, seal: Seal): readonly StoredTrust[] {
  const rows = database.prepare('SELECT hash, workflow, data, mac FROM trusted ORDER BY number').all();
  return rows.map((row) =>
    storedTrust(seal, {
      hash: text(row, 'hash'),
      workflow: text(row, 'workflow'),
      data: text(row, 'data'),
      mac: text(row, 'mac'),
    }),
  );
}

const PAGE = 500;

/** Rows, head and chain have to be of one moment: another process may accept something in between. */
function atOnce<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec('BEGIN');
  try {
    return work();
  } finally {
    database.exec('COMMIT');
  }
}
