import { compileGlobs } from '../model/glob/glob.ts';
import { compileCommandPattern } from '../model/shell/shellWords.ts';
import { coversTool, PATH_TOOLS, WRITING_TOOLS } from '../model/tools.ts';
import { type Phase, phaseById } from '../model/workflow.ts';
import { commandsOf, judgeTool, normalise, pathsOf, type ToolUse, usesGit } from './judgeTool.ts';
import type { Run } from './run.ts';
import { constraintOn, isGuardedIn, mayTouch, mayWrite } from './toolPolicy.ts';

/** A rule of a phase's author that can refuse a tool call. */
export type DenyRule =
  /** A name of `forbidden_tools`. */
  | { readonly kind: 'forbidden'; readonly tool: string }
  /** The tool is none of `allowed_tools`. */
  | { readonly kind: 'not_listed' }
  /** A pattern of `denied` in the constraints of a tool. */
  | { readonly kind: 'denied'; readonly tool: string; readonly pattern: string }
  /** The constraints of a tool have `allowed`, and this is none of it. */
  | { readonly kind: 'not_permitted'; readonly tool: string }
  | { readonly kind: 'write_scope' };

/** Every deny rule of a phase that some call can run into. */
export function denyRulesOf(phase: Phase): readonly DenyRule[] {
  const { forbidden, constraints } = phase.tools;
  const rules: DenyRule[] = [...new Set(forbidden)].map((tool) => ({ kind: 'forbidden', tool }));
  if (hasToolRules(phase)) rules.push({ kind: 'not_listed' });
  for (const [tool, constraint] of Object.entries(constraints)) {
    if (!reaches(phase, tool)) continue;
    for (const pattern of new Set(constraint.denied)) rules.push({ kind: 'denied', tool, pattern });
    if (constraint.allowed.length > 0 && !constraint.allowed.includes('**')) {
      rules.push({ kind: 'not_permitted', tool });
    }
  }
  const writing = WRITING_TOOLS.filter((tool) => isOpen(phase, tool));
  if (writing.some((tool) => !staysInside(phase, tool))) rules.push({ kind: 'write_scope' });
  return rules;
}

/**
 * The rules of the author that refused a call: one, or several where each of them says the same. Empty where it was
 * allowed, or refused by what holds in every phase (a guarded file, a path outside, a tool nobody knows, a waiting run).
 */
export function rulesAgainst(run: Run, use: ToolUse): readonly DenyRule[] {
  const verdict = judgeTool(run, use);
  const phase = phaseById(run.workflow, run.phase);
  if (verdict.allowed || phase === undefined) return [];
  switch (verdict.blockers[0].code) {
    case 'tool_forbidden':
      return forbiddenBy(phase, use).map((tool) => ({ kind: 'forbidden', tool }));
    case 'tool_not_allowed':
      // `git` with another program in its line is refused although it is listed.
      return isListed(phase.tools.allowed, use.tool) || !hasToolRules(phase) ? [] : [{ kind: 'not_listed' }];
    case 'tool_constraint':
      return PATH_TOOLS.includes(use.tool) ? againstPaths(phase, use) : againstCommands(phase, use);
    case 'outside_write_scope':
      return leavesScope(phase, use) ? [{ kind: 'write_scope' }] : [];
    default:
      return [];
  }
}

/** Where the author said nothing about tools there is nothing of theirs to try out. */
function hasToolRules({ tools: { allowed, forbidden } }: Phase): boolean {
  return allowed.length + forbidden.length > 0;
}

function forbiddenBy(phase: Phase, use: ToolUse): readonly string[] {
  const { forbidden } = phase.tools;
  const naming = (tool: string) => forbidden.filter((name) => coversTool(name, tool));
  const ways = [use.tool, ...(use.tool === 'edit_file' ? ['write_files'] : [])];
  if (usesGit(use, commandsOf(use)) !== 'no') ways.push('git', 'bash');
  // The name of the tool itself says it before a name that merely includes it.
  return ways.map(naming).find((names) => names.length > 0) ?? [];
}

function againstPaths(phase: Phase, use: ToolUse): readonly DenyRule[] {
  for (const given of pathsOf(use.input) ?? []) {
    const path = normalise(given);
    if (path === null) return [];
    for (const tool of use.tool === 'edit_file' ? ['edit_file', 'write_files'] : [use.tool]) {
      if (!mayTouch(phase, tool, path))
        return constraintRules(phase, tool, (glob) => compileGlobs([glob])(path));
    }
    if (WRITING_TOOLS.includes(use.tool) && !mayWrite(phase, path)) return [];
  }
  return [];
}

function againstCommands(phase: Phase, use: ToolUse): readonly DenyRule[] {
  const commands = commandsOf(use);
  if (commands === null || !commands.ok) return [];
  for (const words of commands.commands) {
    for (const tool of use.tool === 'git' || words[0] === 'git' ? ['bash', 'git'] : ['bash']) {
      const rules = constraintRules(phase, tool, (pattern) => compileCommandPattern(pattern)(words));
      if (rules.length > 0) return rules;
    }
  }
  return [];
}

/** Denied before allowed, as it is judged. */
function constraintRules(
  phase: Phase,
  tool: string,
  matches: (pattern: string) => boolean,
): readonly DenyRule[] {
  const constraint = constraintOn(phase, tool);
  if (constraint === undefined) return [];
  const denied = [...new Set(constraint.denied)].filter(matches);
  if (denied.length > 0) return denied.map((pattern) => ({ kind: 'denied', tool, pattern }));
  if (constraint.allowed.length === 0 || constraint.allowed.some(matches)) return [];
  return [{ kind: 'not_permitted', tool }];
}

function leavesScope(phase: Phase, use: ToolUse): boolean {
  const scope = compileGlobs(phase.writes);
  const paths = (pathsOf(use.input) ?? []).map(normalise);
  const first = paths.find((path) => path === null || !mayWrite(phase, path));
  return first !== undefined && first !== null && !isGuardedIn(phase, first) && !scope(first);
}

function isListed(list: readonly string[], tool: string): boolean {
  const named = (wanted: string) => list.some((name) => coversTool(name, wanted));
  return named(tool) || (tool === 'edit_file' && named('write_files')) || (tool === 'git' && named('bash'));
}

/** Whether a call of the tool gets past allow and forbid list. */
function isOpen({ tools: { allowed, forbidden } }: Phase, tool: string): boolean {
  return isListed(allowed, tool) && !isListed(forbidden, tool);
}

/** Whether what is said about a tool is ever asked: editing is also held to what is said about writing. */
function reaches(phase: Phase, tool: string): boolean {
  if (tool === 'write_files') return isOpen(phase, 'write_files') || isOpen(phase, 'edit_file');
  if (tool === 'bash') return isOpen(phase, 'bash') || isOpen(phase, 'git');
  return isOpen(phase, tool);
}

/** Whether all that a tool's constraints let it write is seen to be inside the write scope, which then refuses nothing. */
function staysInside(phase: Phase, tool: string): boolean {
  if (phase.writes.includes('**')) return true;
  const lists = (tool === 'edit_file' ? ['edit_file', 'write_files'] : [tool]).map(
    (name) => constraintOn(phase, name)?.allowed ?? [],
  );
  return lists.some((globs) => globs.length > 0 && globs.every((glob) => isWithin(glob, phase.writes)));
}

function isWithin(glob: string, scope: readonly string[]): boolean {
  return scope.some(
    (wide) => wide === glob || (/^[^*?{[]+\/\*\*$/.test(wide) && glob.startsWith(wide.slice(0, -2))),
  );
}
