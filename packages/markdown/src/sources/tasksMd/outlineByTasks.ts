import { cleanName } from './cleanName.ts';
import { majorOf, sectionHeader, taskHeader } from './headers.ts';
import { divide, draftOf, type Looking, NOTHING, type Outline, type PhaseDraft } from './phaseDraft.ts';
import type { Line } from './readLines.ts';
import type { GateDraft, TaskDraft } from './taskDraft.ts';
import type { Walked } from './walkSection.ts';

/**
 * Finds the phases of a document without phase headers whose tasks are headings: by the first part of their ids,
 * else by the sections they stand in, else one phase for all. Null when no task is a heading.
 */
export function outlineByTasks(lines: readonly Line[], headings: ReadonlySet<string>): Outline | null {
  const looking: Looking = { headings, majors: false, ownCriteria: false };
  const all = divide(lines, looking, ['heading']);
  if (!all.tasks.some(isWork)) return null;
  const numbered = all.tasks.filter(({ id }) => majorOf(id) !== '').length;
  const groups = groupsOf(lines, all.tasks);
  if (numbered * 2 > all.tasks.length) return byMajor(groups, looking, outsideOf(lines, groups, looking));
  const named = groups.filter(({ head }) => head !== null && head.level > 1);
  if (named.length > 1) return bySection(groups, looking, outsideOf(lines, groups, looking));
  const first = all.tasks[0]?.head.number ?? 0;
  const before = (line: Line) => line.number < first;
  const whole = { ...all, rest: all.rest.filter((line) => before(line) && line.level !== 1) };
  const outside = { ...NOTHING, rest: all.rest.filter((line) => !before(line)) };
  return { phases: [draftOf({ id: '1', rest: titleOf(lines, first) }, 1, whole)], outside };
}

/** A heading that says `Task`, or one below which there is something to do: `1.1 Overview` alone is a chapter. */
function isWork({ head, body }: TaskDraft): boolean {
  if (taskHeader(head.text)?.named === true) return true;
  return body.some(({ box, labels }) => box !== 'none' || labels.some(({ kind }) => kind === 'criteria'));
}

/** The title over the tasks, for the one phase of a document that names none. */
export function titleOf(lines: readonly Line[], firstTask: number): string {
  const over = lines.filter(({ kind, number }) => kind === 'heading' && number < firstTask);
  const title = (over.findLast(({ level }) => level === 1) ?? over[0])?.text ?? '';
  return title === '' ? 'Tasks' : title;
}

/** A heading over tasks, with the lines below it: `start` included, `end` not. */
interface Group {
  readonly head: Line | null;
  readonly start: number;
  readonly end: number;
  readonly lines: readonly Line[];
}

/** The sections that hold the tasks: each begins at the nearest shallower heading over a task. */
function groupsOf(lines: readonly Line[], tasks: readonly TaskDraft[]): readonly Group[] {
  const heads = new Set(tasks.map(({ head }) => head.number));
  const starts = new Set<number>();
  const newest: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.kind !== 'heading') continue;
    if (heads.has(line.number)) starts.add(newest.slice(0, line.level).reduce((a, b) => Math.max(a, b), 0));
    else newest[line.level] = index;
  }
  const ordered = [...starts].sort((a, b) => a - b);
  return ordered.map((from, position) => {
    const first = lines[from] as Line;
    const head = first.kind === 'heading' && !heads.has(first.number) ? first : null;
    const until = ordered[position + 1] ?? lines.length;
    let end = from + 1;
    while (end < until && !endsGroup(lines[end] as Line, head, heads)) end++;
    return { head, start: from, end, lines: lines.slice(head === null ? from : from + 1, end) };
  });
}

function endsGroup(line: Line, head: Line | null, tasks: ReadonlySet<number>): boolean {
  return line.kind === 'heading' && line.level <= (head?.level ?? 0) && !tasks.has(line.number);
}

function outsideOf(lines: readonly Line[], groups: readonly Group[], looking: Looking): Walked {
  let from = 0;
  const outside: Line[] = [];
  for (const { start, end } of groups) {
    for (const line of lines.slice(from, start)) outside.push(line);
    from = end;
  }
  return divide([...outside, ...lines.slice(from)], looking, ['heading']);
}

function byMajor(groups: readonly Group[], looking: Looking, beyond: Walked): Outline {
  const phases = new Map<string, Gathered>();
  const outside: TaskDraft[] = [];
  for (const group of groups) {
    const walked = divide(group.lines, looking, ['heading']);
    const name = group.head === null || group.head.level === 1 ? '' : sectionHeader(group.head.text).rest;
    // What the group says besides its tasks is about the phase of its first task.
    let own: Gathered | undefined;
    for (const task of walked.tasks) {
      const major = majorOf(task.id);
      if (major === '') {
        outside.push(task);
        continue;
      }
      const line = own === undefined ? (group.head ?? task.head).number : task.head.number;
      const phase = phases.get(major) ?? { line, names: new Set(), tasks: [], gates: [], rest: [] };
      if (name !== '') phase.names.add(name);
      phase.tasks.push(task);
      phases.set(major, phase);
      own ??= phase;
    }
    for (const gate of walked.gates) own?.gates.push(gate);
    for (const line of walked.rest) own?.rest.push(line);
  }
  return {
    phases: [...phases].map(([major, { line, names, tasks, gates, rest }]) => {
      const title = names.size === 0 ? `Phase ${major}` : [...names].join(', ');
      return draftOf({ id: major, rest: title }, line, { ...NOTHING, tasks, gates, rest });
    }),
    outside: { ...beyond, tasks: [...outside, ...beyond.tasks] },
  };
}

/** A phase while its parts are gathered from several sections. */
interface Gathered {
  readonly line: number;
  readonly names: Set<string>;
  readonly tasks: TaskDraft[];
  readonly gates: GateDraft[];
  readonly rest: Line[];
}

function bySection(groups: readonly Group[], looking: Looking, outside: Walked): Outline {
  const phases = groups.map((group, index): PhaseDraft => {
    const walked = divide(group.lines, looking, ['heading']);
    const header = sectionHeader(group.head?.text ?? `Part ${index + 1}`);
    return draftOf(
      { id: String(index + 1), rest: cleanName(header.rest).name },
      group.head?.number ?? 1,
      walked,
    );
  });
  return { phases, outside };
}
