import type { Workflow, WorkspaceUse } from '../model/workflow.ts';
import type { Run, RunStatus } from './run.ts';

/** That a run works in a workspace, and whether alone. */
export interface WorkspaceHold {
  readonly use: WorkspaceUse;
  /** The git worktree it works in; absent: the project's own folder. */
  readonly folder?: string | undefined;
}

/** What is told of the run that another one waits for. */
export interface HoldingRun {
  readonly run: string;
  readonly workflow: string;
  readonly status: RunStatus;
}

/**
 * How a run holds the workspace: from when it is begun until it has ended, also while it waits for a human or, given back,
 * for another agent, because what is there is still to be compared with what it found. Null for a run that holds nothing.
 */
export function workspaceHold(run: Run): WorkspaceHold | null {
  return isBegun(run) ? holdOnceBegun(run) : null;
}

/** How a run holds the workspace once it is begun; null where it may not write and is in nobody's way. */
export function holdOnceBegun({ workflow, folder }: Pick<Run, 'workflow' | 'folder'>): WorkspaceHold | null {
  if (!mayChangeFiles(workflow)) return null;
  // A workflow from before this was asked shares the workspace with all that do.
  return { use: workflow.enforcement.workspace ?? 'shared', ...(folder === undefined ? {} : { folder }) };
}

/** Whether two runs may not work at the same time: they are in one folder, and one of them wants it to itself. */
export function keepsOut(one: WorkspaceHold, other: WorkspaceHold): boolean {
  if (one.folder !== other.folder) return false;
  return one.use === 'exclusive' || other.use === 'exclusive';
}

/** Why a run waits, and what lets it begin: one sentence each. */
export function waitingFor({ run, workflow, status }: HoldingRun): {
  readonly why: string;
  readonly next: string;
} {
  return {
    why: `run \`${run}\` of \`${workflow}\` is ${status} and has this workspace, so this run waits in the queue until that one has ended`,
    next: NEXT[status](run),
  };
}

const finished = (run: string) =>
  `finish run \`${run}\` (\`phasegate status ${run}\`), or have a human end it with \`phasegate stop ${run} --reason TEXT\``;

const NEXT: Readonly<Record<RunStatus, (run: string) => string>> = {
  active: finished,
  completed: finished,
  stopped: finished,
  queued: (run) =>
    `take run \`${run}\` up with \`phasegate claim ${run}\`, or have a human end it with \`phasegate stop ${run} --reason TEXT\``,
  waiting: (run) =>
    `have a human act on run \`${run}\`, which waits for one (\`phasegate status ${run}\`), or end it with \`phasegate stop ${run} --reason TEXT\``,
  escalated: (run) =>
    `have a human resume run \`${run}\` with \`phasegate resume ${run}\`, or end it with \`phasegate stop ${run} --reason TEXT\``,
};

/** Whether an agent has worked on the run; one that was given back has been begun. */
export function isBegun(run: Run): boolean {
  if (run.phase === null) return false;
  if (run.status !== 'queued') return true;
  return run.work.tree !== undefined || run.completions.length > 0;
}

/** Tools that change no file. */
const HARMLESS_TOOLS: ReadonlySet<string> = new Set(['read_files', 'list_files', 'grep', 'fetch']);

/** A workflow none of whose phases may write anything is in nobody's way; a permissive one may write everywhere. */
function mayChangeFiles({ phases, enforcement }: Workflow): boolean {
  if (enforcement.mode === 'permissive') return true;
  return phases.some(
    ({ writes, tools }) => writes.length > 0 || tools.allowed.some((tool) => !HARMLESS_TOOLS.has(tool)),
  );
}
