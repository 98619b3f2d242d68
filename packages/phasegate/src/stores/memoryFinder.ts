import { capabilitiesOf, goesOn, placesInTheWay, placesOf, summaryOf, wantedPlace } from '@phasegate/audit';
import type { AuditRecord, Run } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { canClaim } from '@phasegate/core/engine';
import { targetKey } from '@phasegate/core/model';
import type { FoundAt, FoundPage, RunFinder, RunStore } from '../runtime/ports.ts';

/** What a store in memory lists and finds of its runs, by going over them. */
export interface MemoryFinder {
  readonly parts: RunFinder & Pick<RunStore, 'list'>;
  /** The run was written. */
  wrote(run: Run): void;
}

/** Makes it over the rows of a store, in the order in which they were made. */
export function createMemoryFinder(memory: {
  readonly rows: ReadonlyMap<string, { readonly run: Run; readonly version: number }>;
  readonly chainOf: (run: string) => readonly AuditRecord[];
  readonly asking: <T>(question: () => T) => Promise<T>;
}): MemoryFinder {
  const { rows, chainOf, asking } = memory;
  const quietSince = new Map<string, string>();
  const all = () => [...rows.values()].map(({ run }, number) => ({ run, number }));

  function found<T>(
    { limit, after }: FoundPage,
    keyOf: (run: Run) => string | null | undefined,
    answer: (run: Run, at: FoundAt) => T,
  ): readonly T[] {
    return all()
      .flatMap(({ run, number }) => {
        const key = keyOf(run);
        return key === null || key === undefined ? [] : [{ run, at: { key, number } }];
      })
      .sort((one, other) => inOrder(one.at, other.at))
      .filter(({ at }) => after === undefined || inOrder(at, after) > 0)
      .slice(0, limit)
      .map(({ run, at }) => answer(run, at));
  }

  const parts: MemoryFinder['parts'] = {
    list: ({ status, workflow, holder, seenBy, limit, offset = 0 }) =>
      asking(() =>
        all()
          .map(({ run }) => summaryOf(run))
          .filter((run) => status === undefined || run.status === status)
          .filter((run) => workflow === undefined || run.workflow === workflow)
          .filter((run) => holder === undefined || run.holder === holder)
          .filter((run) => seenBy === undefined || run.holder === null || run.holder === seenBy)
          .reverse()
          .sort((one, other) => compare(other.startedAt, one.startedAt))
          .slice(offset, limit === undefined ? undefined : offset + limit),
      ),
    claimable: ({ capabilities, without = [], ...page }) =>
      asking(() =>
        found(
          page,
          (run) => {
            const { claimPlace, workspace } = placesOf(run);
            if (without.some((hold) => wantedPlace(hold) === workspace)) return null;
            return canClaim(capabilitiesOf(run), capabilities) ? claimPlace : null;
          },
          ({ id, epoch }, at) => ({ run: id, epoch, at }),
        ),
      ),
    gatesDue: (now) =>
      asking(() =>
        all()
          .map(({ run }) => ({ id: run.id, due: placesOf(run).gateDue }))
          .filter(({ due }) => due !== null && due <= now)
          .sort((one, other) => compare(one.due ?? '', other.due ?? ''))
          .map(({ id }) => id),
      ),
    quiet: ({ since, ...page }) =>
      asking(() =>
        found(
          page,
          ({ id }) => ((quietSince.get(id) ?? '~') <= since ? quietSince.get(id) : null),
          ({ id }, at) => ({
            run: id,
            at,
            newest: chainOf(id).at(-1)?.time ?? '',
            stuck: chainOf(id).findLast(({ event }) => event === 'run_stuck') ?? null,
          }),
        ),
      ),
    lookAgain: (id, version, since) =>
      asking(() => {
        const row = rows.get(id);
        if (row?.version !== version || !goesOn(row.run)) return;
        if (since === null) quietSince.delete(id);
        else quietSince.set(id, since);
      }),
    stopped: ({ before, ...about }) =>
      asking(() =>
        all()
          .filter(({ run }) => run.status === 'stopped' && run.updatedAt < before)
          .filter(({ run }) => isAbout(placesOf(run).targetKey, about))
          .map(({ run }) => summaryOf(run))
          .sort((one, other) => compare(other.updatedAt, one.updatedAt)),
      ),
    notOver: ({ workflow, targets, beneath, limit }) =>
      asking(() =>
        all()
          .filter(({ run }) => run.workflow.id === workflow && !isOver(run))
          .filter(({ run }) => isAbout(placesOf(run).targetKey, { targets, beneath }))
          .slice(0, limit)
          .map(({ run }) => summaryOf(run)),
      ),
    inWorkspace: (hold, except) =>
      asking(() => {
        const inTheWay = placesInTheWay(hold);
        const found = all().find(
          ({ run }) => run.id !== except && inTheWay.includes(placesOf(run).workspace ?? ''),
        );
        return found === undefined ? undefined : summaryOf(found.run);
      }),
    countHeld: (agent, most) =>
      asking(() => {
        const begun: readonly Run['status'][] = UNFINISHED_STATUSES;
        const held = all().filter(({ run }) => run.holder === agent && begun.includes(run.status));
        return Math.min(most, held.length);
      }),
    treesInUse: () =>
      asking(() => new Set(all().flatMap(({ run }) => (isOver(run) ? [] : [...treesOf(run)])))),
    countByStatus: () =>
      asking(() => {
        const counts: Partial<Record<Run['status'], number>> = {};
        for (const { run } of all()) counts[run.status] = (counts[run.status] ?? 0) + 1;
        return counts;
      }),
  };

  return {
    parts,
    wrote(run) {
      if (goesOn(run)) quietSince.set(run.id, run.updatedAt);
      else quietSince.delete(run.id);
    },
  };
}

function isOver({ status }: Run): boolean {
  return status === 'completed' || status === 'stopped';
}

function treesOf(run: Run): readonly string[] {
  const atGate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.tree : undefined;
  return [run.work.tree, atGate].filter((tree) => tree !== undefined);
}

function isAbout(
  key: string | null,
  { targets, beneath }: Partial<Record<'targets' | 'beneath', readonly string[] | undefined>>,
): boolean {
  if (key === null) return false;
  if (targets === undefined && beneath === undefined) return true;
  if ((targets ?? []).some((target) => targetKey(target) === key)) return true;
  return (beneath ?? []).map(targetKey).some((folder) => {
    return key === folder || key.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
  });
}

function inOrder(one: FoundAt, other: FoundAt): number {
  return compare(one.key, other.key) || one.number - other.number;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
