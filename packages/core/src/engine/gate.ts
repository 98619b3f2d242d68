import type { JsonObject } from '../json.ts';
import { type HumanGate, type Phase, phaseById } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { ALLOWED, blocker, nextActionFor, refused } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';

import { Asking, type Considered, escalation, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { followRoute, passed } from './leaving.ts';
import type { GateDecision, GateWait, Run } from './run.ts';
import { checkpointOf, valueAt } from './scope.ts';
import { addSeconds } from './time.ts';
import { cross } from './transition.ts';
import type { Blocker, NextAction } from './verdict.ts';

type Decide = Extract<Command, { kind: 'decide' }>;

const AT_THE_GATE: NextAction = { act: 'wait_for_human', text: 'a human decides at the open gate' };

/** A human's choice at an open gate. */
export function considerDecide(run: Run, command: Decide, circumstance: Circumstance): Considered {
  const open = openGate(run);
  // INVARIANT: only a human's command produces `gate_decided`. The principal is bound where it authenticated,
  // so checking it here covers every surface, including ones not written yet.
  if (circumstance.principal.kind !== 'human') {
    return turnAway([blocker('not_a_human', 'only a human may decide at a gate', nextActionFor(run))]);
  }
  if (open === null)
    return turnAway([blocker('run_not_waiting', `run \`${run.id}\` waits at no gate`, nextActionFor(run))]);
  const late = considerExpiry(run, circumstance.now);
  if (late !== null) return late;
  const wrong = decisionProblem(open, command, circumstance);
  if (wrong !== null) return turnAway([wrong]);

  const { wait, gate, phase } = open;
  const decision: GateDecision = {
    gate: wait.gate,
    option: command.option,
    input: command.input ?? null,
    shown: command.shown,
    by: circumstance.principal.name,
    at: circumstance.now,
    signature: command.signature,
  };
  const agreeing = wait.votes.filter((vote) => vote.option === command.option).length + 1;
  const final = agreeing >= gate.quorum;
  const decided: RunEvent = { at: circumstance.now, type: 'gate_decided', decision, final };
  if (!final) return { verdict: ALLOWED, events: [decided] };
  const onward = leaveGate(apply(run, decided), { wait, gate, phase, option: command.option }, circumstance);
  if ('looks' in onward || !onward.verdict.allowed) return onward;
  return { verdict: onward.verdict, events: [decided, ...onward.events] };
}

/** What happens to a gate whose time is up, or null while it is not. Nothing is approved by waiting. */
export function considerExpiry(run: Run, now: string): Considered | null {
  const open = openGate(run);
  if (open === null || open.gate.timeout === null) return null;
  const { timeout } = open.gate;
  if (now < addSeconds(open.wait.since, timeout.afterSeconds)) return null;
  const message = `nobody decided at gate \`${open.wait.gate}\` in time`;
  const blockers = [blocker('gate_timed_out', message, AT_THE_GATE)];
  const after: RunEvent =
    timeout.afterwards === 'stop'
      ? { at: now, type: 'run_stopped', reason: message, by: 'phasegate' }
      : escalation(now, 'gate_timed_out', message, blockers);
  return {
    verdict: refused(blockers),
    events: [{ at: now, type: 'gate_timed_out', gate: open.wait.gate }, after],
  };
}

/** What a human is shown at a gate; the hash of its canonical JSON binds the decision to it. */
export function gateCard(run: Run): JsonObject | null {
  const open = openGate(run);
  if (open === null) return null;
  const { wait, gate, phase } = open;
  return {
    run: run.id,
    workflow: run.workflow.id,
    workflow_hash: run.workflowHash,
    target: run.target,
    gate: wait.gate,
    phase: phase.id,
    epoch: run.epoch,
    prompt: gate.prompt,
    context: gateContext(run, gate, wait),
    evidence: wait.evidence,
    outcome: wait.outcome,
    ...(wait.wouldRefuse.length === 0
      ? {}
      : { would_refuse: wait.wouldRefuse.map(({ code, message }) => ({ code, message })) }),
    options: gate.options.map((option) => ({
      label: option.label,
      requires_input: option.requiresInput,
      leads_to: optionTarget(option),
    })),
  };
}

/** The gate a run waits at, or null. */
export function openGate(
  run: Run,
): { readonly wait: GateWait; readonly gate: HumanGate; readonly phase: Phase } | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return null;
  const phase = phaseById(run.workflow, run.phase);
  if (phase?.humanGate == null) return null;
  return { wait: run.wait, gate: phase.humanGate, phase };
}

