import { own, phaseById, type Run, type ToolUse, type Verdict } from '@phasegate/core';
import { isClientSettings, isDefinition, PATH_TOOLS, READING_TOOLS } from '@phasegate/core/model';
import type { AskedUse } from '../runtime.ts';
import { blockerOf } from './blockersOf.ts';
import { type Placed, type Places, placePath, reachesClosed, readingsOf } from './placePaths.ts';

/** Where a call was made, and what it is held against. */
export interface Placing {
  readonly run: Run | null;
  readonly cwd: string;
  readonly places: Places;
}

/**
 * Puts the paths of a use in the engine's words: relative to the workspace, links followed. What lies outside of it may
 * be read and never written; definitions and what Phasegate keeps are closed.
 */
export function placeUse(use: ToolUse, placing: Placing): AskedUse {
  if (!PATH_TOOLS.includes(use.tool)) return { use };
  const named = pathsIn(use) ?? [];
  if (named.length === 0) return { use };
  const reading = READING_TOOLS.includes(use.tool);
  const { run, cwd, places } = placing;
  // Before anything is made of it: that takes longer than to look.
  if (named.some(isTooLong)) return tooLong(run, use);
  const given = named.flatMap(readingsOf);
  if (given.some(isTooLong)) return tooLong(run, use);
  const placed = given.map((path) => placePath(path, cwd, places));
  const closed = given.find((_, index) => isClosed(placed[index] as Placed, reading));
  if (closed !== undefined) {
    const message = `\`${closed}\` is closed to agents: what a workflow says is shown phase by phase`;
    return refusedUse(use, blockerOf(run, 'definition_closed', message));
  }
  const wide = reading
    ? given.find(
        (path) => (use.tool === 'grep' || isPattern(path)) && reachesClosed(within(path), cwd, places),
      )
    : undefined;
  if (wide !== undefined) {
    const message = `\`${wide}\` holds folders that are closed to agents; search in a narrower folder`;
    return refusedUse(use, blockerOf(run, 'definition_closed', message));
  }
  const outside = placed.find((one) => one.at === 'outside');
  if (outside === undefined) {
    const paths = placed.map((one) => (one.at === 'inside' ? one.path : ''));
    return { use: { tool: use.tool, input: inputOf(use.tool, paths) } };
  }
  const path = outside.at === 'outside' ? outside.path : '';
  const there = { tool: use.tool, input: { path } };
  if (!reading) {
    return refusedUse(there, blockerOf(run, 'outside_write_scope', `\`${path}\` is outside the workspace`));
  }
  return mayReadOutside(run, use.tool) ? { use: there, verdict: { allowed: true } } : { use: there };
}

/** Whether a client may take a path for a pattern, and read everything it names. */
function isPattern(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** The folder in which all is that a pattern can name. */
function within(path: string): string {
  return isPattern(path) ? path.replace(/[*?[{].*$/s, '').replace(/[^/]*$/, '') || '.' : path;
}

function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) > LONGEST_PATH;
}

function tooLong(run: Run | null, { tool }: ToolUse): AskedUse {
  const message = `a path is longer than ${LONGEST_PATH} bytes`;
  return refusedUse({ tool, input: {} }, blockerOf(run, 'tool_forbidden', message));
}

/** As long as Linux takes one. */
const LONGEST_PATH = 4096;

/** No call is about more files: each is looked at while everybody else waits. */
const MOST_PATHS = 500;
/** Characters of all of them; one path may be long, and many are not. */
const LONGEST_TOGETHER = 128 * 1024;

/** Why a call is about more than is judged at a time; null where it is not. */
export function tooManyPaths(uses: readonly ToolUse[]): string | null {
  const count = uses.reduce((sum, use) => sum + (pathsIn(use)?.length ?? 1), 0);
  if (count > MOST_PATHS) return `the call is about more than ${MOST_PATHS} files; make several calls of it`;
  const paths = uses.filter(({ tool }) => PATH_TOOLS.includes(tool)).flatMap((use) => pathsIn(use) ?? []);
  const length = paths.reduce((sum, path) => sum + path.length, 0);
  return count > 1 && length > LONGEST_TOGETHER
    ? `the paths of the call have more than ${LONGEST_TOGETHER} characters; make several calls of it`
    : null;
}

function pathsIn({ input }: ToolUse): readonly string[] | null {
  const [path, paths] = [own(input, 'path'), own(input, 'paths')];
  const all = Array.isArray(paths) ? paths : path === undefined ? [] : [path];
  return all.length > 0 && all.every((one) => typeof one === 'string' && one !== '')
    ? (all as readonly string[])
    : null;
}

function isClosed(placed: Placed, reading: boolean): boolean {
  if (placed.at === 'closed') return true;
  // Writing them the engine refuses, in its own words.
  if (!reading) return false;
  // Those of the project are closed from every folder, not only from within.
  const path = placed.at === 'inside' ? placed.path : placed.within;
  return path !== null && (isDefinition(path) || isDefinition(`${path}/any`));
}

/** A folder is put to the engine as everything below it, so that a rule for its files is the rule for it. */
function inputOf(tool: string, paths: readonly string[]): ToolUse['input'] {
  const told = paths.map((path) => (path === '' ? '**' : tool === 'list_files' ? `${path}/**` : path));
  const [only, ...others] = told;
  return others.length === 0 && only !== undefined ? { path: only } : { paths: told };
}

/** Where the phase lets it read anything of the workspace; a rule about paths is about those of the workspace alone. */
function mayReadOutside(run: Run | null, tool: string): boolean {
  const phase = run === null ? undefined : phaseById(run.workflow, run.phase);
  if (phase === undefined) return true;
  const { allowed, forbidden, constraints } = phase.tools;
  return allowed.includes(tool) && !forbidden.includes(tool) && constraints[tool] === undefined;
}

function refusedUse(use: ToolUse, blocker: ReturnType<typeof blockerOf>): AskedUse {
  const verdict: Verdict = { allowed: false, blockers: [blocker] };
  return { use, verdict };
}

/** Whether a use would write settings of a client, by which it could be let loose. */
export function writesSettings({ use }: AskedUse): boolean {
  if (READING_TOOLS.includes(use.tool) || !PATH_TOOLS.includes(use.tool)) return false;
  return (pathsIn(use) ?? []).some(isClientSettings);
}
