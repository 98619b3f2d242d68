import type { SourceCriterion, SourceWarning } from '@phasegate/core/ports';
import { counted } from './counted.ts';
import type { Outline, PhaseDraft } from './phaseDraft.ts';
import { readGate, splitGates } from './readGate.ts';
import type { Line } from './readLines.ts';
import type { GateDraft } from './taskDraft.ts';

/** The conditions of every phase's gate, wherever in the document they stand. */
export function gatesByPhase(
  outline: Outline,
  warnings: SourceWarning[],
): ReadonlyMap<PhaseDraft, readonly SourceCriterion[]> {
  const byId = new Map(outline.phases.map((phase) => [phase.id.toLowerCase(), phase]));
  // By text: the same gate may stand in its phase and again in a list of all gates.
  const found = new Map<PhaseDraft, Map<string, SourceCriterion>>();
  const give = (gate: GateDraft, home: PhaseDraft | undefined) => {
    const items = readGate(gate);
    const line = gate.head.number;
    const phase = gate.phaseId === null ? home : byId.get(gate.phaseId.toLowerCase());
    if (phase === undefined) {
      if (items.length > 0) warnings.push({ line, message: homeless(gate, items.length) });
      return;
    }
    if (items.length === 0)
      warnings.push({ line, message: `the gate of phase \`${phase.id}\` has no conditions` });
    const all = found.get(phase) ?? new Map<string, SourceCriterion>();
    for (const item of items) if (!all.has(item.text)) all.set(item.text, item);
    found.set(phase, all);
  };
  const giveAll = (gates: readonly GateDraft[], home: PhaseDraft | undefined) => {
    for (const gate of gates) for (const part of gate.several ? splitGates(gate) : [gate]) give(part, home);
  };
  for (const phase of outline.phases) {
    giveAll(phase.gates, phase);
    const own = phase.gates.length === 0 ? ownCriteria(phase) : null;
    if (own !== null) give(own, phase);
  }
  giveAll(outline.outside.gates, undefined);
  return new Map([...found].map(([phase, items]) => [phase, [...items.values()]]));
}

/** The criteria of a phase as a whole, where they stand for its gate; null where they do not. */
export function ownCriteria(phase: PhaseDraft): GateDraft | null {
  if (!phase.ownCriteria || phase.gates.length > 0) return null;
  const start = phase.rest.findIndex((line) => isLabel(line) && line.labels[0]?.kind === 'criteria');
  const head = phase.rest[start];
  if (head === undefined) return null;
  const after = phase.rest.slice(start + 1);
  const end = after.findIndex((line) => line.kind === 'heading' || line.kind === 'rule' || isLabel(line));
  const inline = head.labels[0]?.value ?? '';
  return { phaseId: null, several: false, head, inline, lines: end < 0 ? after : after.slice(0, end) };
}

function isLabel(line: Line): boolean {
  return line.kind === 'text' && line.labels.length > 0;
}

function homeless({ phaseId }: GateDraft, conditions: number): string {
  const whose =
    phaseId === null ? 'is for the whole document' : `names phase \`${phaseId}\`, which is not defined`;
  return `the gate ${whose}: ${counted(conditions, 'condition')} left out`;
}
