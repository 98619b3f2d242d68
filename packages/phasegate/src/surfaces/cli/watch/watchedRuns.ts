import type { Principal, RunStatus, RunSummary, RunView } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { shellWord } from '@phasegate/core/model';
import type { LeaseRecord, ReachedProject } from '../../../runtime/ports.ts';

/** One run as it is watched. */
export interface WatchedRun
  extends Pick<
    RunSummary,
    'run' | 'workflow' | 'target' | 'goal' | 'status' | 'phase' | 'holder' | 'updatedAt'
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
    for (const status of STATUSES) found.push(...(await gate.runs({ status, limit: MOST })));
    const lines = new Map(found.map((line) => [line.run, line]));
    const watched: WatchedRun[] = [];
    for (const line of lines.values()) watched.push(watchedOf(line, leases, await waitsOf(line)));
    for (const id of known.keys()) if (!lines.has(id)) known.delete(id);
    return watched;
  }

  return async () => {
    const leases = await project.claims.leases();
    if (run === undefined) return all(leases);
    const view = await project.look(run, caller);
    return [watchedOf(view, leases, waitsIn(view))];
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

/** Of each status, the newest; nobody reads more on one screen. */
const MOST = 100;

function watchedOf(
  line: Pick<RunView, 'run' | 'workflow' | 'target' | 'goal' | 'status' | 'phase' | 'holder' | 'updatedAt'>,
  leases: readonly LeaseRecord[],
  waits: Waits | null,
): WatchedRun {
  const { run, workflow, target, goal, status, phase, holder, updatedAt } = line;
  const held = leases.filter((lease) => lease.run === run);
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
