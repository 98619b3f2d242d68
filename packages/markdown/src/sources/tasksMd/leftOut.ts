import type { SourceWarning } from '@phasegate/core/ports';
import { counted } from './counted.ts';
import type { Outline } from './phaseDraft.ts';
import type { Line } from './readLines.ts';

/** What stands in the document and is part of no phase, task or gate, with its lines. */
export function leftOut({ phases, outside }: Outline, claimed: ReadonlySet<Line>): readonly SourceWarning[] {
  const warnings: SourceWarning[] = outside.tasks.map(({ id, head }) => ({
    line: head.number,
    message: `task \`${id}\` stands outside every phase and is left out`,
  }));
  for (const rest of [...phases.map((phase) => phase.rest), outside.rest]) {
    for (const warning of looseBoxes(rest.filter((line) => !claimed.has(line)))) warnings.push(warning);
  }
  for (const warning of proseDependencies(outside.rest)) warnings.push(warning);
  return warnings;
}

/** One warning for each run of boxes between two headings. */
function looseBoxes(lines: readonly Line[]): readonly SourceWarning[] {
  const warnings: SourceWarning[] = [];
  let first = 0;
  let boxes = 0;
  const report = () => {
    if (boxes > 0) warnings.push({ line: first, message: `${counted(boxes, 'checkbox')} outside any task` });
    boxes = 0;
  };
  for (const line of lines) {
    if (line.kind === 'heading') report();
    if (line.box !== 'none' && boxes++ === 0) first = line.number;
  }
  report();
  return warnings;
}

/** A section about dependencies is prose and drawings: nothing of it reaches the tasks. */
function proseDependencies(lines: readonly Line[]): readonly SourceWarning[] {
  const section = lines.find(({ level, text }) => level > 1 && /\bdependencies\b/i.test(text));
  if (section === undefined) return [];
  return [
    {
      line: section.number,
      message: `the section \`${section.text}\` is prose; only \`Dependencies:\` in a task is read`,
    },
  ];
}
