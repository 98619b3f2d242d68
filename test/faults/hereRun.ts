import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fold } from '@phasegate/core';
import { sampleDraft } from '@phasegate/core/store-contract';
import { openKeys } from '../../packages/phasegate/src/runtime/keys.ts';
import { decisionIsSigned } from '../../packages/phasegate/src/runtime/openProject.ts';
import { createSeal } from '../../packages/phasegate/src/runtime/seal.ts';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { openPostgresStore } from '../../packages/postgres/src/openPostgresStore.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { type Checked, checkHistory } from './checkHistory.ts';
import { openHereNodes, type Plant } from './hereNodes.ts';
import { createHistorian, type Historian } from './history.ts';
import type { AuditRecord, KnownWorkflow } from './replayRun.ts';
import { workAsAgent } from './scriptedAgents.ts';
import { type Seeded, seeded } from './seeded.ts';
import { watchNodes } from './watchNodes.ts';

/** A fault run in this process: as the real one, with deaths after commits and without HTTP. */
export interface HereRunRequest {
  readonly seed: number;
  readonly agents: number;
  readonly runs: number;
  /** About how many commits a node lives. */
  readonly lifetime: number;
  /** A mistake in every node; then it ends after so many questions, as runs may never. */
  readonly planted?: { readonly plant: (calm: Promise<void>) => Plant; readonly questions: number };
}

/** What it came to. */
export interface HereRunResult extends Checked {
  readonly deaths: number;
  readonly records: number;
}

const WORKFLOW: KnownWorkflow = {
  phases: ['ONE', 'TWO', 'THREE'],
  tools: { ONE: ['read_files'], TWO: [], THREE: ['read_files'] },
  leaseMs: 1_000,
};
/** Right, an hour early and an hour late. */
const SHIFTS = [0, -3_600_000, 3_600_000];

/** Plays it on a schema of its own, and checks what was asked, answered, written and told. */
export async function hereRun(request: HereRunRequest): Promise<HereRunResult> {
  const { planted, lifetime } = request;
  const chance = seeded(request.seed);
  const lives = chance.fork();
  const url = await freshSchema();
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-faults-'));
  const keys = { folder, seal: createSeal(openKeys(folder)) };
  const calm = Promise.withResolvers<void>();
  const plant = planted?.plant(calm.promise);
  const reader = await openPostgresStore({
    url,
    seal: keys.seal,
    fold,
    verifyDecision: decisionIsSigned,
  });
  const here = await openHereNodes({
    url,
    workflow: WORKFLOW,
    keys,
    shifts: SHIFTS,
    ...(plant === undefined ? {} : { plant }),
    lifetime: () => 1 + lives.below(lifetime * 2),
  });
  const historian = createHistorian(here.nodes);
  const watching = watchNodes(here.nodes);
  const open = async () => {
    const counts = await reader.countByStatus();
    return Object.entries(counts).reduce((sum, [status, count]) => sum + (ENDED.has(status) ? 0 : count), 0);
  };
  const inTime = <T>(what: string, work: Promise<T>) => endsInTime(work, () => stuck(what, historian));
  await play(historian, request, { chance, open, inTime });
  // The last word is missed by all who listen: they are cut off right before it.
  await inTime('connections are not cut', cutListeners(url));
  await reader.note(null, [sampleDraft('server_started')]);
  calm.resolve();
  const end = await reader.feedEnd();
  await watching.upTo(end, planted === undefined ? undefined : PATIENCE_WITH_PLANTS_MS);
  const watched = watching.told().map((told) => told.filter((place) => place <= end));
  const audit = ((await reader.feed(0, -1)) as unknown as readonly AuditRecord[]).filter(
    ({ id }) => id <= end,
  );
  const verified = await reader.verify();
  await inTime('those who watch do not end', watching.stop());
  await inTime('nodes do not close', here.close());
  await inTime('the one who reads does not close', reader.close());
  const checked = checkHistory({ acts: historian.acts, audit, watched, verified }, WORKFLOW);
  return { ...checked, deaths: here.deaths(), records: audit.length };
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'stopped']);
/** What is never told is not waited for as long; a node that looks does so every second. */
const PATIENCE_WITH_PLANTS_MS = 5_000;

async function play(
  historian: Historian,
  { agents, runs, planted }: HereRunRequest,
  { chance, open, inTime }: Playing,
): Promise<void> {
  const made = Array.from({ length: runs }, async () => {
    let answered = await historian.ask('starter', chance.below(SHIFTS.length), { kind: 'start' });
    while (answered.kind !== 'started')
      answered = await historian.ask('starter', chance.below(SHIFTS.length), { kind: 'start' });
  });
  await inTime('runs do not start', Promise.all(made));
  let isOver = false;
  const world = {
    historian,
    nodes: SHIFTS.length,
    leaseMs: WORKFLOW.leaseMs,
    restMs: 20,
    isOver: () => isOver,
  };
  const working = Array.from({ length: agents }, (_, index) =>
    workAsAgent(`agent-${index}`, world, chance.fork()),
  );
  const most = planted?.questions ?? Number.POSITIVE_INFINITY;
  const latest = performance.now() + LONGEST_PLAY_MS;
  while (!isOver) {
    await pause(20);
    isOver = historian.acts.length > most || (await open()) === 0;
    if (performance.now() > latest) throw stuck('runs do not end', historian);
  }
  await inTime('agents wait', Promise.all(working));
}

interface Playing {
  readonly chance: Seeded;
  open(): Promise<number>;
  inTime<T>(what: string, work: Promise<T>): Promise<T>;
}

/** Far longer than it takes, and short enough that a run which hangs says where. */
const [LONGEST_PLAY_MS, LONGEST_ANSWER_MS] = [300_000, 60_000];

async function endsInTime<T>(work: Promise<T>, late: () => Error): Promise<T> {
  const over = new AbortController();
  const waited = pause(LONGEST_ANSWER_MS, undefined, { signal: over.signal }).then(() => {
    throw late();
  });
  try {
    return await Promise.race([work, waited]);
  } finally {
    waited.catch(() => undefined);
    over.abort();
  }
}

function stuck(what: string, { unanswered, acts }: Historian): Error {
  return new Error(`${what}: ${acts.length} acts, without an answer:\n${unanswered().join('\n')}`);
}

async function cutListeners(url: string): Promise<void> {
  const channel = `phasegate_${new URL(url).searchParams.get('schema')}`;
  const listening = `FROM pg_stat_activity WHERE query = 'LISTEN "${channel}"'`;
  const cut = await tamper(url, `SELECT pid, pg_terminate_backend(pid) ${listening}`);
  const pids = cut.map((row) => Number((row as { readonly pid: number }).pid));
  if (pids.length === 0) return;
  // These, and not all: on a busy machine others listen anew before it is looked.
  const left = `SELECT 1 FROM pg_stat_activity WHERE pid IN (${pids.join(', ')})`;
  while ((await tamper(url, left)).length > 0) await pause(5);
}
