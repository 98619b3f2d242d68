import { hash } from 'node:crypto';
import { type Phase, PhasegateError, phaseById, type Run } from '@phasegate/core';
import { fewOfEach } from '@phasegate/core/engine';
import { demandHere, type Here } from '../boundFolder.ts';
import type { Compared, Fence, FenceChange, FenceOrder, FenceReport, Fencing } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import type { Sorted, WorkspaceFence } from './workspaceFence.ts';

/** What it is built from. */
export interface FencingParts {
  /** Absent where runs have no workspace. */
  readonly fence: Fence | undefined;
  readonly judged: Pick<WorkspaceFence, 'sortOut'> | undefined;
  readonly runtime: Pick<Runtime, 'submit'>;
  load(runId: string): Promise<Run>;
  /** Where this is. */
  readonly here: Here;
}

/** Shows people what was changed outside a scope, and carries out what a human wants done about it. */
export function createFencing({ fence, judged, runtime, load, here }: FencingParts): Fencing {
  function demandFence(): { readonly fence: Fence; readonly judged: Pick<WorkspaceFence, 'sortOut'> } {
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
    );
  }

  async function compare(run: Run): Promise<Compared> {
    if (run.work.tree !== undefined) return demandFence().fence.compare(run.id, run.work.tree);
    const reason =
      run.status === 'queued'
        ? 'nobody has begun the phase, so there is nothing to compare with'
        : 'the phase was entered without a measure of the workspace, so there is nothing to compare with';
    return { ok: false, reason };
  }

  /** The changed paths that are meant; one that names none is a mistake and not a wish that came true. */
  function meant(order: FenceOrder, compared: Compared & { readonly ok: true }): readonly string[] {
    if (order.paths === 'all') return compared.changes.map(({ path }) => path);
    const named = order.paths.flatMap((given) => {
      const place = given.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
      const found = compared.changes.filter(({ path }) => path === place || path.startsWith(`${place}/`));
      if (found.length > 0) return found.map(({ path }) => path);
      throw new PhasegateError('usage', `\`${given}\` is as it was when the phase was entered`);
    });
    return [...new Set(named)].sort();
  }

  async function acceptAll(run: Run): Promise<string> {
    return demandFence().fence.measure(run.id);
  }

  return {
    async report(runId): Promise<FenceReport> {
      const { run, phase } = await openRun(runId);
      const { judged: sorting } = demandFence();
      const compared = await compare(run);
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
          shown: null,
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
        shown: shownOf(compared.changes, found),
        outside,
        more: found.outside.length - outside.length,
        noticed: found.noticed.slice(0, MOST_KEPT),
        inside,
        notes: compared.notes,
      };
    },

    async diff(runId, paths) {
      const { run, phase } = await openRun(runId);
      const compared = await compare(run);
      if (!compared.ok) throw new PhasegateError('fence_failed', compared.reason);
      const all = await demandFence().judged.sortOut(run, phase, compared.changes);
      const asked = { action: 'restore' as const, paths, reason: '' };
      const wanted =
        paths.length === 0
          ? [...all.outside, ...all.noticed].map(({ path }) => path)
          : meant(asked, compared);
      const told = wanted.slice(0, MOST_KEPT);
      const rest = wanted.length - told.length;
      const text = await demandFence().fence.diff(run.id, run.work.tree as string, told);
      return rest === 0 ? text : `${text}\n${rest} more paths are not shown: name a folder or a path\n`;
    },

    async settle(runId, order, human) {
      const { run, phase } = await openRun(runId);
      const { fence: files, judged: sorting } = demandFence();
      const compared = await compare(run);
      if (!compared.ok && (order.action !== 'accept' || order.paths !== 'all')) {
        throw new PhasegateError('fence_failed', compared.reason, {
          hint: `phasegate fence ${runId} accept --all --reason TEXT`,
        });
      }
      if (compared.ok && order.shown !== undefined) {
        const found = await sorting.sortOut(run, phase, compared.changes);
        if (shownOf(compared.changes, found) !== order.shown) throw notAsShown(runId);
      }
      const paths = compared.ok ? meant(order, compared) : [];
      const { action, reason } = order;
      const tree = run.work.tree as string;
      const done = await carryOut();
      const accepted =
        action !== 'accept'
          ? {}
          : {
              tree: compared.ok
                ? await files.accept(runId, { tree, seen: compared.tree }, paths)
                : await acceptAll(run),
            };
      const make = async () => ({
        kind: 'fence' as const,
        action,
        paths: paths.slice(0, MOST_KEPT),
        reason,
        ...accepted,
      });
      const { submitted } = await runtime.submit(runId, { make }, { principal: human.principal });
      return { submitted, done };

      async function carryOut() {
        if (action === 'restore') return (await files.restore(runId, tree, paths)).done;
        if (action === 'quarantine') return (await files.quarantine(runId, paths)).done;
        return paths.map((path) => ({ path, what: 'accepted' }));
      }
    },
  };
}

/** Of everything that a report is about, also what it only counts, and of what stands there now. */
function shownOf(changes: readonly FenceChange[], { outside, noticed }: Sorted): string {
  const told = new Set([...outside, ...noticed].map(({ path }) => path));
  const facts = changes
    .filter(({ path }) => told.has(path))
    .map(({ path, how, content, mode, at }) => [path, how, content, mode, at]);
  return hash('sha256', JSON.stringify(facts), 'hex');
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
