import { type Phase, PhasegateError, phaseById, type Run } from '@phasegate/core';
import type { Compared, Fence, FenceOrder, FenceReport, Fencing } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import type { WorkspaceFence } from './workspaceFence.ts';

/** What it is built from. */
export interface FencingParts {
  /** Absent where runs have no workspace. */
  readonly fence: Fence | undefined;
  readonly judged: Pick<WorkspaceFence, 'sortOut'> | undefined;
  readonly runtime: Pick<Runtime, 'submit'>;
  load(runId: string): Promise<Run>;
}

/** Shows people what was changed outside a scope, and carries out what a human wants done about it. */
export function createFencing({ fence, judged, runtime, load }: FencingParts): Fencing {
  function demandFence(): { readonly fence: Fence; readonly judged: Pick<WorkspaceFence, 'sortOut'> } {
    if (fence !== undefined && judged !== undefined) return { fence, judged };
    throw new PhasegateError('fence_failed', 'runs have no workspace here, so there is nothing to compare');
  }

  async function openRun(runId: string): Promise<{ readonly run: Run; readonly phase: Phase }> {
    const run = await load(runId);
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
        return { ...base, problem: compared.reason, outside: [], noticed: [], inside: 0, notes: [] };
      }
      const found = await demandFence().judged.sortOut(run, phase, compared.changes);
      const inside = compared.changes.length - found.outside.length - found.noticed.length;
      return { ...base, problem: null, ...found, inside, notes: compared.notes };
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
      return demandFence().fence.diff(run.id, run.work.tree as string, wanted);
    },

    async settle(runId, order, human) {
      const { run } = await openRun(runId);
      const files = demandFence().fence;
      const compared = await compare(run);
      if (!compared.ok && (order.action !== 'accept' || order.paths !== 'all')) {
        throw new PhasegateError('fence_failed', compared.reason, {
          hint: `phasegate fence ${runId} accept --all --reason TEXT`,
        });
      }
      const paths = compared.ok ? meant(order, compared) : [];
      const { action, reason } = order;
      const tree = run.work.tree as string;
      const done = await carryOut();
      const accepted =
        action !== 'accept'
          ? {}
          : { tree: order.paths === 'all' ? await acceptAll(run) : await files.accept(runId, tree, paths) };
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

/** A run and its audit name so many; the measure has them all. */
const MOST_KEPT = 1000;
