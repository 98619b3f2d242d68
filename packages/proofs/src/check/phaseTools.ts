import { constraintOn, mayTouch, mayWrite } from '@phasegate/core/engine';
import type { Check, Phase } from '@phasegate/core/model';
import { coversTool } from '@phasegate/core/model';

/** Tools that can change files. */
export const CHANGING_TOOLS: readonly string[] = ['write_files', 'edit_file', 'bash', 'git', 'spawn_agent'];

/** Tools that run programs the phase names. */
export const RUNNING_TOOLS: readonly string[] = ['bash', 'spawn_agent'];

/** Whether a phase has one of these tools; one of a server could be any of them. */
export function hasTool(phase: Phase, wanted: readonly string[]): boolean {
  return wanted.some((tool) => hasOwnTool(phase, tool)) || hasServerTool(phase);
}

/** Whether anything a phase may write can be written with the tools it has. */
export function canWrite(phase: Phase): boolean {
  if (phase.writes.length === 0) return false;
  if (hasTool(phase, UNBOUNDED)) return true;
  return WRITING.some(
    (tool) =>
      hasOwnTool(phase, tool) &&
      phase.writes.some((glob) =>
        boundBy(tool).every((name) => allowedPaths(phase, name).some(overlaps(glob))),
      ),
  );
}

/** Whether this file could come to be while a phase lasts, as far as can be told; in doubt it could. */
export function canMake(phase: Phase, path: string): boolean {
  if (phase.work.kind !== 'agent' && phase.work.kind !== 'dispatch') return true;
  if (hasTool(phase, UNBOUNDED)) return true;
  const checks = [...phase.preconditions, ...phase.postconditions, ...phase.blockers];
  if (checks.some((check) => !onlyLooks(check))) return true;
  return (
    mayWrite(phase, path) &&
    WRITING.some(
      (tool) => hasOwnTool(phase, tool) && boundBy(tool).every((name) => mayTouch(phase, name, path)),
    )
  );
}

const WRITING = ['write_files', 'edit_file'];
/** What these write is known to nobody before they run. */
const UNBOUNDED = ['bash', 'git', 'spawn_agent'];

/** As the engine judges: `write_files` includes `edit_file`, and who may not use `bash` may not use `git`. */
export function hasOwnTool({ tools }: Phase, tool: string): boolean {
  const listed = (names: readonly string[]) =>
    names.some((name) => coversTool(name, tool) || (tool === 'edit_file' && name === 'write_files'));
  if (listed(tools.forbidden) || (tool === 'git' && tools.forbidden.includes('bash'))) return false;
  return listed(tools.allowed);
}

function hasServerTool({ tools }: Phase): boolean {
  return tools.allowed.some(
    (name) => name.startsWith('mcp:') && !tools.forbidden.some((banned) => coversTool(banned, name)),
  );
}

/** The tools whose constraints hold for one. */
function boundBy(tool: string): readonly string[] {
  return tool === 'edit_file' ? WRITING : [tool];
}

function allowedPaths(phase: Phase, tool: string): readonly string[] {
  const allowed = constraintOn(phase, tool)?.allowed ?? [];
  return allowed.length === 0 ? ['**'] : allowed;
}

/** Whether two globs may have a path in common: they have none where their folders differ before any wildcard. */
export function overlaps(one: string): (other: string) => boolean {
  const left = partsOf(one);
  return (other) => {
    for (const [index, part] of partsOf(other).entries()) {
      const mine = left[index];
      if (mine === undefined || isWild(mine) || isWild(part)) return true;
      if (mine !== part) return false;
    }
    return true;
  };
}

function partsOf(glob: string): readonly string[] {
  return glob.split('/').filter((part) => part !== '.');
}

function isWild(part: string): boolean {
  return /[*?[\]{}!()]/u.test(part);
}

/** A command may leave files behind, and so may a function of the author's; what is on the shelf beside it only looks. */
function onlyLooks({ use }: Check): boolean {
  return LOOKING.has(use);
}

const LOOKING: ReadonlySet<string> = new Set([
  'files',
  'expression',
  'json_schema',
  'artifacts_present',
  'plan_has_scope',
  'scope_is_bounded',
  'changes_within_scope',
  'tests_are_failing',
  'tests_are_passing',
  'tests_exist',
  'tests_exist_for_acceptance_criteria',
  'no_skipped_tests',
  'coverage_at_least',
  'review_is_complete',
  'all_review_models_completed',
  'no_blocking_findings',
]);
