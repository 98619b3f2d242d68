import type { Run, RunSummary, Workflow } from '@phasegate/core';
import { WRITING_TOOLS } from '@phasegate/core/model';
import type { Store } from '../ports.ts';

/** Tools that may change files they do not name. */
const MORE_TOOLS: ReadonlySet<string> = new Set(['bash', 'git', 'spawn_agent']);

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
  const begun = (await Promise.all(BEGUN.map((status) => store.list({ status })))).flat();
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

const BEGUN: readonly Run['status'][] = ['active', 'waiting', 'escalated'];

function isExclusive({ enforcement }: Workflow): boolean {
  return enforcement.workspace === 'exclusive';
}

/** A workflow none of whose phases may write anything is in nobody's way. */
function mayChangeFiles({ phases }: Workflow): boolean {
  return phases.some(
    ({ writes, tools }) =>
      writes.length > 0 ||
      tools.allowed.some(
        (tool) => WRITING_TOOLS.includes(tool) || MORE_TOOLS.has(tool) || tool.startsWith('mcp:'),
      ),
  );
}
