import type { PhaseHeader } from './headers.ts';
import type { Line } from './readLines.ts';
import type { GateDraft, TaskDraft } from './taskDraft.ts';
import type { Section, TaskStyle, Walked } from './walkSection.ts';
import { walkSection } from './walkSection.ts';

/** A phase whose lines are divided and not yet read. */
export interface PhaseDraft {
  readonly id: string;
  readonly title: string;
  /** The line that names it; the first task's where none does. */
  readonly line: number;
  /** What the header says about time besides its name: `Day 1`. */
  readonly when: string;
  readonly tasks: readonly TaskDraft[];
  readonly gates: readonly GateDraft[];
  readonly rest: readonly Line[];
  /** Criteria outside its tasks are its gate. */
  readonly ownCriteria: boolean;
}

/** The phases of a document, and what stands outside them. */
export interface Outline {
  readonly phases: readonly PhaseDraft[];
  readonly outside: Walked;
}

/** How a section is looked through, apart from the style of its tasks. */
export type Looking = Omit<Section, 'lines' | 'style' | 'gatesInTasks'>;

/** Divides a section in the first style in which it has tasks. */
export function divide(lines: readonly Line[], looking: Looking, styles: readonly TaskStyle[]): Walked {
  let walked: Walked | undefined;
  for (const style of styles) {
    const section = { ...looking, lines, style, gatesInTasks: false };
    const next = walkSection(section);
    // One `Quality Gate:` closes a phase; one in each task is a habit of that author's tasks.
    walked = next.gatesInTasks > 1 ? walkSection({ ...section, gatesInTasks: true }) : next;
    if (walked.tasks.length > 0) return withoutUmbrellas(walked);
  }
  return walked ?? { tasks: [], gates: [], rest: lines, gatesInTasks: 0 };
}

/** Every style, best first. */
export const ALL_STYLES: readonly TaskStyle[] = ['heading', 'numbered', 'unnumbered', 'plain'];

/** Nothing outside. */
export const NOTHING: Walked = { tasks: [], gates: [], rest: [], gatesInTasks: 0 };

/** A draft from its header. */
export function draftOf(header: PhaseHeader, line: number, walked: Walked): PhaseDraft {
  const { tasks, gates, rest } = walked;
  return { id: header.id, title: header.rest, line, when: '', tasks, gates, rest, ownCriteria: false };
}

/** `1.0 Complete the layer` over `1.1`, `1.2`: the parts are the tasks, the whole is a remark. */
function withoutUmbrellas(walked: Walked): Walked {
  const umbrellas = new Set(
    walked.tasks.filter(
      (task, index) =>
        /^\d+\.0$/.test(task.id) &&
        task.style === 'bullet' &&
        (walked.tasks[index + 1]?.head.indent ?? 0) > task.head.indent,
    ),
  );
  if (umbrellas.size === 0) return walked;
  const tasks = walked.tasks.filter((task) => !umbrellas.has(task));
  const remarks = [...umbrellas].flatMap(({ head, title, body }) => [
    { ...head, kind: 'text' as const, box: 'none' as const, indent: 0, raw: title },
    ...body,
  ]);
  return { ...walked, tasks, rest: [...remarks, ...walked.rest] };
}
