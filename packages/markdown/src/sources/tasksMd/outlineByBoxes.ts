import { gateTitle } from './gateTitle.ts';
import { majorOf, sectionHeader } from './headers.ts';
import { labelKind } from './labels.ts';
import { titleOf } from './outlineByTasks.ts';
import { divide, draftOf, type Looking, NOTHING, type Outline, type PhaseDraft } from './phaseDraft.ts';
import type { Line } from './readLines.ts';
import type { TaskDraft } from './taskDraft.ts';
import type { TaskStyle, Walked } from './walkSection.ts';

const STYLES: readonly TaskStyle[] = ['numbered', 'unnumbered', 'plain'];

/**
 * Finds the phases of a document that has neither phase headers nor tasks as headings: the sections that hold
 * checklists are the phases; in a single list the numbers are (`1.` over `1.1`); else there is one phase.
 */
export function outlineByBoxes(lines: readonly Line[], headings: ReadonlySet<string>): Outline | null {
  const looking: Looking = { headings, majors: false, ownCriteria: false };
  const sections = chooseSections(lines);
  if (sections.length > 1) return bySection(lines, sections, looking);
  const [only] = sections;
  const from = only === undefined ? 0 : only.start + 1;
  const end = only?.end ?? listEnd(lines);
  const inside = lines.slice(from, end);
  const outside = [...lines.slice(0, Math.max(0, from - 1)), ...lines.slice(end)];
  const numbered = divide(inside, { ...looking, majors: true }, STYLES);
  if (numbered.tasks.length === 0) return null;
  const beyond = divide(outside, looking, ['heading']);
  const phases = byMajor(numbered);
  if (phases.length > 0) return { phases, outside: beyond };
  const walked = divide(inside, looking, STYLES);
  const [first] = walked.tasks;
  const title =
    only === undefined || isGeneric(only.head.text)
      ? titleOf(lines, first?.head.number ?? 0)
      : only.head.text;
  const rest = walked.rest.filter(({ level }) => level !== 1);
  const draft = draftOf({ id: '1', rest: title }, only?.head.number ?? first?.head.number ?? 1, {
    ...walked,
    rest,
  });
  return { phases: [draft], outside: beyond };
}

/** Where a list without any heading over it ends. */
function listEnd(lines: readonly Line[]): number {
  const heading = lines.findIndex(({ kind }) => kind === 'heading');
  return heading > 0 && lines.slice(0, heading).some(({ box }) => box !== 'none') ? heading : lines.length;
}

interface Part {
  readonly head: Line;
  readonly start: number;
  readonly end: number;
  /** A box stands right below the heading, before any other. */
  readonly direct: boolean;
}

/** The sections that are phases: `##` with checklists, or the deeper ones where `##` only gathers them. */
function chooseSections(lines: readonly Line[]): readonly Part[] {
  const parts = partsWithBoxes(lines);
  const levels = new Set(parts.map(({ head }) => head.level).filter((level) => level > 1));
  const level = levels.has(2) ? 2 : Math.min(...levels, 7);
  const chosen: { readonly part: Part; readonly inner: Part[] }[] = [];
  for (const part of parts) {
    const last = chosen.at(-1);
    if (part.head.level === level) chosen.push({ part, inner: [] });
    else if (part.head.level === level + 1 && last !== undefined && part.start < last.part.end)
      last.inner.push(part);
  }
  const sections = chosen.flatMap(({ part, inner }) => {
    const gathers = !part.direct && inner.length > 1;
    const numbered = inner.every(({ head }) => sectionHeader(head.text).id !== '');
    return gathers && (chosen.length === 1 || numbered || isGeneric(part.head.text)) ? inner : [part];
  });
  return [...leadOf(parts, sections), ...sections];
}

/** Boxes right below the title, before the first section, are a section too. */
function leadOf(parts: readonly Part[], sections: readonly Part[]): readonly Part[] {
  const title = parts.find(({ head, direct }) => head.level === 1 && direct);
  const [first] = sections;
  if (title === undefined || (first !== undefined && first.start < title.start)) return [];
  return [{ ...title, end: first?.start ?? title.end }];
}

