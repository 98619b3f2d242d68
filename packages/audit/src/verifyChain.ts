import type { AuditDraft, AuditFinding, ChainHead, Seal, WrittenDraft } from '@phasegate/core/ports';
import type { StoredRecord } from './auditSource.ts';

/** Looks at the records of one chain, one after another, and keeps nothing but the newest link. */
export interface ChainCheck {
  take(record: StoredRecord): readonly AuditFinding[];
  head(): ChainHead;
}

/** Starts checking a chain behind a record, or at its first one. */
export function checkChain(seal: Seal, run: string | null, from: ChainHead = START): ChainCheck {
  let head = from;
  let place = 0;
  const hashHolds = createHashCheck(seal);

  /** No hash covers where a record stands among all, and what reads them in that order believes it. */
  function standsBehind(record: StoredRecord): boolean {
    if (record.place === undefined) return true;
    const behind = record.place > place;
    place = record.place;
    return behind;
  }

  return {
    head: () => head,
    take(record) {
      const placed = standsBehind(record);
      const sound = placed && record.seq === head.seq + 1 && record.prev === head.hash && hashHolds(record);
      if (sound) {
        head = { seq: record.seq, hash: record.hash };
        return NONE;
      }
      const findings: AuditFinding[] = [];
      const gap = record.seq !== head.seq + 1;
      if (gap) findings.push(missing(run, head.seq + 1, record.seq - 1));
      // A record that was edited and hashed anew no longer is the one its successor points at.
      else if (record.prev !== head.hash) {
        findings.push(edited(run, Math.max(head.seq, 1), 'is not the record its successor points at'));
      }
      if (!hashHolds(record)) {
        findings.push(edited(run, record.seq, 'does not have the hash it was written with'));
      }
      if (!placed) findings.push(edited(run, record.seq, 'does not stand behind the one before it any more'));
      head = { seq: record.seq, hash: record.hash };
      return findings;
    },
  };
}

/** The finding about a record that is not as it was written. */
export function edited(run: string | null, seq: number, what: string): AuditFinding {
  return { kind: 'record_edited', run, seq, message: `record ${seq} of ${nameOf(run)} ${what}` };
}

/** The finding about records missing at the end of a chain. */
export function tailCut(run: string | null, seq: number, last: number): AuditFinding {
  const which = seq === last ? `record ${seq} is` : `records ${seq} to ${last} are`;
  return { kind: 'tail_cut', run, seq, message: `${which} missing at the end of ${nameOf(run)}` };
}

/** The finding about a run that is gone. */
export function dropped(run: string, what: string): AuditFinding {
  return { kind: 'run_dropped', run, seq: null, message: `run \`${run}\` ${what}` };
}

/** The finding about a run that is an older copy of itself. */
export function rolledBack(run: string, seq: number, what: string): AuditFinding {
  return { kind: 'run_rolled_back', run, seq, message: `run \`${run}\` ${what}` };
}

/** A chain as messages name it. */
export function nameOf(run: string | null): string {
  return run === null ? "the project's chain" : `run \`${run}\``;
}

function missing(run: string | null, first: number, last: number): AuditFinding {
  const which = first === last ? `record ${first} is` : `records ${first} to ${last} are`;
  return { kind: 'record_missing', run, seq: first, message: `${which} missing in ${nameOf(run)}` };
}

const NONE: readonly AuditFinding[] = [];

const START: ChainHead = { seq: 0, hash: '' };

/**
 * The stored text is what was hashed, unless a large value in it has its keys in another order than the sorted one: then
 * the data is written anew. The way that the last record took is tried first. A text that was hashed is the data's own:
 * the fields around it are strings without a bare quote, so the same bytes have no other split.
 */
function createHashCheck(seal: Seal): (record: StoredRecord) => boolean {
  let isSorted = true;
  return (record) => {
    const { dataText } = record;
    const asStored = () =>
      dataText !== undefined && hashOf(seal, record, { data: null, dataText }) === record.hash;
    const written = () => hashOf(seal, record, { data: record.data }) === record.hash;
    // A short text has no value that is stored elsewhere.
    if (isSorted || dataText === undefined || dataText.length <= SHORT) {
      if (asStored()) return true;
      isSorted = false;
      return written();
    }
    if (written()) return true;
    isSorted = true;
    return asStored();
  };
}

/** In characters. */
const SHORT = 512;

function hashOf(
  seal: Seal,
  { seq, run, time, principal, event, prev }: StoredRecord,
  data: Pick<AuditDraft, 'data'> | Pick<WrittenDraft, 'data' | 'dataText'>,
): string | undefined {
  const draft = { time, principal, event: event as AuditDraft['event'], ...data };
  return seal.chain(run, { seq: seq - 1, hash: prev }, [draft])[0]?.hash;
}
