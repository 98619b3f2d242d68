import { hash } from 'node:crypto';
import { type Phase, PhasegateError, type Principal, phaseById, type Run } from '@phasegate/core';
import { fewOfEach } from '@phasegate/core/engine';
import { demandHere, type Here } from '../boundFolder.ts';
import type { Compared, Fence, FenceChange, FenceOrder, FenceReport, Fencing, Surveyed } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import { acceptedContents } from './recordedFiles.ts';
import type { Sorted, WorkspaceFence } from './workspaceFence.ts';

/** What it is built from. */
export interface FencingParts {
  /** Absent where runs have no workspace. */
  readonly fence: Fence | undefined;
  readonly judged: Pick<WorkspaceFence, 'sortOut' | 'during'> | undefined;
  readonly runtime: Pick<Runtime, 'submit'>;
  load(runId: string): Promise<Run>;
  /** Refuses a human who may only look. */
  demand(human: Pick<Principal, 'name'>): Promise<void>;
  /** Where this is. */
  readonly here: Here;
}

/** Shows people what was changed outside a scope, and carries out what a human wants done about it. */
export function createFencing({ fence, judged, runtime, load, demand, here }: FencingParts): Fencing {
  function demandFence(): {
    readonly fence: Fence;
    readonly judged: Pick<WorkspaceFence, 'sortOut' | 'during'>;
  } {
    if (fence !== undefined && judged !== undefined) return { fence, judged };
    throw new PhasegateError('fence_failed', 'runs have no workspace here, so there is nothing to compare');
  }

  async function openRun(runId: string): Promise<{ readonly run: Run; readonly phase: Phase }> {
    const run = await load(runId);
    demandHere(here, run);
    const phase = phaseById(run.workflow, run.phase);
    if (phase !== undefined) return { run, phase };
    throw new PhasegateError(
      'fence_failed',
      `run \`${run.id}\` is ${run.status}, so it is not compared any more`,
      { hint: `\`phasegate status ${run.id}\` shows how it ended` },
    );
  }

  /** With a measure, for an order, or only to be seen. */
  async function compare<K extends 'compare' | 'survey'>(
    run: Run,
    how: K,
  ): Promise<Awaited<ReturnType<Fence[K]>>>;
  async function compare(run: Run, how: 'compare' | 'survey'): Promise<Compared | Surveyed> {
    if (run.work.tree !== undefined) return demandFence().fence[how](run.id, run.work.tree);
    const reason =
      run.status === 'queued'
        ? 'nobody has begun the phase, so there is nothing to compare with'
        : 'the phase was entered without a measure of the workspace, so there is nothing to compare with';
    return { ok: false, reason };
  }

  /** INVARIANT: an order is about what the report names, and never about what it only counts: the phase's own work. */
  function ordered(run: Run, { paths }: FenceOrder, { changes, found }: Found): readonly string[] {
    const told = toldIn(found);
    if (paths === 'all') return [...told].sort();
    const settled = meant(run, paths, changes).filter((path) => told.has(path));
    if (settled.length > 0) return settled;
    throw new PhasegateError('usage', `\`${paths[0]}\` is the phase's to write, so it is not settled`, {
      hint: 'it refuses nothing: change it as you like, or decide on it at the gate',
    });
  }

  /** Where there is nothing to compare with: what is there now, and a measure of it. */
  async function standing(run: Run, reason: string) {
    const { tree, state } = await demandFence().fence.standing(run.id);
    return { tree, shown: hash('sha256', JSON.stringify([run.id, run.phase, reason, state]), 'hex') };
  }

  return {
    async report(runId): Promise<FenceReport> {
      const { run, phase } = await openRun(runId);
      const { judged: sorting } = demandFence();
      const compared = await compare(run, 'survey');
      const base = {
        run: run.id,
        phase: phase.id,
        ring: run.ring,
        writes: phase.writes,
        tree: run.work.tree ?? null,
        settled: run.fenced ?? [],
      };
      if (!compared.ok) {
        return {
          ...base,
          problem: compared.reason,
          shown: await sorting
            .during(run.id, () => standing(run, compared.reason))
            .then(
              ({ shown }) => shown,
              () => null,
            ),
          outside: [],
          more: 0,
          noticed: [],
          inside: 0,
          notes: [],
        };
      }
      const found = await sorting.sortOut(run, phase, compared.changes);
      const inside = compared.changes.length - found.outside.length - found.noticed.length;
      const isLong = found.outside.length > MOST_KEPT;
      const outside = (isLong ? fewOfEach(found.outside) : found.outside).slice(0, MOST_KEPT);
      return {
        ...base,
        problem: null,
        shown: shownOf(run, compared.changes, found),
        outside,
        more: found.outside.length - outside.length,
        noticed: found.noticed.slice(0, MOST_KEPT),
        inside,
        notes: compared.notes,
      };
    },

    async diff(runId, paths) {
      const { run, phase } = await openRun(runId);
      const compared = await compare(run, 'survey');
      if (!compared.ok) throw new PhasegateError('fence_failed', compared.reason);
      const all = await demandFence().judged.sortOut(run, phase, compared.changes);
      const wanted =
        paths.length === 0
          ? [...all.outside, ...all.noticed].map(({ path }) => path)
          : meant(run, paths, compared.changes);
      const told = wanted.slice(0, MOST_KEPT);
      const rest = wanted.length - told.length;
      const text = await demandFence().fence.diff(run.id, run.work.tree as string, told);
      return rest === 0 ? text : `${text}\n${rest} more paths are not shown: name a folder or a path\n`;
    },

    async settle(runId, order, human) {
      // Asked before any file is touched; the run is changed behind the door, which asks too.
      await demand(human.principal);
      return demandFence().judged.during(runId, () => settleNow(runId, order, human));
    },
  };

  async function settleNow(
    ...[runId, order, human]: Parameters<Fencing['settle']>
  ): ReturnType<Fencing['settle']> {
    const { run, phase } = await openRun(runId);
    const { fence: files, judged: sorting } = demandFence();
    const compared = await compare(run, 'compare');
    if (!compared.ok && (order.action !== 'accept' || order.paths !== 'all')) {
      throw new PhasegateError('fence_failed', compared.reason, {
        hint: `phasegate fence ${runId} accept --all --reason TEXT`,
      });
    }
    // INVARIANT: nothing is done but to what was shown.
    const now = compared.ok ? await sorting.sortOut(run, phase, compared.changes) : null;
    const anew = compared.ok ? null : await standing(run, compared.reason);
    const shown = compared.ok ? shownOf(run, compared.changes, now as Sorted) : anew?.shown;
    if (shown !== order.shown) throw notAsShown(runId);
    const paths = compared.ok ? ordered(run, order, { changes: compared.changes, found: now as Sorted }) : [];
    const { action, reason } = order;
    const tree = run.work.tree as string;
    const done = await carryOut();
    const accepted =
      action !== 'accept'
        ? {}
        : {
            tree: compared.ok
              ? await files.accept(runId, { tree, seen: compared.tree }, paths)
              : (anew?.tree as string),
          };
    const make = async () => ({
      kind: 'fence' as const,
      action,
      paths: paths.slice(0, MOST_KEPT),
      reason,
      ...accepted,
    });
    const beside = (before: Run, { run: { updatedAt: at } }: { readonly run: Run }) => {
      const by = { human: human.principal.name, at };
      const files = compared.ok ? compared.changes.filter(({ path }) => paths.includes(path)) : [];
      return { notes: action === 'accept' && files.length > 0 ? acceptedContents(before, by, files) : [] };
    };
    const { submitted } = await runtime.submit(runId, { make }, { principal: human.principal, beside });
    return { submitted, done };

    async function carryOut() {
      if (action === 'restore') return (await files.restore(runId, tree, paths)).done;
      if (action === 'quarantine') return (await files.quarantine(runId, paths)).done;
      return paths.map((path) => ({ path, what: 'accepted' }));
    }
  }
}

