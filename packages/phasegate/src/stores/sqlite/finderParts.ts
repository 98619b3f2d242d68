import { placesInTheWay } from '@phasegate/audit';
import type { RunFinder, RunStore } from '../../runtime/ports.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { HeldCounts } from './heldCounts.ts';
import type { RunFinding } from './runFinder.ts';
import type { RunTable } from './runTable.ts';

/** What a store lists and finds of its runs. */
export function finderParts(parts: {
  readonly commits: GroupCommit;
  readonly asking: <T>(question: () => T) => Promise<T>;
  readonly runs: Pick<RunTable, 'current' | 'rest'>;
  readonly finding: RunFinding;
  readonly held: HeldCounts;
  /** What is kept may be behind another process; to be called before it is relied on. */
  readonly lookAround: () => void;
}): RunFinder & Pick<RunStore, 'list'> {
  const { commits, asking, runs, finding, held, lookAround } = parts;
  return {
    list: (query) => asking(() => finding.list(query)),
    claimable: (query) => asking(() => finding.claimable(query)),
    gatesDue: (now) => asking(() => finding.gatesDue(now)),
    quiet: (query) => asking(() => finding.quiet(query)),
    lookAgain: (runId, version, since) =>
      commits.submit(() => {
        const row = runs.current(runId);
        if (row?.version === version) runs.rest(row, since);
      }),
    stopped: (query) => asking(() => finding.stopped(query)),
    notOver: (query) => asking(() => finding.notOver(query)),
    inWorkspace: (hold, except) =>
      asking(() => finding.inPlaces(placesInTheWay(hold), 2).find(({ run }) => run !== except)),
    treesInUse: () => asking(() => finding.treesInUse()),
    countByStatus: () => asking(() => finding.countByStatus()),
    countHeld: (agent, most) =>
      asking(() => {
        lookAround();
        return held.of(agent, most);
      }),
  };
}
