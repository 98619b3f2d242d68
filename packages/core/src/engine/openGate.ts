import { type HumanGate, type Phase, phaseById } from '../model/workflow.ts';
import type { GateWait, Run } from './run.ts';

/** The gate a run waits at, or null. */
export function openGate(
  run: Run,
): { readonly wait: GateWait; readonly gate: HumanGate; readonly phase: Phase } | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return null;
  const phase = phaseById(run.workflow, run.phase);
  if (phase?.humanGate == null) return null;
  return { wait: run.wait, gate: phase.humanGate, phase };
}
