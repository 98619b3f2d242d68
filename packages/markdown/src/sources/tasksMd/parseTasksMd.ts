import type { ParsedSource, SourcePhase, SourceTask, SourceWarning } from '@phasegate/core/ports';
import { cleanName } from './cleanName.ts';
import { gatesByPhase, ownCriteria } from './gatesByPhase.ts';
import { taskHeader, taskKey } from './headers.ts';
import { leftOut } from './leftOut.ts';
import { linkTasks } from './linkTasks.ts';
import { outlineByBoxes } from './outlineByBoxes.ts';
import { outlineByHeading } from './outlineByHeading.ts';
import { outlineByTasks } from './outlineByTasks.ts';
import { NOTHING, type Outline, type PhaseDraft } from './phaseDraft.ts';
import { type Line, readLines } from './readLines.ts';
import { readPhase } from './readPhase.ts';
import { type ReadTask, readTask } from './readTask.ts';
import { strangeText } from './strangeText.ts';

/**
 * Reads a `tasks.md` in any of the dialects people write. Pure; never throws. What is not understood is in
 * `warnings`; no phase at all means that nothing usable was found.
 */
export function parseTasksMd(text: string): ParsedSource {
  const lines = readLines(text);
  const outline = outlineOf(lines);
  const warnings: SourceWarning[] = [...strangeText(lines)];
  const gates = gatesByPhase(outline, warnings);
  const read = outline.phases.map((draft) => ({ id: draft.id, draft, tasks: tasksOf(draft) }));
  const linked = linkTasks(read, warnings);
  const claimed = new Set<Line>();
  const phases = read.map(({ draft, tasks }, index): SourcePhase => {
    for (const warning of doubtsAbout(draft, tasks)) warnings.push(warning);
    const own = ownCriteria(draft);
    if (own !== null) for (const line of [own.head, ...own.lines]) claimed.add(line);
    const title = cleanName(draft.title);
    const said = readPhase(draft.rest.filter((line) => !claimed.has(line)));
    return {
      id: draft.id,
      name: title.name,
      description: [said.description, title.remarks.join(', ')].filter((part) => part !== '').join('\n\n'),
      estimatedDuration: said.duration || title.duration || draft.when,
      tasks: linked[index] as readonly SourceTask[],
      validationGate: gates.get(draft) ?? [],
    };
  });
  if (phases.length === 0)
    warnings.push({ line: 1, message: 'no phase, no task and no checklist was found' });
  else for (const warning of leftOut(outline, claimed)) warnings.push(warning);
  return { phases, warnings: warnings.sort((a, b) => a.line - b.line) };
}

function outlineOf(lines: readonly Line[]): Outline {
  const headings = new Set(
    lines.flatMap((line) => {
      const header = line.kind === 'heading' ? taskHeader(line.text) : null;
      return header?.named === true ? [taskKey(header.id)] : [];
    }),
  );
  return (
    outlineByHeading(lines, headings, false) ??
    outlineByTasks(lines, headings) ??
    outlineByBoxes(lines, headings) ??
    outlineByHeading(lines, headings, true) ?? { phases: [], outside: NOTHING }
  );
}

/** The tasks of a phase; one without an id gets the phase's and its position. */
function tasksOf(draft: PhaseDraft): readonly ReadTask[] {
  return draft.tasks.map((task, index) => {
    const read = readTask(task);
    return read.id === '' ? { ...read, id: `${draft.id}.${index + 1}` } : read;
  });
}

function doubtsAbout(draft: PhaseDraft, tasks: readonly ReadTask[]): readonly SourceWarning[] {
  const none = { line: draft.line, message: `phase \`${draft.id}\` has no tasks` };
  const empty = tasks.filter(({ emptyCriteria }) => emptyCriteria > 0);
  return [
    ...(tasks.length === 0 ? [none] : []),
    ...empty.map(({ id, emptyCriteria }) => ({
      line: emptyCriteria,
      message: `task \`${id}\` has a label for criteria and no criteria`,
    })),
  ];
}
