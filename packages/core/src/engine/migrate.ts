import { canonicalJson, type Json } from '../json.ts';
import { readParams } from '../model/params.ts';
import { holdsRing } from '../model/rings.ts';
import { type Phase, phaseById, type Workflow } from '../model/workflow.ts';
import { ALLOWED, blocker, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { type Considered, turnAway } from './deciding.ts';
import type { Run } from './run.ts';
import type { Blocker } from './verdict.ts';

type Migrate = Extract<Command, { kind: 'migrate' }>;

/** A human puts a run in flight under another version of its workflow, where the run could have got there in it. */
export function considerMigrate(run: Run, command: Migrate, circumstance: Circumstance): Considered {
  const { principal, now } = circumstance;
  const next = nextActionFor(run);
  const { workflow, workflowHash, trusted, proof } = command;
  // INVARIANT: only a human's command produces `run_migrated`, whatever surface it comes from.
  if (principal.kind !== 'human') {
    return turnAway([blocker('not_a_human', 'only a human may migrate a run', next)]);
  }
  if (run.phase === null) {
    return turnAway([blocker('run_ended', `run \`${run.id}\` is already ${run.status}`, next)]);
  }
  if (workflow.id !== run.workflow.id) {
    const message = `run \`${run.id}\` is a run of \`${run.workflow.id}\`, not of \`${workflow.id}\``;
    return turnAway([blocker('other_workflow', message, next)]);
  }
  if (workflowHash === run.workflowHash) {
    const message = `run \`${run.id}\` already has the workflow \`${workflowHash}\``;
    return turnAway([blocker('same_workflow', message, next)]);
  }
  const read = readParams(workflow.params, run.params);
  const blockers: Blocker[] = [
    ...unmapped(run, workflow).map((message) => blocker('migration_unmapped', message, next)),
    ...(read.ok ? [] : read.problems.map((problem) => blocker('param_invalid', problem, next))),
  ];
  if (!holdsRing(run.ring, workflow.enforcement.ring)) {
    const message = `the new workflow needs the ring \`${workflow.enforcement.ring}\`, and the run has \`${run.ring}\``;
    blockers.push(blocker('ring_too_low', message, next));
  }
  if (blockers.length === 0 && !proof.reachable) {
    blockers.push(blocker('migration_unproven', proof.reason, next));
  }
  if (!read.ok || blockers.length > 0) return turnAway(blockers);
  return {
    verdict: ALLOWED,
    events: [
      {
        at: now,
        type: 'run_migrated',
        workflow,
        workflowHash,
        from: run.workflowHash,
        params: read.values,
        // What was passed under files that nobody had accepted is not made good by accepting others.
        trusted: trusted && (run.trusted || run.completions.length === 0),
        by: principal.name,
        ...(command.places === undefined ? {} : { places: command.places }),
      },
    ],
  };
}

/** What the run stands in that the new workflow does not have, or has otherwise. */
function unmapped(run: Run, workflow: Workflow): readonly string[] {
  const before = phaseById(run.workflow, run.phase);
  const after = phaseById(workflow, run.phase);
  const problems: string[] = [];
  if (run.workflow.database?.file !== workflow.database?.file) {
    problems.push('the new workflow works on another database than the run did so far');
  }
  if (before === undefined || after === undefined) {
    return [...problems, `the run is in phase \`${run.phase}\`, which the new workflow does not have`];
  }
  if (before.parallel?.key !== after.parallel?.key) {
    problems.push(`the items of phase \`${after.id}\` are not those the new workflow would make`);
  }
  problems.push(...gateProblems(run, before, after));
  // What was judged in this visit and is not judged again must have been judged by the same rules.
  const judged =
    (run.status === 'waiting' && run.wait.for === 'gate') ||
    Object.values(run.work.items ?? {}).some(({ status }) => status === 'completed');
  if (judged && !same(rulesOf(run.workflow, before), rulesOf(workflow, after))) {
    const done = run.work.items === null ? 'what waits at its gate' : 'its finished items';
    problems.push(`phase \`${after.id}\` asks for other evidence or checks than ${done} passed`);
  }
  return problems;
}

function gateProblems(run: Run, before: Phase, after: Phase): readonly string[] {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return [];
  const [old, now] = [before.humanGate, after.humanGate];
  const named = `the gate \`${run.wait.gate}\` the run waits at`;
  if (now?.id !== old?.id || !same(now?.options ?? [], old?.options ?? [])) {
    return [`${named} is another in the new workflow, or offers something else: decide it first`];
  }
  return run.wait.votes.length > 0 ? [`${named} has votes already: decide it first`] : [];
}

function rulesOf({ enforcement, code }: Workflow, phase: Phase): unknown {
  const { work, tasks, evidence, postconditions, blockers } = phase;
  return { work, tasks: tasks.length, evidence, postconditions, blockers, mode: enforcement.mode, code };
}

function same(one: unknown, other: unknown): boolean {
  return canonicalJson(one as Json) === canonicalJson(other as Json);
}
