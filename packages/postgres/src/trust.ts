import {
  followTrust,
  isFarBehind,
  keptMark,
  markFrom,
  marksBefore,
  NO_TRUST,
  requireNoted,
  storedTrust,
  TRUST_MARK,
  type TrustMark,
} from '@phasegate/audit';
import type { StoredTrust } from '@phasegate/audit/verify';
import type { ChainHead, KeptRecord, Seal, TrustRecord } from '@phasegate/core/ports';
import { chainPage } from './audit.ts';
import { requireHead } from './chains.ts';
import type { Database, Query } from './database.ts';
import { storedKept } from './keptRows.ts';
import { text } from './rows.ts';

/** What humans accepted, newest first. Throws `state_tampered` where it is not what the project's chain says. */
export function createTrustReader(parts: {
  readonly database: Database;
  readonly seal: Seal;
  /** Keeps a mark for other nodes. */
  readonly keep: (mark: KeptRecord) => void;
}): () => Promise<readonly TrustRecord[]> {
  const { database, seal, keep } = parts;
  /** Up to where the chain was read, by this node. */
  let known = NO_TRUST;

  /** The mark at the end of the chain; null where its records do not lead there. */
  async function follow(query: Query, from: TrustMark, end: ChainHead): Promise<TrustMark | null> {
    const walk = followTrust(seal, from);
    for (let { seq } = from.head; seq < end.seq; seq = walk.mark().head.seq) {
      const page = await chainPage(query, null, { after: seq, limit: Math.min(PAGE, end.seq - seq) });
      if (page.length === 0 || !page.every((record) => walk.take(record))) return null;
    }
    const mark = walk.mark();
    return mark.head.seq === end.seq && mark.head.hash === end.hash ? mark : null;
  }

  async function storedMark(query: Query): Promise<TrustMark> {
    const { rows } = await query(MARK, [TRUST_MARK.kind, TRUST_MARK.key]);
    return markFrom(rows[0] === undefined ? null : storedKept(seal, rows[0]));
  }

  async function atEnd(query: Query): Promise<TrustMark | null> {
    const end = requireHead(seal, (await query('SELECT * FROM heads')).rows[0] ?? {}).project;
    const stored = await storedMark(query);
    for (const mark of marksBefore(end, [known, stored])) {
      const found = await follow(query, mark, end);
      if (found === null) continue;
      known = found;
      if (isFarBehind(stored, end)) keep(keptMark(found));
      return found;
    }
    return null;
  }

  // Rows, head and chain of one moment: another node may accept something in between.
  return () =>
    database.reading(async (query) => {
      const stored = await allTrust(query, seal);
      // Where nothing is accepted nothing is let in, whatever was.
      return stored.length === 0 ? [] : requireNoted(stored, await atEnd(query));
    });
}

/** All rows, oldest first. */
export async function allTrust(query: Query, seal: Seal): Promise<readonly StoredTrust[]> {
  const { rows } = await query('SELECT hash, workflow, data, mac FROM trusted ORDER BY number');
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
const MARK = 'SELECT * FROM kept WHERE kind = $1 AND key = $2';
