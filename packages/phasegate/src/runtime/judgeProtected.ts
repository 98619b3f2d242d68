import { type Blocker, judgeTool, own, type Run, type ToolUse, type Verdict } from '@phasegate/core';
import type { Databases } from './ports.ts';

/**
 * The engine's verdict on a tool call, held against the databases of the project: the engine knows the scopes of one
 * workflow, and a database of another's may lie in them. At once for what writes no files.
 */
export function judgeProtected(
  databases: Pick<Databases, 'protection'> | undefined,
  run: Run | null,
  use: ToolUse,
): Verdict | Promise<Verdict> {
  const verdict = judgeTool(run, use);
  if (!verdict.allowed || databases === undefined || !WRITING.has(use.tool)) return verdict;
  return outsideDatabases(databases, run, { use, verdict });
}

async function outsideDatabases(
  databases: Pick<Databases, 'protection'>,
  run: Run | null,
  { use, verdict }: { readonly use: ToolUse; readonly verdict: Verdict },
): Promise<Verdict> {
  const isProtected = await databases.protection();
  const found = pathsIn(use).find((path) => isProtected(path));
  return found === undefined ? verdict : { allowed: false, blockers: [blockerFor(run, found)] };
}

const WRITING: ReadonlySet<string> = new Set(['write_files', 'edit_file']);

/** Normal paths; that they are inside the workspace, the engine has seen to. */
function pathsIn({ input }: ToolUse): readonly string[] {
  const [path, paths] = [own(input, 'path'), own(input, 'paths')];
  const given = [path, ...(Array.isArray(paths) ? paths : [])].filter((one) => typeof one === 'string');
  return given.map((one) =>
    one
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/'),
  );
}

function blockerFor(run: Run | null, path: string): Blocker {
  const message = `\`${path}\` belongs to the database of a workflow, which only that workflow's steps change`;
  const text = 'write elsewhere, or complete the phase without it';
  const phase = run?.phase ?? null;
  const nextAction =
    phase === null
      ? { act: 'use_allowed_tool' as const, text }
      : { act: 'use_allowed_tool' as const, phase, text };
  return { code: 'outside_write_scope', message, nextAction };
}
