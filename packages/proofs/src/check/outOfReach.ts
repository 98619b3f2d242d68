import type { Check, Phase, Workflow } from '@phasegate/core/model';
import { isJsonObject, type Json, matchGlob, own, workerOf } from '@phasegate/core/model';
import { firstWithout } from './firstWithout.ts';
import { CHANGING_TOOLS, canMake, canWrite, hasTool, RUNNING_TOOLS } from './phaseTools.ts';
import type { Finding } from './report.ts';

type TraceTo = (phase: Phase) => readonly string[];

/** Evidence that the tools of a phase cannot produce. Only what is certain is an error. */
export function outOfReach(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  const missing = workflow.enforcement.mode === 'permissive' ? new Map() : missingFiles(workflow);
  return workflow.phases.flatMap((phase): Finding[] => {
    const worker = workerOf(phase);
    if (worker !== 'agent' && worker !== 'dispatch') return [];
    const at = { code: 'evidence_out_of_reach' as const, phases: [phase.id], trace: traceTo(phase) };
    const error =
      changesProblem(phase) ?? commandsProblem(phase) ?? testsProblem(phase) ?? missing.get(phase) ?? null;
    if (error !== null) return [{ ...at, severity: 'error', message: `phase \`${phase.id}\` ${error}` }];
    if (!asksForTests(phase) || phase.tools.allowed.length === 0 || hasTool(phase, RUNNING_TOOLS)) return [];
    const message = `phase \`${phase.id}\` asks for a test run, and no tool it is allowed runs anything: its numbers come from elsewhere`;
    return [{ ...at, severity: 'note', message }];
  });
}

function changesProblem(phase: Phase): string | null {
  const changes = phase.evidence.artifacts.find(({ type }) => type === 'changes');
  if (changes === undefined) return null;
  if (!checksOf(phase).some(({ use }) => use === 'changes_within_scope') && leastItems(changes.schema) === 0)
    return null;
  const must = 'must name changed files as `changes`';
  if (phase.writes.length === 0) return `${must}, and its \`writes\` is empty`;
  if (!hasTool(phase, CHANGING_TOOLS)) return `${must}, and no tool it is allowed can write`;
  return canWrite(phase)
    ? null
    : `${must}, and what its tools may write lies outside its \`writes\`: let \`tool_constraints\` and \`writes\` name the same files`;
}

/** A list of the commands that were run, from a phase that has tools and none that runs one. */
function commandsProblem(phase: Phase): string | null {
  if (phase.tools.allowed.length === 0 || hasTool(phase, [...RUNNING_TOOLS, 'git'])) return null;
  const field = phase.evidence.fields.some(
    ({ name, rule }) => name === COMMANDS && (rule === 'non_empty' || rule === 'positive'),
  );
  const artifact = phase.evidence.artifacts.some(
    ({ type, schema }) => type === COMMANDS && leastItems(schema) > 0,
  );
  return field || artifact
    ? `must name commands that were run as \`${COMMANDS}\`, and no tool it is allowed runs one: allow \`bash\`, or do not ask for it`
    : null;
}

const COMMANDS = 'commands_executed';

/** A test run of what is written in this very phase, which can be neither run nor read about. */
function testsProblem(phase: Phase): string | null {
  if (!asksForTests(phase) || !canWrite(phase) || hasTool(phase, LEARNING_TOOLS)) return null;
  return 'must report a test run of what it writes, and no tool it is allowed runs tests or reads a result: allow `bash`, or look with a `command`';
}

const LEARNING_TOOLS = [...RUNNING_TOOLS, 'git', 'fetch', 'read_files', 'grep'];

function asksForTests(phase: Phase): boolean {
  return (
    phase.evidence.artifacts.some(({ type }) => type === 'test_run_result') &&
    checksOf(phase).some(({ use }) => use === 'tests_are_failing' || use === 'tests_are_passing')
  );
}

/** Files that were seen to be absent, must be there later, and that nobody on the way can make. */
function missingFiles(workflow: Workflow): ReadonlyMap<Phase, string> {
  const found = new Map<Phase, string>();
  for (const seen of workflow.phases) {
    const before = absentIn(seen.preconditions);
    const after = absentIn(checksOf(seen));
    if (before.length + after.length === 0) continue;
    for (const target of workflow.phases) {
      if (found.has(target)) continue;
      const path = wantedIn(target).find((wanted) => {
        if (canMake(target, wanted)) return false;
        const lasts = matches(before, wanted) && !canMake(seen, wanted);
        if (target === seen) return lasts;
        if (!lasts && !matches(after, wanted)) return false;
        const stop = (phase: Phase) => canMake(phase, wanted);
        return firstWithout(workflow, seen, { stop, wanted: (phase) => phase === target }) !== null;
      });
      if (path === undefined) continue;
      const since = target === seen ? 'it is entered only where there is none' : `\`${seen.id}\` saw none`;
      found.set(
        target,
        `needs the file \`${path}\`, ${since}, and nobody may write it from there on: add it to \`writes\``,
      );
    }
  }
  return found;
}

function absentIn(checks: readonly Check[]): readonly string[] {
  return checks.flatMap(({ use, with: { absent } }) => (use === 'files' ? texts(absent) : []));
}

/** Single files that must be there to leave a phase. */
function wantedIn(phase: Phase): readonly string[] {
  return checksOf(phase).flatMap(({ use, with: { exist, non_empty, contain } }) => {
    if (use !== 'files') return [];
    const containing = Array.isArray(contain) ? contain.map((item: Json) => own(item, 'path')) : [];
    return [...texts(exist), ...texts(non_empty), ...texts(containing as Json)].filter(
      (path) => !/[*?[\]{}!()]/u.test(path),
    );
  });
}

function matches(globs: readonly string[], path: string): boolean {
  return globs.some((glob) => glob === path || matchGlob(glob, path));
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function leastItems(schema: Json): number {
  const least = isJsonObject(schema) ? own(schema, 'minItems') : undefined;
  return typeof least === 'number' ? least : 0;
}

function checksOf({ postconditions, blockers }: Phase): readonly Check[] {
  return [...postconditions, ...blockers];
}
