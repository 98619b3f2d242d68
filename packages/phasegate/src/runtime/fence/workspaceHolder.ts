import type { RunSummary, Workflow } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import type { Store } from '../ports.ts';

/** Tools that change no file. */
const HARMLESS_TOOLS: ReadonlySet<string> = new Set(['read_files', 'list_files', 'grep', 'fetch']);

/**
 * The run that keeps one whose workflow is `exclusive` from working in the workspace: both may write. Null where nothing is
 * in the way. Only such a workflow asks: a start must not cost what all runs under way cost.
 */
export async function workspaceHolder(
  store: Pick<Store, 'list' | 'load'>,
  workflow: Workflow,
  except: string,
): Promise<RunSummary | null> {
  if (!isExclusive(workflow) || !mayChangeFiles(workflow)) return null;
  const begun = (await Promise.all(UNFINISHED_STATUSES.map((status) => store.list({ status })))).flat();
  for (const summary of begun) {
    if (summary.run === except) continue;
    const other = (await store.load(summary.run))?.run.workflow;
    if (other !== undefined && mayChangeFiles(other)) return summary;
  }
  return null;
}

/** Why a run waits, in words. */
export function waitsFor({ run, workflow }: RunSummary): string {
  return `run \`${run}\` of \`${workflow}\` works in this workspace, so this one waits in the queue until that has ended`;
}

function isExclusive({ enforcement }: Workflow): boolean {
  return enforcement.workspace === 'exclusive';
}

/** A workflow none of whose phases may write anything is in nobody's way. */
function mayChangeFiles({ phases }: Workflow): boolean {
  return phases.some(
    ({ writes, tools }) => writes.length > 0 || tools.allowed.some((tool) => !HARMLESS_TOOLS.has(tool)),
  );
}
