import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { canonicalJson, type Json, own, type Run, type Workflow } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import type { AuditFinding, ChainHead, Seal } from '@phasegate/core/ports';
import { isAnyWithin } from './anyWithin.ts';
import {
  type AuditKnowledge,
  type AuditRow,
  type AuditSource,
  emptyTally,
  type StoredHuman,
  type StoredRecord,
  type Verification,
} from './auditSource.ts';
import { columnsOfRun, verifyRun } from './verifyRun.ts';
import { workflowHash } from './workflowHash.ts';

/**
 * A bundle is a file of lines, each a JSON value: what it is, then each workflow before the first run that has it, each
 * run, and after it its records as `audit export` gives them. The last line has the project's signature over the rest.
 */
export const BUNDLE_FORMAT = 1;

/** What the last line of a bundle is signed over. */
export function bundleText(end: Omit<BundleEnd, 'signature'>): string {
  const { runs, records, sha256 } = end;
  return canonicalJson({ purpose: 'phasegate archive', format: BUNDLE_FORMAT, runs, records, sha256 });
}

/** The last line of a bundle. */
export interface BundleEnd {
  readonly runs: number;
  readonly records: number;
  /** Of all lines before. */
  readonly sha256: string;
  readonly signature: string;
}

/** What a verified bundle holds. */
export interface VerifiedBundle {
  readonly file: string;
  /** Of the whole file; null where it cannot be read or is none of this project's. */
  readonly sha256: string | null;
  readonly records: number;
  readonly runs: ReadonlyMap<string, BundledRun>;
  readonly findings: readonly AuditFinding[];
  /** Why it has no hash. */
  readonly wrong?: BundleFault;
}

/** Why a file is none of this project's archives. */
export interface BundleFault {
  /**
   * `foreign` may be anything, such as the archive of another project; `changed` began as an archive, and is not what was
   * written any more.
   */
  readonly kind: 'absent' | 'unreadable' | 'foreign' | 'changed';
  /** What is to be said after its name. */
  readonly reason: string;
}

/** A run of a bundle. */
export interface BundledRun {
  readonly head: ChainHead;
  /** Where its chain ended at each of the places that were asked for, where that was not the same as before. */
  readonly heads: readonly (ChainHead & { readonly place: number })[];
}

/** What bundles are verified with. */
export interface BundleWork {
  readonly seal: Seal;
  readonly knowledge: AuditKnowledge;
  readonly humans: readonly StoredHuman[];
  /** Places of anchors, in their order. */
  readonly places: readonly number[];
  /** What the hash of the whole file must be, where that is known: nothing else is read then. */
  readonly expected?: string;
  /** Lets others work; called between records. */
  readonly breathe?: Verification['breathe'];
}

/**
 * Verifies a bundle: the signature over its bytes first, and only then what it says, one run at a time. Nothing of a file
 * that the project did not sign is read as more than bytes.
 */
export async function verifyBundle(work: BundleWork, file: string): Promise<VerifiedBundle> {
  const invalid = (wrong: BundleFault): VerifiedBundle => ({
    file,
    sha256: null,
    records: 0,
    runs: new Map(),
    findings: [archiveInvalid(null, `the archive \`${file}\` ${wrong.reason}`)],
    wrong,
  });
  let bundle: FileHandle | undefined;
  try {
    // Not blocking: a pipe that nobody writes to would be waited for without end.
    bundle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size, ...found } = await lookAt(bundle);
    if (!found.isFile) return invalid({ kind: 'foreign', reason: 'is not a file' });
    const signed = await readSigned(work.seal, bundle, size);
    if ('kind' in signed) return invalid(signed);
    if (work.expected !== undefined && work.expected !== signed.whole) {
      return invalid({ kind: 'changed', reason: 'is another archive of this project' });
    }
    return await verifyRuns(work, { file, bundle }, signed);
  } catch (error) {
    const code = own(error, 'code');
    if (typeof code === 'string') {
      const kind = code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'unreadable';
      return invalid({ kind, reason: `cannot be read: ${reasonOf(error)}` });
    }
    const why = error instanceof Error ? error.message : String(error);
    return invalid({ kind: 'changed', reason: `cannot be understood: ${why}` });
  } finally {
    await bundle?.close();
  }
}