function partsWithBoxes(lines: readonly Line[]): readonly Part[] {
  const open: { part: Part; boxes: number; readonly aside: boolean }[] = [];
  const parts: Part[] = [];
  const close = (level: number, end: number) => {
    for (let last = open.at(-1); last !== undefined && last.part.head.level >= level; last = open.at(-1)) {
      open.pop();
      const above = open.at(-1);
      if (last.aside || last.boxes === 0) continue;
      parts.push({ ...last.part, end });
      if (above !== undefined) above.boxes += last.boxes;
    }
  };
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'heading') {
      close(line.level, index);
      const aside = open.at(-1)?.aside === true || (line.level > 1 && isAside(line.text));
      open.push({ part: { head: line, start: index, end: lines.length, direct: false }, boxes: 0, aside });
    } else if (line.box !== 'none') {
      const last = open.at(-1);
      if (last === undefined) continue;
      last.boxes++;
      if (!last.part.direct) last.part = { ...last.part, direct: true };
    }
  }
  close(0, lines.length);
  return parts.sort((a, b) => a.start - b.start);
}

/** Sections whose checklists are not work: criteria of the whole project, risks, notes. */
function isAside(title: string): boolean {
  const kind = labelKind(title);
  if (
    gateTitle(title) !== null ||
    kind === 'criteria' ||
    kind === 'other_criteria' ||
    kind === 'dependencies'
  )
    return true;
  return /^[^\x21-\x7E]*(?:(?:overall|project|final|feature)\s+)?(?:success (?:criteria|metrics)|definition of done|acceptance criteria|completion criteria|(?:quality|final|review|completion|pre-?\w+) checklist|dependenc|risks?\b|rollback|open questions|out of scope|future (?:work|enhancements)|references|notes?\b|sign-?off)/i.test(
    title,
  );
}

function isGeneric(title: string): boolean {
  return /^(?:implementation )?(?:tasks?|plan|task (?:list|breakdown)|work ?breakdown|checklist|to-?do(?: list)?|steps)$/i.test(
    title.trim(),
  );
}

function bySection(lines: readonly Line[], sections: readonly Part[], looking: Looking): Outline {
  const headers = sections.map(({ head }) => sectionHeader(head.text));
  const ids = headers.map(({ id }) => id);
  const written = ids.every((id) => id !== '') && new Set(ids).size === ids.length;
  const outside: Line[] = [];
  let from = 0;
  const phases = sections.map((section, index): PhaseDraft => {
    for (const line of lines.slice(from, section.start)) outside.push(line);
    from = section.end;
    const header = headers[index] as (typeof headers)[number];
    const walked = divide(lines.slice(section.start + 1, section.end), looking, STYLES);
    const id = written ? header.id : String(index + 1);
    const when = /^(?:day|week|hour)$/i.test(header.word) ? `${header.word} ${header.id}` : '';
    const ownCriteria = walked.tasks.every((task) => task.id === '');
    return { ...draftOf({ id, rest: header.rest }, section.head.number, walked), when, ownCriteria };
  });
  return { phases, outside: divide([...outside, ...lines.slice(from)], looking, ['heading']) };
}

/** Phases from the numbers of one list; none when its numbers do not say so. */
function byMajor(walked: Walked): readonly PhaseDraft[] {
  const phases = new Map<
    string,
    { title: string; line: number; tasks: TaskDraft[]; whole: TaskDraft | null }
  >();
  for (const task of walked.tasks) {
    const major = majorOf(task.id) || (/^\d+$/.test(task.id) ? task.id : '');
    if (major === '') return [];
    const phase = phases.get(major) ?? {
      title: `Phase ${major}`,
      line: task.head.number,
      tasks: [],
      whole: null,
    };
    if (major === task.id) {
      phase.title = task.title;
      phase.whole = task;
    } else phase.tasks.push(task);
    phases.set(major, phase);
  }
  const all = [...phases.entries()];
  if (all.every(([, { tasks }]) => tasks.length === 0)) return [];
  return all.map(([id, { title, line, tasks, whole }], index) => {
    // A number without parts is a phase of one task; one with parts only describes them.
    const alone = tasks.length === 0 && whole !== null;
    const rest = [
      ...(index === 0 ? walked.rest.filter(({ level }) => level !== 1) : []),
      ...(alone ? [] : (whole?.body ?? [])),
    ];
    const gates = index === all.length - 1 ? walked.gates : NOTHING.gates;
    return draftOf({ id, rest: title }, line, { ...walked, tasks: alone ? [whole] : tasks, rest, gates });
  });
}
