import type { JsonObject } from '@phasegate/core';
import { idFrom, type PhaseDraft, type WorkflowDraft } from '../draft.ts';
import { at, type KeyLedger, others, type Spot, textOf } from '../keyLedger.ts';
import { headOf, phaseAt } from './head.ts';

/** Imports a workflow of workflow-orchestrator 4: phases with gates of a type, which its engine looks at itself. */
export function importTypedGates(ledger: KeyLedger): WorkflowDraft {
  const inner = at(ledger.root, 'workflow');
  const top = inner.value === undefined ? ledger.root : inner;
  const draft = headOf(top, ledger);
  for (const spot of ledger.list(at(top, 'phases'))) {
    const phase = phaseAt(spot, draft, ledger);
    for (const gate of ledger.list(at(spot, 'gates'))) importGate(gate, phase, ledger);
    importLimits(spot, phase, ledger);
    draft.phases.push(phase);
  }
  const ids = draft.phases.map(({ id }) => id);
  for (const spot of ledger.list(at(top, 'phases'))) {
    const next = at(spot, 'next');
    const phase = draft.phases.find(({ id }) => id === idFrom(textOf(at(spot, 'id')) ?? ''));
    if (phase === undefined) continue;
    // There, a phase without `next` is the last one.
    phase.next = textOf(next) === undefined ? null : idFrom(textOf(next) ?? '');
    if (phase.next !== null && !ids.includes(phase.next)) {
      throw ledger.refusal(next, `\`${textOf(next)}\` is not a phase`, 'correct `next`');
    }
    ledger.mapped(next, 'next');
  }
  if (ids.length === 0)
    throw ledger.refusal(at(top, 'phases'), 'there is no phase', 'it needs a list `phases`');
  const mode = at(at(top, 'enforcement'), 'mode');
  if (textOf(mode) === 'strict') ledger.mapped(mode, 'enforcement.mode');
  else ledger.leftOut(mode, 'an import is strict; set `enforcement.mode` yourself once you know it holds');
  for (const one of others(at(top, 'enforcement'), ['mode'])) {
    ledger.leftOut(
      one,
      'the order of phases, gates and the end are always enforced; the rest is left to the agent',
    );
  }
  draft.head.enforcement = { mode: 'strict' };
  return draft;
}

function importLimits(spot: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const timeout = at(spot, 'timeout');
  if (typeof timeout.value === 'number' && timeout.value >= 1) phase.timeout = Math.floor(timeout.value);
  if (phase.timeout === null) ledger.leftOut(timeout, 'not a number of seconds');
  else ledger.mapped(timeout, 'timeout');
  ledger.leftOut(at(spot, 'max_attempts'), 'the second attempt that fails hands the run to a human');
  ledger.leftOut(at(spot, 'on_failure'), 'the second attempt that fails hands the run to a human');
  ledger.leftOut(at(spot, 'phase_type'), 'every phase is strict here');
}

function importGate(spot: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const type = textOf(at(spot, 'type')) ?? 'a gate without a type';
  const strange = others(spot, KEYS[type] ?? ['type']);
  const check = strange.length > 0 ? null : checkOf(type, spot);
  if (check !== null) {
    phase.blockers.push({ ...check, message: `the gate ${type} does not hold` });
    ledger.mapped(spot, 'gate.blockers');
    return;
  }
  phase.confirm.push(`the gate ${type} holds: ${JSON.stringify(spot.value)}`);
  ledger.human(spot, 'no check of ours asks this: a human confirms it');
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  file_exists: ['type', 'path'],
  command: ['type', 'cmd', 'exit_code', 'timeout', 'expect_empty'],
};

function checkOf(type: string, spot: Spot): JsonObject | null {
  if (type === 'file_exists') {
    const path = textOf(at(spot, 'path'));
    return path === undefined ? null : { check: 'files', with: { exist: [path] }, needs: 'verified' };
  }
  if (type !== 'command') return null;
  const cmd = textOf(at(spot, 'cmd'));
  const code = at(spot, 'exit_code').value ?? 0;
  const timeout = at(spot, 'timeout').value ?? 300;
  if (cmd === undefined || typeof code !== 'number' || typeof timeout !== 'number') return null;
  const empty = at(spot, 'expect_empty').value === true;
  // Both of the command itself: its code, and that it prints nothing.
  const shell = empty ? `said=$(\n${cmd}\n); code=$?; test -z "$said" && exit "$code"; exit 255` : cmd;
  if (empty && code === 255) return null;
  const asked = { shell, expect_exit: code, timeout_seconds: Math.min(timeout, 3600) };
  // In a room where there can be one; a machine without a sandbox is warned and not kept out.
  return { check: 'command', with: asked, verify: true, needs: 'observed' };
}
