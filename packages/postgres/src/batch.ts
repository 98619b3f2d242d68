import {
  type CutRun,
  digestOf,
  ITEMS,
  NO_SUMS,
  type Part,
  placeOf,
  type StepSums,
  sealStored,
  storedState,
  wholeLength,
  withPlaces,
  withPlacesOf,
  withStep,
} from '@phasegate/audit';
import type { JsonObject, Run, Workflow } from '@phasegate/core';
import type {
  AuditDraft,
  CallRecord,
  CallsOver,
  ChainHead,
  LeaseChange,
  LeaseRecord,
  Seal,
  SealedRecord,
  WrittenDraft,
} from '@phasegate/core/ports';
import type { CallsOfRun } from './callRows.ts';
import { keptKey } from './keptRows.ts';
import { leaseKey } from './leaseRows.ts';
import { type Found, type RunRef, type RunRow, sound } from './runReader.ts';

/** What was read for a batch, before its works are done. */
export interface Prefetched {
  readonly runs: ReadonlyMap<string, Found<RunRow>>;
  /** By `leaseKey`. */
  readonly leases: ReadonlyMap<string, Found<LeaseRecord>>;
  readonly calls: ReadonlyMap<string, CallsOfRun>;
  /** By `keptKey`. */
  readonly kept: ReadonlyMap<string, Found<JsonObject>>;
  /** Of runs that are to be made, those that are in an archive. */
  readonly archived: ReadonlySet<string>;
}

/** What is written in one transaction: collected while works are done, one after another, and written at the end. */
export interface Batch {
  /** The run as the batch has made it. */
  current(id: string): RunRow | undefined;
  isArchived(id: string): boolean;
  /** The runs that the batch has written, as they are now. */
  placed(): readonly Run[];
  /** The run is this from now on; `before` is its row until now, and none where it is new. */
  place(next: PlacedRun, before: RunRow | undefined): ChainHead;
  /** The run's chain grows and nothing else of it changes. */
  grow(before: RunRow, drafts: readonly WrittenDraft[]): void;
  /** For the project's chain. */
  project(drafts: readonly AuditDraft[]): void;
  keepWorkflow(hash: string, workflow: Workflow): void;
  lease(run: string, item: string | null): LeaseRecord | undefined;
  changeLease(change: LeaseChange): void;
  areOver(run: string, which: CallsOver): boolean;
  beginCall(call: CallRecord): void;
  dropCall(run: string, id: string): void;
  endCall(run: string, id: string): void;
  kept(kind: string, key: string): JsonObject | undefined;
  keep(kind: string, key: string, data: { readonly value: JsonObject; readonly text: string }): void;
  rest(row: RunRow, since: string | null): void;
  /** How many characters of texts it writes so far, about. */
  size(): number;
  /** All that is to be written. */
  readonly writes: Writes;
}

/** A run to be stored, with its texts. */
export interface PlacedRun {
  readonly run: Run;
  readonly version: number;
  readonly era: number;
  readonly cut: CutRun;
  /** The drafts of its records, and the texts of their data as they are stored. */
  readonly written: readonly WrittenDraft[];
  readonly drafts: readonly Parameters<typeof withPlaces>[0][];
}

/** What a batch writes, in the order in which it came. */
export interface Writes {
  readonly chains: ChainWrite[];
  readonly texts: {
    readonly ref: RunRef;
    readonly n: number;
    readonly kind: number;
    readonly text: string;
  }[];
  /** By run: where all its items were written anew. */
  readonly itemsAnew: Map<string, { readonly ref: RunRef; readonly n: number }>;
  /** Of each run its newest, with what was in the database before. */
  readonly runs: Map<string, RunWrite>;
  readonly workflows: Map<string, Workflow>;
  /** By `leaseKey`; null for one that is dropped. */
  readonly leases: Map<string, LeaseChange>;
  readonly callsBegun: CallRecord[];
  readonly callsDropped: { readonly run: string; readonly id: string }[];
  readonly callsEnding: { readonly run: string; readonly id: string }[];
  readonly kept: Map<string, { readonly kind: string; readonly key: string; readonly text: string }>;
  readonly rests: { readonly ref: RunRef; readonly since: string | null }[];
}

/** Records of one chain, in a row. Those of the project get their place in it when it is known where it ends. */
export type ChainWrite =
  | { readonly ref: RunRef; readonly records: readonly SealedRecord[]; readonly stored: readonly string[] }
  | { readonly ref: null; readonly drafts: readonly AuditDraft[] };

/** A run that is written. */
export interface RunWrite {
  row: RunRow;
  /** What the database has of it; none where it is new. */
  readonly was: Pick<RunRow, 'version' | 'head'> | null;
  /** Null where only the head moved. */
  state: string | null;
}

