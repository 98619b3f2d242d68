import { constraintOn, mayWrite } from '@phasegate/core/engine';
import type { Phase, Workflow } from '@phasegate/core/model';
import { edgesOf } from '@phasegate/core/model';
import { reachabilityOf } from './abstractWorkflow.ts';
import { decidingFiles } from './decidingFiles.ts';
import { firstWithout } from './firstWithout.ts';
import { isTestPath } from './isTestPath.ts';
import { outOfReach } from './outOfReach.ts';
import { CHANGING_TOOLS, canWrite, hasOwnTool, hasTool, overlaps } from './phaseTools.ts';
import type { Finding, Surroundings } from './report.ts';
import { selfApprovals } from './selfApproval.ts';

type TraceTo = (phase: Phase) => readonly string[];

/** What the work of a phase makes impossible or worthless: its tools, its write scope, who does it. */
export function workFindings(
  workflow: Workflow,
  traceTo: TraceTo,
  around: Surroundings = {},
): readonly Finding[] {
  return [
    ...selfApprovals(workflow, traceTo),
    ...writableLaw(workflow, traceTo, around),
    ...writableStandards(workflow, traceTo, around),
    ...outOfReach(workflow, traceTo),
    ...frozenTests(workflow, traceTo),
    ...gitThroughBash(workflow, traceTo),
  ];
}

/** A line is refused that calls git; what a program does that the line starts is known to nobody. */
function gitThroughBash(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  return workflow.phases.flatMap((phase): Finding[] => {
    const forbids = phase.tools.forbidden.includes('git');
    const anyLine = hasOwnTool(phase, 'bash') && namesNoProgram(constraintOn(phase, 'bash')?.allowed ?? []);
    if (!forbids || !anyLine) return [];
    const message = `phase \`${phase.id}\` forbids \`git\` and lets \`bash\` run any command, so a script can call git: name the commands that \`bash\` may run under \`allowed\` of its \`tool_constraints\``;
    return [
      {
        code: 'git_through_bash',
        severity: 'error',
        message,
        phases: [phase.id],
        trace: traceTo(phase),
      },
    ];
  });
}

/** Whether any program may be run: nothing is listed, or a pattern leaves the program open. */
function namesNoProgram(allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((pattern) => pattern.trimStart().startsWith('*'));
}

/** The engine keeps its own files out of every scope; what else a verdict rests on is the author's to keep out. */
function writableLaw(workflow: Workflow, traceTo: TraceTo, { code = [] }: Surroundings): readonly Finding[] {
  const imported = code.filter((file) => file !== workflow.module);
  const law = [
    ...(workflow.module === null
      ? []
      : [{ file: workflow.module, is: 'holds the functions of the workflow', by: null }]),
    ...imported.map((file) => ({ file, is: 'the functions of the workflow import', by: null })),
    ...(workflow.database === undefined
      ? []
      : [{ file: workflow.database.file, is: 'is the protected database', by: null }]),
    ...workflow.phases.flatMap((phase) =>
      [...phase.postconditions, ...phase.blockers, ...phase.preconditions].flatMap((check) =>
        decidingFiles(check).map((file) => ({
          file,
          is: `decides about phase \`${phase.id}\` (\`${check.label}\`)`,
          by: phase,
        })),
      ),
    ),
  ];
  if (law.length === 0) return [];
  const reachable = reachabilityOf(workflow);
  const findings: Finding[] = [];
  for (const phase of workflow.phases) {
    if (!hasTool(phase, CHANGING_TOOLS)) continue;
    for (const { file, is, by } of law) {
      const matters =
        by === null ||
        (isTestPath(file) ? by === phase : reachable.get(String(phase.id))?.has(String(by.id)) === true);
      if (!matters || !mayWrite(phase, file)) continue;
      if (findings.some(({ phases, message }) => phases[0] === phase.id && message.includes(`\`${file}\``)))
        continue;
      const message = `phase \`${phase.id}\` may write \`${file}\`, which ${is}: take it out of \`writes\``;
      findings.push({
        code: 'writes_own_law',
        severity: 'error',
        message,
        phases: [phase.id],
        trace: traceTo(phase),
      });
    }
  }
  return findings;
}

/** What an agent writes there is served to all others as the project's standards; a note where a human looks at it first. */
function writableStandards(
  workflow: Workflow,
  traceTo: TraceTo,
  { standards = [] }: Surroundings,
): readonly Finding[] {
  return workflow.phases.flatMap((phase): Finding[] => {
    if (!canWrite(phase)) return [];
    const scope = phase.writes.find((glob) =>
      standards.some((served) => overlaps(glob)(served) && mayBeSameKind(glob, served)),
    );
    if (scope === undefined) return [];
    const seen = phase.humanGate !== null || !endsWithoutHuman(workflow, phase);
    const message = `phase \`${phase.id}\` may write \`${scope}\`, where documents are that \`search_standards\` serves to every agent${seen ? '' : ', with no human to look at them: narrow `writes`, or give the phase a human gate'}`;
    const severity = seen ? 'note' : 'error';
    return [{ code: 'writes_standards', severity, message, phases: [phase.id], trace: traceTo(phase) }];
  });
}

/** Two globs whose names end otherwise have no file in common. */
function mayBeSameKind(one: string, other: string): boolean {
  const [mine, theirs] = [one, other].map((glob) => /\.\w+$/u.exec(glob)?.[0]);
  return mine === undefined || theirs === undefined || mine === theirs;
}

function endsWithoutHuman(workflow: Workflow, phase: Phase): boolean {
  const ends = (candidate: Phase) => edgesOf(candidate).some(({ to }) => to === null);
  const stop = ({ humanGate }: Phase) => humanGate !== null;
  return ends(phase) || firstWithout(workflow, phase, { stop, wanted: ends }) !== null;
}

/** Tests were seen to pass, then must be seen to fail, and nobody on the way may write a test. */
function frozenTests(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  const samples = testSamples(workflow);
  const writesTests = (phase: Phase) => samples.some((path) => mayWrite(phase, path));
  const findings: Finding[] = [];
  for (const phase of workflow.phases) {
    if (!asks(phase, 'tests_are_passing')) continue;
    const red = firstWithout(workflow, phase, {
      stop: writesTests,
      wanted: (candidate) => asks(candidate, 'tests_are_failing') && !writesTests(candidate),
    });
    if (red === null || findings.some(({ phases }) => phases.includes(red.id))) continue;
    const message = `phase \`${red.id}\` needs failing tests after phase \`${phase.id}\` had them pass, and no phase from there on may write a test`;
    findings.push({
      code: 'tests_frozen',
      severity: 'error',
      message,
      phases: [phase.id, red.id],
      trace: traceTo(red),
    });
  }
  return findings;
}

function asks({ postconditions, blockers }: Phase, use: string): boolean {
  return [...postconditions, ...blockers].some((check) => check.use === use);
}

/** Where this workflow has its tests; where it never says, anything it may write could be one. */
function testSamples(workflow: Workflow): readonly string[] {
  const globs = workflow.phases.flatMap(({ writes }) => writes);
  const tests = globs.filter(isTestPath);
  return (tests.length > 0 ? tests : globs).map((glob) => glob.replaceAll('**', 'x').replaceAll('*', 'x'));
}
