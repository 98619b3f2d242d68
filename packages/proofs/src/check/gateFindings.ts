import type { Check, Phase, Workflow } from '@phasegate/core/model';
import { canonicalJson, type Json, matchGlob } from '@phasegate/core/model';
import { clashOf, conditionOf } from './phaseConditions.ts';
import type { Finding } from './report.ts';

/** Checks of a phase that nothing can satisfy: because of each other, or because of the schemas of its evidence. */
export function gateFindings(
  workflow: Workflow,
  traceTo: (phase: Phase) => readonly string[],
): readonly Finding[] {
  if (workflow.enforcement.mode === 'permissive') return [];
  return workflow.phases.flatMap((phase): Finding[] => {
    const found = findingIn(workflow, phase);
    return found === null ? [] : [{ ...found, severity: 'error', phases: [phase.id], trace: traceTo(phase) }];
  });
}

function findingIn(workflow: Workflow, phase: Phase): Pick<Finding, 'code' | 'message'> | null {
  const checks = phase.parallel === null ? [...phase.postconditions, ...phase.blockers] : phase.blockers;
  const pair = commandsThatClash(checks) ?? filesThatClash(checks);
  if (pair !== null) return contradiction(phase, pair, 'the same world');
  const readable = checks.flatMap((check) => {
    const expression = conditionOf(check);
    return expression === null ? [] : [{ check, wanted: [expression, true] as const }];
  });
  const clash = clashOf(workflow, phase, { wanted: readable.map(({ wanted }) => wanted), schemas: false });
  if (clash !== null)
    return contradiction(
      phase,
      readable.map(({ check }) => check),
      `\`${clash}\``,
    );
  for (let count = 1; count <= readable.length; count++) {
    const some = readable.slice(0, count);
    const path = clashOf(workflow, phase, { wanted: some.map(({ wanted }) => wanted), schemas: true });
    if (path === null) continue;
    const label = some.at(-1)?.check.label;
    const message = `phase \`${phase.id}\` cannot be left: no evidence its schemas allow satisfies \`${label}\`, which asks too much of \`${path}\``;
    return { code: 'unsatisfiable_gate', message };
  }
  return null;
}

function contradiction(
  phase: Phase,
  checks: readonly Check[],
  about: string,
): Pick<Finding, 'code' | 'message'> {
  const labels = checks.map(({ label }) => `\`${label}\``).join(' and ');
  const message = `phase \`${phase.id}\` cannot be left: ${labels} contradict each other about ${about}`;
  return { code: 'contradictory_blockers', message };
}

/** The same command cannot end both ways. */
function commandsThatClash(checks: readonly Check[]): readonly Check[] | null {
  const commands = checks.filter(({ use }) => use === 'command');
  for (const [index, one] of commands.entries()) {
    for (const other of commands.slice(index + 1)) {
      if (whatIsRun(one) !== whatIsRun(other)) continue;
      const codes = exitCodes(one);
      if (!exitCodes(other).some((code) => codes.includes(code))) return [one, other];
    }
  }
  return null;
}

function whatIsRun({ with: { argv = null, shell = null, cwd = '.', env = {} } }: Check): string {
  return canonicalJson({ argv, shell, cwd, env });
}

function exitCodes({ with: { expect_exit = 0 } }: Check): readonly Json[] {
  return Array.isArray(expect_exit) ? expect_exit : [expect_exit];
}

/** A file cannot be there and be absent. */
function filesThatClash(checks: readonly Check[]): readonly Check[] | null {
  const looks = checks.filter(({ use }) => use === 'files');
  for (const one of looks) {
    const there = [...texts(one.with.exist), ...texts(one.with.non_empty)];
    for (const other of looks) {
      const gone = texts(other.with.absent);
      if (
        there.some((path) => gone.some((glob) => glob === path || (isPlain(path) && matchGlob(glob, path))))
      )
        return one === other ? [one] : [one, other];
    }
  }
  return null;
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function isPlain(path: string): boolean {
  return !/[*?[\]{}!]/u.test(path);
}
