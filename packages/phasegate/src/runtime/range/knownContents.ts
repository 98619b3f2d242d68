import { type Json, own } from '@phasegate/core';
import { compileGlob } from '@phasegate/core/model';
import type {
  Attestation,
  FeedRecord,
  FileContent,
  KnownContents,
  KnownEnd,
  Store,
  Uncounted,
} from '../ports.ts';

/** Reads from the audit which contents phases ended with, which humans accepted, and what humans signed. */
export async function knownContents(store: Pick<Store, 'feedSince'>): Promise<KnownContents> {
  const reading = createReading();
  for (let after: number | undefined; ; ) {
    const page = await store.feedSince({
      events: [
        'run_started',
        'run_migrated',
        'phase_completed',
        'files_recorded',
        'run_ended',
        'range_attested',
      ],
      since: new Date(0).toISOString(),
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const record of page) reading.take(record);
    if (page.length < PAGE) return reading.end();
    after = page.at(-1)?.id ?? after;
  }
}

const PAGE = 1_000;

/** A run as far as it was read. */
interface ReadRun {
  readonly id: string;
  workflow: string;
  /** Whether a human had accepted the workflow it is held to. */
  trusted: boolean;
  completed: boolean;
  /** What changed in phases that did not end well, and may be what a later one ends with. */
  readonly carried: Map<string, { readonly now: FileContent | null; readonly phase: string }>;
  /** Paths of a phase that was left, until its contents are seen to be on record. */
  unproven: { readonly phase: string; readonly paths: readonly string[] } | null;
}

type Ended = Omit<KnownEnd, 'completed' | 'run' | 'workflow'>;

function createReading() {
  const runs = new Map<string, ReadRun>();
  const ends: { readonly of: ReadRun; readonly workflow: string; readonly end: Ended }[] = [];
  const attestations: Attestation[] = [];
  const uncounted: Uncounted[] = [];

  function settleUnproven(run: ReadRun): void {
    for (const path of run.unproven?.paths ?? []) {
      uncounted.push({ path, run: run.id, phase: run.unproven?.phase ?? '', why: 'older' });
    }
    run.unproven = null;
  }

  function takeRecorded(run: ReadRun, { data, time }: FeedRecord): void {
    const phase = textOf(own(data, 'phase'));
    const files = filesOf(own(data, 'files'));
    const acceptedBy = own(data, 'accepted_by');
    if (typeof acceptedBy === 'string') {
      for (const [path, now] of files) {
        ends.push({ of: run, workflow: run.workflow, end: { path, now, phase, at: time, acceptedBy } });
      }
      return;
    }
    run.unproven = null;
    for (const [path, now] of files) run.carried.set(path, { now, phase });
    if (own(data, 'part') !== own(data, 'parts')) return;
    const outcome = own(data, 'outcome');
    const isPassed = (outcome === 'ok' || outcome === 'iterate') && own(data, 'would_refuse') === 0;
    const globs = wordsOf(own(data, 'writes')).map(compileGlob);
    const allows = (path: string) => globs.some((matches) => matches(path));
    for (const [path, { now }] of run.carried) {
      if (!allows(path)) continue;
      if (!isPassed || !run.trusted) {
        uncounted.push({ path, run: run.id, phase, why: run.trusted ? 'not_passed' : 'not_accepted' });
        continue;
      }
      run.carried.delete(path);
      ends.push({ of: run, workflow: run.workflow, end: { path, now, phase, at: time } });
    }
  }

  function takeInRun(run: ReadRun, record: FeedRecord): void {
    const { event, data } = record;
    if (event === 'run_migrated') {
      run.trusted = own(data, 'trusted') === true;
      run.workflow = textOf(own(own(data, 'workflow') ?? null, 'id')) || run.workflow;
    } else if (event === 'phase_completed') {
      settleUnproven(run);
      const changes = own(own(data, 'files') ?? null, 'changes');
      const paths = (Array.isArray(changes) ? changes : []).map((change: Json) =>
        textOf(own(change, 'path')),
      );
      run.unproven = { phase: textOf(own(data, 'phase')), paths };
    } else if (event === 'files_recorded') takeRecorded(run, record);
  }

  return {
    take(record: FeedRecord): void {
      const { event, data, run: id } = record;
      if (event === 'range_attested') {
        const [human, text, signature] = ['human', 'text', 'signature'].map((name) =>
          textOf(own(data, name)),
        );
        attestations.push({ human: human ?? '', text: text ?? '', signature: signature ?? '' });
      } else if (event === 'run_ended' && id === null) {
        const ended = runs.get(textOf(own(data, 'run')));
        if (ended !== undefined) ended.completed = own(data, 'status') === 'completed';
      } else if (event === 'run_started' && id !== null) {
        const trusted = own(data, 'trusted') === true;
        const workflow = textOf(own(data, 'workflow'));
        runs.set(id, { id, workflow, trusted, completed: false, carried: new Map(), unproven: null });
      } else if (id !== null) {
        const run = runs.get(id);
        if (run !== undefined) takeInRun(run, record);
      }
    },
    end(): KnownContents {
      for (const run of runs.values()) settleUnproven(run);
      return {
        ends: ends.map(({ of, workflow, end }) => ({
          ...end,
          run: of.id,
          workflow,
          completed: of.completed,
        })),
        attestations,
        uncounted,
      };
    },
  };
}

function filesOf(value: Json | undefined): readonly (readonly [string, FileContent | null])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((file: Json): (readonly [string, FileContent | null])[] => {
    if (!Array.isArray(file) || typeof file[0] !== 'string') return [];
    const [path, mode, sha256] = file;
    if (file.length === 1) return [[path, null]];
    return typeof mode === 'string' && typeof sha256 === 'string' ? [[path, { mode, sha256 }]] : [];
  });
}

function wordsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === 'string') : [];
}

/** Phases are numbers in some workflows. */
function textOf(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
