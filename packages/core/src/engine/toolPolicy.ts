import { compileGlobs } from '../model/glob/glob.ts';
import { guardOf } from '../model/guardedPaths.ts';
import { compileCommandPattern } from '../model/shell/shellWords.ts';

import type { Phase, ToolConstraint } from '../model/workflow.ts';

type OnPath = (path: string) => boolean;
type OnCommand = (words: readonly string[]) => boolean;

/** True when a path is inside a phase's write scope and is none of the guard's own files. */
export function mayWrite(phase: Phase, path: string): boolean {
  if (isGuardedIn(phase, path)) return false;
  const policy = policyOf(phase);
  policy.writes ??= compileGlobs(phase.writes);
  return policy.writes(path);
}

/** True for one of the guard's own files that the phase's author did not open, or could not. */
export function isGuardedIn(phase: Phase, path: string): boolean {
  const guard = guardOf(path);
  return (
    guard === 'own' ||
    (guard === 'named' && !phase.writes.some((glob) => glob.replace(/^(?:\.\/)+/, '') === path))
  );
}

/** True when a phase's constraint on a tool, if it has one, lets it touch the path. */
export function mayTouch(phase: Phase, tool: string, path: string): boolean {
  const constraint = constraintOn(phase, tool);
  return constraint === undefined || onPaths(phase, tool, constraint)(path);
}

/** True when a phase's constraint on `bash` or `git`, if it has one, lets the command run. */
export function mayRun(phase: Phase, tool: string, words: readonly string[]): boolean {
  const constraint = constraintOn(phase, tool);
  return constraint === undefined || onCommands(phase, tool, constraint)(words);
}

/** What a phase says about a tool beside allowing or forbidding it. */
export function constraintOn(phase: Phase, tool: string): ToolConstraint | undefined {
  return phase.tools.constraints[tool];
}

interface Policy {
  writes: OnPath | undefined;
  readonly paths: Map<string, OnPath>;
  readonly commands: Map<string, OnCommand>;
}

// Compiled once per phase object: workflows are frozen, so the object stands for what is written in it. Every tool
// call is judged, and reading its phase's globs anew would be most of the work.
const policies = new WeakMap<Phase, Policy>();

function policyOf(phase: Phase): Policy {
  const known = policies.get(phase);
  if (known !== undefined) return known;
  const policy: Policy = { writes: undefined, paths: new Map(), commands: new Map() };
  policies.set(phase, policy);
  return policy;
}

function onPaths(phase: Phase, tool: string, constraint: ToolConstraint): OnPath {
  const { paths } = policyOf(phase);
  const known = paths.get(tool);
  if (known !== undefined) return known;
  const compiled = within(constraint, compileGlobs);
  paths.set(tool, compiled);
  return compiled;
}

function onCommands(phase: Phase, tool: string, constraint: ToolConstraint): OnCommand {
  const { commands } = policyOf(phase);
  const known = commands.get(tool);
  if (known !== undefined) return known;
  const judged = within(constraint, matchingAny);
  const denied = within({ allowed: [], denied: constraint.denied }, matchingAny);
  // What is denied as `rm` is denied as `/bin/rm` too; what is allowed as `rm` is not.
  const compiled: OnCommand = (words) => judged(words) && denied(byItsName(words));
  commands.set(tool, compiled);
  return compiled;
}

function matchingAny(patterns: readonly string[]): OnCommand {
  const matchers = patterns.map(compileCommandPattern);
  return (words) => matchers.some((matches) => matches(words));
}

function byItsName([program = '', ...rest]: readonly string[]): readonly string[] {
  return [program.slice(program.lastIndexOf('/') + 1), ...rest];
}

/** Denied before allowed; where nothing is allowed by name, all that is not denied is. */
function within<T>(
  { allowed, denied }: ToolConstraint,
  compile: (patterns: readonly string[]) => (subject: T) => boolean,
): (subject: T) => boolean {
  const bans = compile(denied);
  const permits = allowed.length === 0 ? () => true : compile(allowed);
  return (subject) => !bans(subject) && permits(subject);
}
