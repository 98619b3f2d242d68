import { descriptionOf } from './descriptionOf.ts';
import { type Label, type LabelKind, labelKind } from './labels.ts';
import type { Line } from './readLines.ts';
import { estimateOf } from './readTask.ts';

/** What the lines of a phase outside its tasks and gates say. */
export interface PhaseText {
  readonly description: string;
  readonly duration: string;
}

/** Reads a phase's goal, its duration and whatever else it says about itself. */
export function readPhase(lines: readonly Line[]): PhaseText {
  const goal: Line[] = [];
  const other: Line[] = [];
  const estimates: Label[] = [];
  let inGoal = false;
  for (const line of lines) {
    const { labels } = line;
    if (labels.length === 0) {
      if (isFurniture(line)) continue;
      // The goal goes on over its own lines, and over the list below a label that has no text.
      const over = line.kind === 'heading' || (line.kind === 'blank' && goal.length > 0);
      inGoal &&= !over;
      if (inGoal) goal.push(line.kind === 'text' ? { ...line, indent: 0, raw: line.text } : line);
      else other.push(line);
      continue;
    }
    inGoal = labels.some(({ kind }) => kind === 'purpose');
    for (const label of labels) {
      const { kind, value } = label;
      if (kind === 'purpose' && value !== '') goal.push({ ...line, kind: 'text', indent: 0, raw: value });
      if (kind === 'estimate') estimates.push(label);
    }
    if (labels.some(({ kind }) => !TOLD_APART.has(kind))) other.push(line);
  }
  const description = [descriptionOf(goal), descriptionOf(other)].filter((text) => text !== '').join('\n\n');
  return { description, duration: estimateOf(estimates, '') };
}

const TOLD_APART: ReadonlySet<LabelKind> = new Set<LabelKind>(['purpose', 'estimate', 'tasks']);

/** Headings that only introduce the tasks, and rules. */
function isFurniture(line: Line): boolean {
  if (line.kind === 'rule') return true;
  return line.kind === 'heading' && labelKind(line.text) === 'tasks';
}