async function lookAt(bundle: FileHandle): Promise<{ readonly isFile: boolean; readonly size: number }> {
  const stats = await bundle.stat();
  return { isFile: stats.isFile(), size: stats.size };
}

/** The finding about an archive, or about one run in it. */
export function archiveInvalid(run: string | null, message: string): AuditFinding {
  return { kind: 'archive_invalid', run, seq: null, message };
}

interface Signed extends BundleEnd {
  readonly whole: string;
}

/**
 * The last line, if the project signed it over all that comes before. Until that is known nothing of the file is held but
 * its end: it may be anything, of any size, without a single line break.
 */
async function readSigned(seal: Seal, bundle: FileHandle, size: number): Promise<Signed | BundleFault> {
  const tail = Buffer.alloc(Math.min(size, LONGEST_END));
  const { bytesRead } = await bundle.read(tail, 0, tail.length, size - tail.length);
  const last = tail.subarray(tail.lastIndexOf(10, bytesRead - 2) + 1, bytesRead);
  const end = endOf(last);
  // The signature is over the hash that the line gives: of what nobody signed, not even that is looked at.
  if (end === null) {
    return (await beginsAsBundle(bundle))
      ? { kind: 'changed', reason: 'does not end with a signature: it was cut short, or something was added' }
      : { kind: 'foreign', reason: UNSIGNED };
  }
  if (!seal.verifySignature(bundleText(end), end.signature)) return { kind: 'foreign', reason: UNSIGNED };
  const hash = createHash('sha256');
  let left = size - last.length;
  for await (const chunk of chunksOf(bundle)) {
    hash.update(chunk.subarray(0, Math.max(0, left)));
    left -= chunk.length;
  }
  if (end.sha256 !== hash.copy().digest('hex')) {
    return { kind: 'changed', reason: 'was changed after the project signed it' };
  }
  return { ...end, whole: hash.update(last).digest('hex') };
}

const UNSIGNED = "does not have the project's signature over what it holds";

/** Whether its first bytes are those of a bundle. It says how a file without a signature is told, and nothing more. */
async function beginsAsBundle(bundle: FileHandle): Promise<boolean> {
  const first = Buffer.alloc(BUNDLE_BEGIN.length);
  const { bytesRead } = await bundle.read(first, 0, first.length, 0);
  return first.subarray(0, bytesRead).toString() === BUNDLE_BEGIN;
}

const BUNDLE_BEGIN = '{"phasegate_archive":';

/** Far more than the line of a signature takes. */
const LONGEST_END = 16_384;

function endOf(line: Buffer): BundleEnd | null {
  try {
    const end = JSON.parse(line.toString()) as Json;
    const [runs, records] = [own(end, 'runs'), own(end, 'records')];
    const [sha256, signature] = [own(end, 'sha256'), own(end, 'signature')];
    if (typeof runs !== 'number' || typeof records !== 'number') return null;
    if (typeof sha256 !== 'string' || typeof signature !== 'string') return null;
    return { runs, records, sha256, signature };
  } catch {
    return null;
  }
}

function chunksOf(bundle: FileHandle): AsyncIterable<Buffer> {
  return bundle.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 18 });
}

/** The lines of a file, each with its line break. */
async function* linesOf(bundle: FileHandle): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of chunksOf(bundle)) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, at + 1)]);
      parts = [];
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

