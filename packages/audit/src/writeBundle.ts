import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import type { ChainHead, Seal } from '@phasegate/core/ports';
import { BUNDLE_FORMAT, bundleText, verifyBundle } from './archiveBundle.ts';
import type { AuditKnowledge, AuditRow, AuditSource, PromptAuditSource, StoredHuman } from './auditSource.ts';
import { tampered } from './sealedRecord.ts';

/** What is to be bundled. */
export interface Bundling {
  readonly seal: Seal;
  readonly knowledge: AuditKnowledge;
  readonly before: string;
  /** Where the bundle goes; never overwritten. */
  readonly file: string;
  readonly by: string;
  readonly time: string;
}

/** Runs that are to go into a bundle, as they are at one moment. */
export interface FoundRuns {
  readonly source: AuditSource | PromptAuditSource;
  readonly rows: AsyncIterable<KeyedRow> | Iterable<KeyedRow>;
}

/** The row of a run, with its number in the database. */
export interface KeyedRow {
  readonly key: number;
  readonly row: AuditRow;
}

/** A bundle on disk, read back and verified. */
export interface Bundle {
  readonly sha256: string;
  readonly records: number;
  readonly moved: readonly BundledKey[];
}

/** A run of it, with its number in the database. */
export interface BundledKey {
  readonly key: number;
  readonly run: string;
  readonly head: ChainHead;
  readonly first: number;
  readonly last: number;
}

/** Writes runs to a bundle. Null where there is none. Changes nothing where they are read. */
export async function writeBundle(
  bundling: Bundling,
  reading: (write: (found: FoundRuns) => Promise<Written | null>) => Promise<Written | null>,
): Promise<Bundle | null> {
  const { file, seal, knowledge } = bundling;
  if (existsSync(file)) throw exists(file);
  const draft = `${file}.${randomUUID()}.partial`;
  try {
    const written = await reading((found) => writeDraft(bundling, draft, found));
    if (written === null) return null;
    const { humans, ...bundle } = written;
    const read = await verifyBundle({ seal, knowledge, humans, places: [] }, draft);
    const [finding] = read.findings;
    const whole = bundle.moved.every(({ run, head }) => read.runs.get(run)?.head.hash === head.hash);
    if (finding !== undefined || read.sha256 !== bundle.sha256 || !whole) {
      const what = finding?.message ?? 'it does not hold what was written';
      throw new PhasegateError('audit_broken', `what was written to \`${file}\` does not verify: ${what}`, {
        hint: 'nothing was archived',
      });
    }
    // A link, unlike a rename, fails where a file has come to be meanwhile.
    linkSync(draft, file);
    sync(dirname(file));
    return bundle;
  } catch (error) {
    if (own(error, 'code') === 'EEXIST') throw exists(file);
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A run that was changed between its bundle and its removal stays where it is. */
export function changedMeanwhile(run: string, file: string): PhasegateError {
  return new PhasegateError('run_changed', `run \`${run}\` was changed while it was being archived`, {
    hint: `nothing was archived, and \`${file}\` can be removed; try again`,
  });
}

/** A bundle before it was read back, and who its decisions are verified by. */
export interface Written extends Bundle {
  readonly humans: readonly StoredHuman[];
}

async function writeDraft(
  { seal, before, by, time }: Bundling,
  draft: string,
  { source, rows }: FoundRuns,
): Promise<Written | null> {
  let out: BundleWriter | undefined;
  try {
    const known = new Set<string>();
    const moved: BundledKey[] = [];
    let records = 0;
    for await (const { key, row } of rows) {
      if (out === undefined) {
        out = openWriter(draft);
        out.line({ phasegate_archive: BUNDLE_FORMAT, archived_at: time, before, by });
      }
      const run = await writeRun(out, { source, row, known });
      moved.push({ key, ...run });
      records += run.head.seq;
      if (moved.length % RUNS_PER_BREATH === 0) await new Promise((resume) => setImmediate(resume));
    }
    if (out === undefined) return null;
    const sha256 = out.end({ runs: moved.length, records }, seal);
    return { sha256, records, moved, humans: await source.humans() };
  } finally {
    out?.close();
  }
}

const RUNS_PER_BREATH = 64;

async function writeRun(
  out: BundleWriter,
  {
    source,
    row,
    known,
  }: { readonly source: FoundRuns['source']; readonly row: AuditRow; readonly known: Set<string> },
): Promise<Omit<BundledKey, 'key'>> {
  const { id, head } = row;
  if (!row.sealed || row.run === null) throw tampered(`run \`${id}\``);
  const records = [];
  for await (const record of source.records(id)) records.push(record);
  // A run that was migrated began with another workflow; the ones between are told by its records.
  for (const hash of [own(records[0]?.data, 'workflowHash'), row.workflowHash]) {
    if (typeof hash !== 'string' || known.has(hash)) continue;
    const definition = await source.workflow(hash);
    if (definition === null) throw tampered(`the workflow of run \`${id}\``);
    out.line({ workflow: hash, definition });
    known.add(hash);
  }
  out.line({ run: id, head, state: row.run });
  for (const { seq, run, time, principal, event, data, prev, hash, place } of records) {
    out.line({ seq, run, time, principal, event, data, prev, hash, place });
  }
  return { run: id, head, first: records[0]?.place ?? 0, last: records.at(-1)?.place ?? 0 };
}

interface BundleWriter {
  line(value: object): void;
  /** Writes the last line and waits for the disk; gives the hash of the whole file. */
  end(counts: { readonly runs: number; readonly records: number }, seal: Seal): string;
  close(): void;
}

function openWriter(file: string): BundleWriter {
  const descriptor = openSync(file, 'wx', 0o600);
  const hash = createHash('sha256');
  let held: Buffer[] = [];
  let size = 0;
  const flush = () => {
    const bytes = Buffer.concat(held);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    [held, size] = [[], 0];
  };
  const line = (value: object) => {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    hash.update(bytes);
    held.push(bytes);
    size += bytes.length;
    if (size >= HELD_BYTES) flush();
  };
  return {
    line,
    end(counts, seal) {
      const end = { ...counts, sha256: hash.copy().digest('hex') };
      line({ ...end, signature: seal.sign(bundleText(end)) });
      flush();
      fsyncSync(descriptor);
      return hash.digest('hex');
    },
    close: () => closeSync(descriptor),
  };
}

const HELD_BYTES = 1 << 20;

function exists(file: string): PhasegateError {
  return new PhasegateError(
    'store_unavailable',
    `\`${file}\` cannot be used: it exists, and an archive never overwrites`,
    {
      hint: 'name a file that is not there yet, or none: the archive then goes to `archives/` in the state directory',
    },
  );
}

function sync(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