/** What a comparison found, and what it means. */
interface Found {
  readonly changes: readonly FenceChange[];
  readonly found: Sorted;
}

/** The changed paths that are meant; one that names none is a mistake and not a wish that came true. */
function meant({ id }: Run, paths: readonly string[], changes: readonly FenceChange[]): readonly string[] {
  const named = paths.flatMap((given) => {
    const place = given.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
    const isMeant = (path: string) => place === '.' || path === place || path.startsWith(`${place}/`);
    const found = changes.filter(({ path }) => isMeant(path));
    if (found.length > 0) return found.map(({ path }) => path);
    // Whether it is there unchanged or not there at all is not told apart: what is not compared is not looked for.
    throw new PhasegateError('usage', `no changed file matches \`${given}\``, {
      hint: `paths are from the project's root; \`phasegate fence ${id}\` lists them`,
    });
  });
  return [...new Set(named)].sort();
}

/** Of everything that a report is about, also what it only counts, and of what stands there now. */
function shownOf(run: Run, changes: readonly FenceChange[], found: Sorted): string {
  const told = toldIn(found);
  const facts = changes
    .filter(({ path }) => told.has(path))
    .map(({ path, how, content, mode, at }) => [path, how, content, mode, at]);
  return hash('sha256', JSON.stringify([run.id, run.phase, run.work.tree, facts]), 'hex');
}

function toldIn({ outside, noticed }: Sorted): ReadonlySet<string> {
  return new Set([...outside, ...noticed].map(({ path }) => path));
}

function notAsShown(runId: string): PhasegateError {
  return new PhasegateError(
    'fence_failed',
    'the workspace is not what was shown any more, so nothing was done',
    {
      hint: `phasegate fence ${runId}`,
    },
  );
}

/** A run, its audit and a report name so many; the measure has them all. */
const MOST_KEPT = 1000;
