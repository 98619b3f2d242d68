import type { JsonObject } from '../json.ts';
import type { HumanGate } from '../model/workflow.ts';
import { databaseOf } from './databaseHash.ts';
import { openGate } from './gate.ts';
import { contextValues, gateContext, visitOf } from './gateContext.ts';
import type { Run } from './run.ts';

/** What a human is shown at a gate; the hash of its canonical JSON binds the decision to it. */
export function gateCard(run: Run): JsonObject | null {
  const open = openGate(run);
  if (open === null) return null;
  const { wait, gate, phase } = open;
  const visit = visitOf(phase, wait);
  return {
    run: run.id,
    workflow: run.workflow.id,
    workflow_hash: run.workflowHash,
    target: run.target,
    gate: wait.gate,
    phase: phase.id,
    epoch: run.epoch,
    prompt: gate.prompt,
    context: gateContext(run, gate, visit),
    covered: contextValues(run, gate, visit),
    evidence: wait.evidence,
    ...(wait.word === undefined ? {} : { word: wait.word }),
    ...(wait.outcomes === undefined ? {} : { outcomes: { ...wait.outcomes } }),
    ...(Object.keys(wait.state).length === 0 ? {} : { state: wait.state }),
    outcome: wait.outcome,
    ...databaseOf(wait),
    ...(wait.wouldRefuse.length === 0
      ? {}
      : { would_refuse: wait.wouldRefuse.map(({ code, message }) => ({ code, message })) }),
    ...(wait.warnings === undefined
      ? {}
      : { warnings: wait.warnings.map(({ code, message }) => ({ code, message })) }),
    options: gate.options.map((option) => ({
      label: option.label,
      requires_input: option.requiresInput,
      leads_to: optionTarget(option),
    })),
  };
}

function optionTarget(option: HumanGate['options'][number]): string | number {
  if (option.next === undefined) return 'next';
  return option.next === null ? 'stop' : option.next;
}