async function verifyRuns(
  work: BundleWork,
  { file, bundle }: { readonly file: string; readonly bundle: FileHandle },
  signed: Signed,
): Promise<VerifiedBundle> {
  const workflows = new Map<string, Workflow>();
  const runs = new Map<string, BundledRun>();
  const findings: AuditFinding[] = [];
  const hash = createHash('sha256');
  let [records, last]: [number, Buffer] = [0, Buffer.alloc(0)];
  let current: { readonly line: Json; readonly records: StoredRecord[] } | null = null;

  const finish = async () => {
    if (current === null) return;
    const { id, ...found } = await verifyOne(work, { ...current, workflows, findings });
    runs.set(id, found);
  };
  for await (const line of linesOf(bundle)) {
    if (last.length > 0) {
      const told = JSON.parse(last.toString()) as Json;
      if (own(told, 'seq') !== undefined) {
        records += 1;
        current?.records.push(told as unknown as StoredRecord);
      } else if (own(told, 'state') !== undefined) {
        await finish();
        current = { line: told, records: [] };
      } else if (own(told, 'definition') !== undefined) {
        const definition = own(told, 'definition') as unknown as Workflow;
        workflows.set(workflowHash(definition), definition);
      }
    }
    hash.update(line);
    last = line;
  }
  await finish();
  if (hash.digest('hex') !== signed.whole) {
    findings.push(archiveInvalid(null, `the archive \`${file}\` was changed while it was read`));
  }
  if (runs.size !== signed.runs || records !== signed.records) {
    findings.push(archiveInvalid(null, `the archive \`${file}\` does not hold what its last line says`));
  }
  return { file, sha256: signed.whole, records, runs, findings };
}

interface OneRun {
  readonly line: Json;
  readonly records: readonly StoredRecord[];
  readonly workflows: ReadonlyMap<string, Workflow>;
  readonly findings: AuditFinding[];
}

/** Verifies a run as one that is in the store, by what the bundle has of it. */
async function verifyOne(
  { seal, knowledge, humans, places, breathe = () => undefined }: BundleWork,
  { line, records, workflows, findings }: OneRun,
): Promise<BundledRun & { readonly id: string }> {
  const state = own(line, 'state') as unknown as Omit<Run, 'workflow'>;
  const head = own(line, 'head') as unknown as ChainHead;
  const { id, workflowHash } = state;
  const workflow = workflows.get(workflowHash);
  const blamed = new Set<string>();
  const row: AuditRow = {
    id,
    workflowHash,
    head,
    sealed: true,
    headed: head,
    run: state,
    columns: workflow === undefined ? {} : columnsOfRun({ ...state, workflow } as Run),
  };
  const verification: Verification = {
    source: sourceOf(row, records, workflows),
    seal,
    knowledge,
    humans,
    tally: emptyTally(),
    since: null,
    report(finding) {
      blamed.add(id);
      findings.push(finding);
    },
    blamed: (run) => blamed.has(run),
    breathe,
  };
  await verifyRun(verification, row);
  return { id, head, heads: headsAt(places, records) };
}

function headsAt(places: readonly number[], records: readonly StoredRecord[]): BundledRun['heads'] {
  const placed = records.flatMap(({ place, seq, hash }) =>
    place === undefined ? [] : [{ place, seq, hash }],
  );
  placed.sort((one, other) => one.place - other.place);
  // All but one that a place lies behind, and before the next one, is not asked for.
  return placed.filter(({ place }, index) => isAnyWithin(places, place, placed[index + 1]?.place));
}

/** All that a verification of this one run looks at. */
function sourceOf(
  row: AuditRow,
  records: readonly StoredRecord[],
  workflows: ReadonlyMap<string, Workflow>,
): AuditSource {
  return {
    rows: () => [row],
    records: () => records,
    seqOf: () => row.head.seq,
    hashAt: (_, seq) => records.find((record) => record.seq === seq)?.hash,
    orphans: () => [],
    head: () => null,
    workflow: (hash) => workflows.get(hash) ?? null,
    humans: () => [],
    agents: () => [],
    acceptances: () => [],
    unsealed: () => [],
  };
}
