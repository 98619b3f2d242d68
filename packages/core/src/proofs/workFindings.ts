import { mayWrite } from '../engine/toolPolicy.ts';
import { isJsonObject, own } from '../json.ts';
import { edgesOf } from '../model/edges.ts';
import { pathsOf } from '../model/expression.ts';
import { type Check, type Phase, phaseById, type Workflow } from '../model/workflow.ts';
import { reachabilityOf } from './abstractWorkflow.ts';
import type { Finding } from './report.ts';

type TraceTo = (phase: Phase) => readonly string[];

/** What the work of a phase makes impossible or worthless: its tools, its write scope, who does it. */
export function workFindings(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  return [
    ...selfApprovals(workflow, traceTo),
    ...writableLaw(workflow, traceTo),
    ...outOfReach(workflow, traceTo),
    ...frozenTests(workflow, traceTo),
  ];
}

const REVIEWS = ['review_is_complete', 'all_review_models_completed', 'no_blocking_findings'];
const CHANGING_TOOLS = ['write_files', 'edit_file', 'bash', 'git', 'spawn_agent'];
const RUNNING_TOOLS = ['bash', 'spawn_agent'];

/** A role reviews what it wrote itself, and no human looks at it in between or afterwards. */
function selfApprovals(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  const findings: Finding[] = [];
  for (const phase of workflow.phases) {
    const role = roleOf(phase);
    if (role === null || phase.writes.length === 0 || phase.humanGate !== null) continue;
    const judge = firstWithout(workflow, phase, {
      stop: (candidate) => candidate.humanGate !== null,
      wanted: (candidate) =>
        roleOf(candidate) === role && candidate.writes.length === 0 && isReview(candidate),
    });
    if (judge === null || findings.some(({ phases }) => phases.includes(judge.id))) continue;
    const message = `\`${role}\` does the work of phase \`${phase.id}\` and approves it in phase \`${judge.id}\`, with no human in between: give one of them to another role`;
    findings.push({
      code: 'self_approval',
      severity: 'error',
      message,
      phases: [phase.id, judge.id],
      trace: traceTo(judge),
    });
  }
  return findings;
}

function roleOf({ work }: Phase): string | null {
  return work.kind === 'dispatch' ? work.agent : null;
}

function isReview({ next, evidence, postconditions, blockers }: Phase): boolean {
  if ([...postconditions, ...blockers].some(({ use }) => REVIEWS.includes(use))) return true;
  if (next.kind !== 'when' || next.condition.kind !== 'expression') return false;
  const evidenceRoots = new Set(['result', ...evidence.artifacts.map(({ type }) => type)]);
  return pathsOf(next.condition.expression).some(({ root }) => evidenceRoots.has(root));
}

/** The engine keeps its own files out of every scope; what else a verdict rests on is the author's to keep out. */
function writableLaw(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  const law = [
    ...(workflow.module === null
      ? []
      : [{ file: workflow.module, is: 'holds the functions of the workflow', by: null }]),
    ...(workflow.database === undefined
      ? []
      : [{ file: workflow.database.file, is: 'is the protected database', by: null }]),
    ...workflow.phases.flatMap((phase) =>
      [...phase.postconditions, ...phase.blockers, ...phase.preconditions].flatMap((check) =>
        verifierFiles(check).map((file) => ({
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
        (isTest(file) ? by === phase : reachable.get(String(phase.id))?.has(String(by.id)) === true);
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

const SCRIPT_RUNNERS: Readonly<Record<string, string>> = {
  npm: 'package.json',
  pnpm: 'package.json',
  yarn: 'package.json',
  make: 'Makefile',
};

/** Files of the project that decide how a command ends. Tests that must fail are work, not a verdict. */
function verifierFiles({ use, with: { argv, cwd, expect_exit = 0 } }: Check): readonly string[] {
  if (use !== 'command' || !Array.isArray(argv)) return [];
  const words = argv.filter((word): word is string => typeof word === 'string');
  const folder = typeof cwd === 'string' && cwd !== '.' ? `${cwd.replace(/\/$/u, '')}/` : '';
  const script = SCRIPT_RUNNERS[words[0] ?? ''];
  const named = words.filter((word) => /^[\w@.][\w@./-]*\.(?:sh|[cm]?[jt]s|py|rb|pl|json)$/u.test(word));
  const files = [
    ...(script === undefined ? [] : [script]),
    ...named.map((word) => word.replace(/^\.\//u, '')),
  ];
  return files.filter((file) => expect_exit === 0 || !isTest(file)).map((file) => `${folder}${file}`);
}

/** Evidence of changed files from a phase that can change none, or of a test run from one that can run nothing. */
function outOfReach(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  return workflow.phases.flatMap((phase): Finding[] => {
    if (phase.work.kind !== 'agent' && phase.work.kind !== 'dispatch') return [];
    const checks = [...phase.postconditions, ...phase.blockers];
    const at = { phases: [phase.id], trace: traceTo(phase) };
    const changes = phase.evidence.artifacts.find(({ type }) => type === 'changes');
    const wanted =
      changes !== undefined &&
      (checks.some(({ use }) => use === 'changes_within_scope') || leastItems(changes.schema) > 0);
    if (wanted && (phase.writes.length === 0 || !hasTool(phase, CHANGING_TOOLS))) {
      const lack = phase.writes.length === 0 ? 'its `writes` is empty' : 'no tool it is allowed can write';
      const message = `phase \`${phase.id}\` must name changed files as \`changes\`, and ${lack}`;
      return [{ code: 'evidence_out_of_reach', severity: 'error', message, ...at }];
    }
    const run = phase.evidence.artifacts.some(({ type }) => type === 'test_run_result');
    const ran = run && checks.some(({ use }) => use === 'tests_are_failing' || use === 'tests_are_passing');
    if (!ran || phase.tools.allowed.length === 0 || hasTool(phase, RUNNING_TOOLS)) return [];
    const message = `phase \`${phase.id}\` asks for a test run, and no tool it is allowed runs anything: its numbers come from elsewhere`;
    return [{ code: 'evidence_out_of_reach', severity: 'note', message, ...at }];
  });
}

function leastItems(schema: unknown): number {
  const least = isJsonObject(schema as never) ? own(schema as never, 'minItems') : undefined;
  return typeof least === 'number' ? least : 0;
}

function hasTool({ tools }: Phase, wanted: readonly string[]): boolean {
  return tools.allowed.some(
    (name) => (wanted.includes(name) || name.startsWith('mcp:')) && !tools.forbidden.includes(name),
  );
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
  const tests = globs.filter(isTest);
  return (tests.length > 0 ? tests : globs).map((glob) => glob.replaceAll('**', 'x').replaceAll('*', 'x'));
}

function isTest(path: string): boolean {
  return /(?:^|\/)(?:__tests__|tests?|specs?)(?:\/|$)|[._](?:test|spec)\.|(?:^|\/)test_/u.test(path);
}

/** The nearest wanted phase after one, not looking past those that stop the search. */
function firstWithout(
  workflow: Workflow,
  from: Phase,
  search: { readonly stop: (phase: Phase) => boolean; readonly wanted: (phase: Phase) => boolean },
): Phase | null {
  const seen = new Set([from.id]);
  const open = [from];
  for (let phase = open.shift(); phase !== undefined; phase = open.shift()) {
    for (const { to } of edgesOf(phase)) {
      const next = phaseById(workflow, to);
      if (next === undefined || seen.has(next.id)) continue;
      seen.add(next.id);
      if (search.stop(next)) continue;
      if (search.wanted(next)) return next;
      open.push(next);
    }
  }
  return null;
}
