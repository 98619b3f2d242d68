import type { SourceCriterion } from '@phasegate/core/ports';
import { createChecklist } from './checklist.ts';
import { gateTitle } from './gateTitle.ts';
import { phaseHeader } from './headers.ts';
import { labelKind, labelsOf } from './labels.ts';
import type { Line } from './readLines.ts';
import type { GateDraft } from './taskDraft.ts';

/** The conditions of one gate, in order. */
export function readGate(gate: GateDraft): readonly SourceCriterion[] {
  const list = createChecklist();
  let inline = gate.inline;
  let reading: Reading = 'all';
  let afterBlank = false;
  for (const line of gate.lines) {
    const title = titleOf(line);
    if (title !== null) {
      reading = afterLabel(title.label, list.indent() >= 0);
      inline ||= title.inline;
    } else if (line.kind === 'bullet') {
      const wanted = reading === 'all' || line.box !== 'none' || line.indent > list.indent();
      if (reading !== 'closed' && wanted) list.add(line);
    } else if (line.kind === 'text' && reading !== 'closed') list.extend(line, afterBlank);
    afterBlank = line.kind === 'blank';
  }
  const items = list.items();
  return items.length > 0 || inline === '' ? items : [{ text: inline, checked: false }];
}

/** Whether bullets still are conditions: all of them, only those with a box, or none. */
type Reading = 'all' | 'boxes' | 'closed';

/** What a line says about the bullets below it; null when it is not a label, heading or introduction. */
function titleOf(line: Line): { readonly label: string; readonly inline: string } | null {
  if (line.kind === 'heading') return { label: line.text, inline: '' };
  if (line.kind !== 'text') return null;
  const [label] = line.labels;
  if (label !== undefined) return { label: label.label, inline: label.kind === 'gate' ? label.value : '' };
  return /:$/.test(line.text) ? { label: line.text, inline: '' } : null;
}

/** Splits a section of gates into those of its phases. What stands before the first is the section's own. */
export function splitGates(section: GateDraft): readonly GateDraft[] {
  const parts: GateDraft[] = [{ ...section, several: false, lines: [] }];
  for (const line of section.lines) {
    const found = partOf(line);
    const current = parts.at(-1) as GateDraft;
    if (found === null) current.lines.push(line);
    else parts.push({ phaseId: found.phaseId, several: false, head: line, inline: found.inline, lines: [] });
  }
  return parts.filter(({ lines, inline, phaseId }) => phaseId !== null || lines.length > 0 || inline !== '');
}

function partOf(line: Line): { readonly phaseId: string; readonly inline: string } | null {
  if (line.kind === 'heading') {
    const phaseId = gateTitle(line.text)?.phaseId ?? phaseHeader(line.text)?.id ?? phaseIn(line.text);
    return phaseId === null ? null : { phaseId, inline: '' };
  }
  if (line.kind !== 'text' && line.kind !== 'bullet') return null;
  const [label] = labelsOf(line.text);
  if (label === undefined) return null;
  const phaseId = gateTitle(label.label)?.phaseId ?? phaseIn(label.label);
  return phaseId === null ? null : { phaseId, inline: label.value };
}

/** `Phase 1` or `Phase 1: Core` at the start. */
function phaseIn(text: string): string | null {
  return (
    /^[^\x21-\x7E]*phase\s+(\d+(?:\.\d+)?[A-Za-z]?)\b(?!\s*(?:→|->|to\b|-\s*\d))/i.exec(text)?.[1] ?? null
  );
}

function afterLabel(label: string, hasItems: boolean): Reading {
  if (labelKind(label) === 'gate') return /evidence/i.test(label) && hasItems ? 'boxes' : 'all';
  if (/^before\b|criteria|requirements?\b|must\b/i.test(label)) return 'all';
  if (!hasItems && /^(?:all|the|checkpoint|verify|confirm|required|evidence)\b/i.test(label)) return 'all';
  if (
    /evidence|note|risk|next step|deliverable|rollback|sign-?off|if .*fail|on failure|artifact|command/i.test(
      label,
    )
  ) {
    return 'closed';
  }
  return 'boxes';
}