/** Begins a batch on what was read for it. */
export function createBatch(seal: Seal, found: Prefetched): Batch {
  const runs = new Map(found.runs);
  const leases = new Map(found.leases);
  const calls = new Map(found.calls);
  const kept = new Map(found.kept);
  const writes: Writes = {
    chains: [],
    texts: [],
    itemsAnew: new Map(),
    runs: new Map(),
    workflows: new Map(),
    leases: new Map(),
    callsBegun: [],
    callsDropped: [],
    callsEnding: [],
    kept: new Map(),
    rests: [],
  };
  let size = 0;

  function write(row: RunRow, state: string | null): void {
    const { id } = row.run;
    const earlier = writes.runs.get(id);
    const before = sound(found.runs.get(id));
    runs.set(id, row);
    size += state?.length ?? 0;
    if (earlier === undefined) writes.runs.set(id, { row, was: before ?? null, state });
    else {
      earlier.row = row;
      earlier.state = state ?? earlier.state;
    }
  }

  function chain(
    { ref, id, head }: { readonly ref: RunRef; readonly id: string; readonly head: ChainHead },
    drafts: readonly WrittenDraft[],
    stored?: readonly string[],
  ): ChainHead {
    const records = seal.chain(id, head, drafts);
    const texts = stored ?? records.map(({ dataText }) => dataText);
    for (const { length } of texts) size += length;
    writes.chains.push({ ref, records, stored: texts });
    const newest = records.at(-1) ?? head;
    return { seq: newest.seq, hash: newest.hash };
  }

  function sealed(row: Omit<RunRow, 'mac'>): RunRow {
    return {
      ...row,
      mac: sealStored(seal, { runId: row.run.id, workflowHash: row.run.workflowHash, ...row }),
    };
  }

  return {
    writes,
    size: () => size,
    current: (id) => sound(runs.get(id)),
    isArchived: (id) => found.archived.has(id),
    placed: () => [...writes.runs.values()].map(({ row }) => row.run),
    place({ run, version, era, cut, written, drafts }, before) {
      const ref = before?.ref ?? { key: 0, era };
      let sums: StepSums = before ?? NO_SUMS;
      let lastText = before?.lastText ?? 0;
      const put = (kind: number, stored: string) => {
        lastText += 1;
        size += stored.length;
        writes.texts.push({ ref, n: lastText, kind, text: stored });
        return lastText;
      };
      const here = new Map<string, string>();
      const placing = (part: Part) => {
        const known = here.get(part.digest) ?? sums.places.get(part.digest);
        if (known !== undefined) return known;
        const place = placeOf(put(0, part.text), part);
        here.set(part.digest, place);
        return place;
      };
      const stored = drafts.map((draft) => withPlaces(draft, placing));
      const head = chain({ ref, id: run.id, head: before?.head ?? FIRST_LINK }, written, stored);
      for (const { kind, cut: step } of cut.steps) {
        const text = withPlaces(step, placing);
        const n = put(kind, text);
        // Those before and their changes are read by nobody any more.
        if (kind === ITEMS && sums.itemsLength > 0) writes.itemsAnew.set(run.id, { ref, n });
        sums = withStep(sums, { kind, text });
      }
      const state = storedState(cut, placing);
      const { steps, stepsLength, itemsLength, changesLength } = sums;
      const places = withPlacesOf(sums.places, state);
      const lengths = { stepsLength, itemsLength, changesLength, stateLength: wholeLength(state) };
      const { itemsApart } = cut;
      const digest = digestOf(state);
      write(
        sealed({ ref, run, version, head, digest, steps, itemsApart, lastText, places, ...lengths }),
        state,
      );
      return head;
    },
    grow(before, drafts) {
      if (drafts.length === 0) return;
      const head = chain({ ref: before.ref, id: before.run.id, head: before.head }, drafts);
      write(sealed({ ...before, head }), null);
    },
    project(drafts) {
      if (drafts.length > 0) writes.chains.push({ ref: null, drafts });
    },
    keepWorkflow(hash, workflow) {
      writes.workflows.set(hash, workflow);
    },
    lease: (run, item) => sound(leases.get(leaseKey(run, item))),
    changeLease(change) {
      const { run, item } = 'put' in change ? change.put : change.drop;
      const key = leaseKey(run, item);
      if ('put' in change && change.onlyHeld && sound(leases.get(key))?.agent !== change.put.agent) return;
      writes.leases.set(key, change);
      if ('put' in change) leases.set(key, change.put);
      else leases.delete(key);
    },
    areOver(run, { item, begun, void: gone }) {
      const found = calls.get(run);
      const under = (found?.under ?? []).filter((call) => item === null || call.item === item);
      const counts = [...(found?.begun ?? [])].filter(([of]) => item === null || of === item);
      const all = counts.reduce((sum, [, count]) => sum + count, 0);
      if (begun !== undefined && begun !== all) return false;
      return under.every(({ id }) => gone.includes(id));
    },
    beginCall(call) {
      writes.callsBegun.push(call);
      const { under, begun } = calls.get(call.run) ?? { under: [], begun: new Map<string, number>() };
      const item = call.item ?? '';
      calls.set(call.run, {
        under: [...under, call],
        begun: new Map(begun).set(item, (begun.get(item) ?? 0) + 1),
      });
    },
    dropCall(run, id) {
      writes.callsDropped.push({ run, id });
      const found = calls.get(run);
      if (found !== undefined)
        calls.set(run, { ...found, under: found.under.filter((call) => call.id !== id) });
      const begun = writes.callsBegun.findIndex((call) => call.run === run && call.id === id);
      if (begun < 0) return;
      // Begun and dropped in one batch: it counts as begun, and is not under way.
      writes.callsBegun[begun] = { ...(writes.callsBegun[begun] as CallRecord), id: '' };
    },
    endCall(run, id) {
      writes.callsEnding.push({ run, id });
    },
    kept: (kind, key) => sound(kept.get(keptKey(kind, key))),
    keep(kind, key, { value, text }) {
      kept.set(keptKey(kind, key), value);
      size += text.length;
      writes.kept.set(keptKey(kind, key), { kind, key, text });
    },
    rest({ ref }, since) {
      writes.rests.push({ ref, since });
    },
  };
}

const FIRST_LINK: ChainHead = { seq: 0, hash: '' };
