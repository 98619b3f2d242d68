import { judgeTool, phaseById, type Run, type ToolUse } from '@phasegate/core';
import type { HookAnswer } from '../ports.ts';

/** The tools of the phase; all, where nobody can say what they are called in the client. */
export function offered(run: Run | null): HookAnswer {
  if (run?.status !== 'active' || run.workflow.enforcement.mode === 'permissive') return { kind: 'none' };
  const allowed = phaseById(run.workflow, run.phase)?.tools.allowed ?? [];
  if (allowed.some((tool) => tool.startsWith('mcp:'))) return { kind: 'none' };
  return {
    kind: 'tools',
    mayUse(tool) {
      const verdict = judgeTool(run, asGit(run, { tool, input: {} }));
      return verdict.allowed || !UNUSABLE.has(verdict.blockers[0].code);
    },
  };
}

/** Refusals of a tool whatever it is called with. */
const UNUSABLE: ReadonlySet<string> = new Set(['tool_not_allowed', 'tool_forbidden', 'tool_unknown']);

/** A line in a phase that allows git alone is a git command. */
export function asGit(run: Run | null, use: ToolUse): ToolUse {
  if (use.tool !== 'bash' || run?.status !== 'active') return use;
  const allowed = phaseById(run.workflow, run.phase)?.tools.allowed ?? [];
  return allowed.includes('git') && !allowed.includes('bash') ? { ...use, tool: 'git' } : use;
}
