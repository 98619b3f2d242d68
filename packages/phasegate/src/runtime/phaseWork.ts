import { type AuditRecord, isJsonObject, type Json, own, type PhaseId, type Run } from '@phasegate/core';
import {
  type AllowedProgram,
  eventOfRecord,
  type ReceiptCount,
  type RefusedTry,
  type WorkFacts,
} from '@phasegate/core/engine';
import { WRITING_TOOLS } from '@phasegate/core/model';

/** Reads a run's record, oldest first, and tells what was done before the gate it waits at opened. */
export interface PhaseWork {
  add(record: AuditRecord): void;
  facts(): WorkFacts;
}

/**
 * INVARIANT: what comes behind the gate's opening is left out. Calls are judged while a gate is open too, and would
 * make the card that a human reads another one.
 */
export function phaseWorkOf(run: Run): PhaseWork {
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : null;
  const changed = new Map<PhaseId, Set<string>>();
  let visit = newVisit();
  let opened = false;

  function addEvent(record: AuditRecord): void {
    const event = eventOfRecord(record);
    if (event === null) return;
    if (event.type === 'gate_opened' && event.wait.gate === gate) opened = true;
    if (event.type === 'phase_refused' && !opened) {
      const [blocker] = event.blockers;
      if (blocker !== undefined) refuse('completion', blocker.code, blocker.message);
    }
    if (event.type === 'phase_completed') {
      visit = newVisit();
      opened = false;
    }
  }

  function refuse(what: string, code: string, message: string): void {
    const key = JSON.stringify([what, code, message]);
    const before = visit.refused.get(key);
    visit.refused.set(key, { what, code, message, times: (before?.times ?? 0) + 1 });
  }

  function judged(data: Json): void {
    const tool = String(own(data, 'tool'));
    if (own(data, 'allowed') !== true && own(data, 'let_through') !== true) {
      refuse(tool, String(own(data, 'code')), String(own(data, 'message')));
      return;
    }
    const input = own(data, 'input');
    if (WRITING_TOOLS.includes(tool)) writes(own(data, 'phase'), pathsIn(input));
    const command = own(input, 'command');
    if (typeof command === 'string') {
      const key = JSON.stringify([tool, command]);
      visit.programs.set(key, { tool, command, times: (visit.programs.get(key)?.times ?? 0) + 1 });
    }
  }

  function writes(phase: Json | undefined, paths: readonly string[]): void {
    if (paths.length === 0) visit.unnamed += 1;
    if (typeof phase !== 'string' && typeof phase !== 'number') return;
    const known = changed.get(phase) ?? new Set<string>();
    for (const path of paths) known.add(path);
    if (known.size > 0) changed.set(phase, known);
  }

  function executed(data: Json): void {
    const tool = String(own(data, 'tool'));
    const { times, failed } = visit.receipts.get(tool) ?? { times: 0, failed: 0 };
    const bad = own(data, 'ok') === true ? 0 : 1;
    visit.receipts.set(tool, { tool, times: times + 1, failed: failed + bad });
  }

  return {
    add(record) {
      addEvent(record);
      if (opened) return;
      if (record.event === 'tool_judged') judged(record.data);
      if (record.event === 'tool_executed') executed(record.data);
    },
    facts: () => ({
      changed: [...changed].map(([phase, paths]) => ({ phase, paths: [...paths].sort() })),
      unnamed: visit.unnamed,
      programs: [...visit.programs.values()],
      receipts: [...visit.receipts.values()],
      refused: [...visit.refused.values()],
    }),
  };
}

function newVisit() {
  return {
    unnamed: 0,
    programs: new Map<string, AllowedProgram>(),
    receipts: new Map<string, ReceiptCount>(),
    refused: new Map<string, RefusedTry>(),
  };
}

function pathsIn(input: Json | undefined): readonly string[] {
  if (!isJsonObject(input)) return [];
  const { path, paths } = input;
  const named = [path, ...(Array.isArray(paths) ? paths : [])];
  return named.filter((one): one is string => typeof one === 'string');
}