/** Values at the gate's context paths; a path that leads nowhere shows as null. */
export function gateContext(run: Run, gate: HumanGate, wait: GateWait): JsonObject {
  const checkpoint = checkpointOf(run, wait.evidence);
  return Object.fromEntries(gate.context.map((path) => [path, valueAt(checkpoint, path) ?? null]));
}

function optionTarget(option: HumanGate['options'][number]): string | number {
  if (option.next === undefined) return 'next';
  return option.next === null ? 'stop' : option.next;
}

function decisionProblem(
  { wait, gate }: { readonly wait: GateWait; readonly gate: HumanGate },
  command: Decide,
  { principal, shown }: Circumstance,
): Blocker | null {
  const option = gate.options.find((candidate) => candidate.label === command.option);
  if (command.gate !== wait.gate) {
    return blocker('gate_unknown', `gate \`${command.gate}\` is not open; \`${wait.gate}\` is`, AT_THE_GATE);
  }
  if (gate.approvers.length > 0 && !gate.approvers.includes(principal.name)) {
    return blocker(
      'not_an_approver',
      `\`${principal.name}\` may not decide here; ${gate.approvers.join(', ')} may`,
      AT_THE_GATE,
    );
  }
  if (option === undefined) {
    const labels = gate.options.map((candidate) => `\`${candidate.label}\``).join(', ');
    return blocker(
      'option_unknown',
      `there is no option \`${command.option}\`; choose ${labels}`,
      AT_THE_GATE,
    );
  }
  if (option.requiresInput && (command.input ?? '').trim() === '') {
    return blocker('input_required', `option \`${option.label}\` needs a text from the human`, AT_THE_GATE);
  }
  if (shown === undefined || command.shown !== shown) {
    return blocker(
      'shown_changed',
      'what was shown is not what stands there now; look again and decide',
      AT_THE_GATE,
    );
  }
  if (wait.votes.some((vote) => vote.by === principal.name)) {
    return blocker('already_voted', `\`${principal.name}\` has decided here already`, AT_THE_GATE);
  }
  return null;
}

function leaveGate(
  run: Run,
  at: { readonly wait: GateWait; readonly gate: HumanGate; readonly phase: Phase; readonly option: string },
  circumstance: Circumstance,
): Considered {
  const { wait, phase } = at;
  const { now, principal } = circumstance;
  const option = at.gate.options.find(
    (candidate) => candidate.label === at.option,
  ) as HumanGate['options'][number];
  const leaving = {
    phase,
    evidence: wait.evidence,
    outcome: wait.outcome,
    state: wait.state,
    by: wait.by,
    now,
    wouldRefuse: wait.wouldRefuse,
  };
  if (option.next === undefined) return followRoute(run, leaving, circumstance);
  if (option.next === null) {
    return {
      verdict: ALLOWED,
      events: [
        { at: now, type: 'run_stopped', reason: `\`${option.label}\` was chosen`, by: principal.name },
      ],
    };
  }
  const asking = new Asking(circumstance);
  const permissive = run.workflow.enforcement.mode === 'permissive';
  const crossing = cross(run, leaving, { target: option.next, iterated: false, asking, permissive });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (!crossing.ok) return turnAway(crossing.blockers);
  const { event } = crossing;
  return { verdict: event.type === 'phase_completed' ? passed(event.wouldRefuse) : ALLOWED, events: [event] };
}
