import type { Principal, RunStatus, RunSummary, RunView } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { shellWord } from '@phasegate/core/model';
import type { LeaseRecord, ReachedProject } from '../../../runtime/ports.ts';

/** One run as it is watched. */
export interface WatchedRun
  extends Pick<
    RunSummary,
    'run' | 'workflow' | 'target' | 'goal' | 'status' | 'phase' | 'holder' | 'overridden' | 'updatedAt'
  > {
  /** Who works on it: its holder, and the holders of its items. */
  readonly agents: readonly string[];
  /** When the first of their leases ends; null where nobody has one. */
  readonly leaseUntil: string | null;
  /** What a human is waited for; null where none is. */
  readonly waits: Waits | null;
}

/** What a run waits for a human for. */
export interface Waits {
  readonly for: 'gate' | 'questions' | 'escalation';
  /** Tells one wait of a run from the next. */
  readonly since: string;
  /** The gate; null for anything else. */
  readonly gate: string | null;
  /** What is asked, in the words of the workflow or of an agent. */
  readonly says: string;
  /** The command that a human acts with. */
  readonly command: string;
}

/** Whose runs are watched, and which. */
export interface Watching {
  readonly project: Pick<ReachedProject, 'as' | 'look' | 'claims'>;
  readonly caller: Principal;
  /** One run, or all that the caller may see. */
  readonly run: string | undefined;
}

/** Gives the runs as they are at each call, the most urgent first. Nothing is changed by looking. */
export function createLook({ project, caller, run }: Watching): () => Promise<readonly WatchedRun[]> {
  const known = new Map<string, { readonly at: string; readonly waits: Waits | null }>();
  const gate = project.as(caller);

  /** What a run waits for is read once: a run that is as it was waits for the same. */
  async function waitsOf(line: RunSummary): Promise<Waits | null> {
    if (line.status !== 'waiting' && line.status !== 'escalated') return null;
    const at = `${line.epoch} ${line.updatedAt}`;
    const before = known.get(line.run);
    if (before?.at === at) return before.waits;
    const waits = waitsIn(await project.look(line.run, caller));
    known.set(line.run, { at, waits });
    return waits;
  }

  async function all(leases: readonly LeaseRecord[]): Promise<readonly WatchedRun[]> {
    const found: RunSummary[] = [];
    for (const status of STATUSES) {
      const limit = hasEnded({ status }) ? MOST_ENDED : ALL;
      found.push(...(await gate.runs({ status, limit })));
    }
    const lines = new Map(found.map((line) => [line.run, line]));
    const leasesOf = Map.groupBy(leases, (lease) => lease.run);
    const watched: WatchedRun[] = [];
    for (const line of lines.values())
      watched.push(watchedOf(line, leasesOf.get(line.run) ?? [], await waitsOf(line)));
    for (const id of known.keys()) if (!lines.has(id)) known.delete(id);
    return watched.sort(longestWaitFirst);
  }

  return async () => {
    const leases = await project.claims.leases();
    if (run === undefined) return all(leases);
    const view = await project.look(run, caller);
    const held = leases.filter((lease) => lease.run === view.run);
    return [watchedOf({ ...view, overridden: view.overrides?.length }, held, waitsIn(view))];
  };
}

/** Whether a run has come to its end. */
export function hasEnded({ status }: Pick<WatchedRun, 'status'>): boolean {
  return status === 'completed' || status === 'stopped';
}

/** The most urgent first. */
const STATUSES: readonly RunStatus[] = [
  ...UNFINISHED_STATUSES.toReversed(),
  'queued',
  'completed',
  'stopped',
];

/** By status; among those that wait for a human the one that waits longest, and the others as they were listed. */
function longestWaitFirst(one: WatchedRun, other: WatchedRun): number {
  const [first, second] = [one.waits?.since ?? '', other.waits?.since ?? ''];
  const byStatus = STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status);
  if (byStatus !== 0 || first === second) return byStatus;
  return first < second ? -1 : 1;
}

/** Of those that ended, the newest. */
const MOST_ENDED = 100;
/** INVARIANT: a run that has not ended is never left out: one that waits must not be hidden by newer ones. */
const ALL = 1_000_000;

function watchedOf(
  line: Pick<
    RunView,
    'run' | 'workflow' | 'target' | 'goal' | 'status' | 'phase' | 'holder' | 'updatedAt'
  > & { readonly overridden?: number | undefined },
  held: readonly LeaseRecord[],
  waits: Waits | null,
): WatchedRun {
  const { run, workflow, target, goal, status, phase, holder, overridden, updatedAt } = line;
  const agents = [...new Set([...(holder === null ? [] : [holder]), ...held.map(({ agent }) => agent)])];
  const [leaseUntil = null] = held.map(({ expiresAt }) => expiresAt).sort();
  return {
    run,
    workflow,
    target,
    ...(goal === undefined ? {} : { goal }),
    status,
    phase,
    holder,
    ...(overridden === undefined ? {} : { overridden }),
    updatedAt,
    agents,
    leaseUntil,
    waits,
  };
}

function waitsIn({ run, gate, questions, answers, escalation, updatedAt }: RunView): Waits | null {
  const word = shellWord(run);
  if (gate !== null) {
    const command = `phasegate decide ${word}`;
    return { for: 'gate', since: gate.since, gate: gate.id, says: gate.prompt, command };
  }
  const open = questions.findIndex((_, index) => !answers.some(({ question }) => question === index + 1));
  const asked = questions[open];
  if (asked !== undefined) {
    const command = `phasegate answer ${word} --question ${open + 1}`;
    return { for: 'questions', since: updatedAt, gate: null, says: asked.text, command };
  }
  if (escalation === null) return null;
  const command = `phasegate resume ${word}`;
  return { for: 'escalation', since: updatedAt, gate: null, says: escalation.message, command };
}
