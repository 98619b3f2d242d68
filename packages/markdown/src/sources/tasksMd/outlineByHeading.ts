import { gateTitle } from './gateTitle.ts';
import {
  barePhaseHeader,
  groupHeader,
  majorOf,
  type PhaseHeader,
  phaseHeader,
  taskHeader,
  taskKey,
} from './headers.ts';
import { ALL_STYLES, divide, draftOf, type Looking, type Outline, type PhaseDraft } from './phaseDraft.ts';
import type { Line } from './readLines.ts';
import type { TaskDraft } from './taskDraft.ts';
import type { Walked } from './walkSection.ts';

/** A heading that starts a phase. */
interface Head extends PhaseHeader {
  readonly index: number;
  readonly level: number;
}

/**
 * Finds the phases of a document that has phase headers; null when it has none. In a section about risks, tests
 * or dependencies `Phase 1: Core` is a chapter about a phase, so such headers count only with `anywhere`.
 */
export function outlineByHeading(
  lines: readonly Line[],
  headings: ReadonlySet<string>,
  anywhere: boolean,
): Outline | null {
  const group = { headings, majors: false, ownCriteria: true };
  const phase = { headings, majors: false, ownCriteria: false };
  for (const [read, looking] of [
    [phaseHeader, phase],
    [groupHeader, group],
    [barePhaseHeader, phase],
    [boldPhase, phase],
  ] as const) {
    const heads = chooseHeads(anywhere ? lines : withoutAsides(lines), read);
    if (heads.length > 0) return outline(lines, heads, looking);
  }
  return null;
}

/** `**Phase 1: Name**` on a line of its own, in documents without headings. */
function boldPhase(text: string): PhaseHeader | null {
  return /^\*\*phase\s[^*]+\*\*$/i.test(text) ? phaseHeader(text.replace(/\*\*/g, '')) : null;
}

const ASIDE =
  /^[^\x21-\x7E]*(?:(?:task(?:-level)?|phase(?:-level)?|critical) )?(?:risks?\b|dependenc|test(?:ing|s)?\b|acceptance criteria|success|(?:phase )?(?:validation|quality) gates|rollback|appendix|references|definition of done)/i;

/** The document with the headings inside asides turned into text. */
function withoutAsides(lines: readonly Line[]): readonly Line[] {
  let aside = 0;
  return lines.map((line) => {
    if (line.kind !== 'heading') return line;
    if (aside > 0 && line.level > aside) return { ...line, kind: 'text', level: 0 };
    aside = line.level > 1 && phaseHeader(line.text) === null && ASIDE.test(line.text) ? line.level : 0;
    return line;
  });
}

function chooseHeads(lines: readonly Line[], read: (text: string) => PhaseHeader | null): readonly Head[] {
  const kind = read === boldPhase ? 'text' : 'heading';
  const all = lines.flatMap((line, index) => {
    const header = line.kind === kind ? read(line.text) : null;
    return header === null ? [] : [{ ...header, index, level: kind === 'text' ? 7 : line.level }];
  });
  const level = phaseLevel(all);
  const chosen = new Map<string, Head>();
  const isOverTasks = tasksBelow(lines);
  for (const head of all) {
    const key = head.id.toLowerCase();
    const before = chosen.get(key);
    if (head.level === level) {
      // The first heading of an id is the phase, unless only a later one has tasks: then it was a summary.
      const better = before !== undefined && !isOverTasks(before) && isOverTasks(head);
      if (before === undefined || better) chosen.set(key, head);
    }
  }
  // A phase whose heading is too deep is still one if tasks of its number stand below it.
  for (const head of all) {
    const key = head.id.toLowerCase();
    if (head.level > level && !chosen.has(key) && hasTasksOf(lines, head, key)) chosen.set(key, head);
  }
  return [...chosen.values()].sort((a, b) => a.index - b.index);
}

/** The shallowest level with a phase; a title that happens to name one does not count where others are deeper. */
function phaseLevel(heads: readonly Head[]): number {
  const levels = [...new Set(heads.map(({ level }) => level))].sort((a, b) => a - b);
  const [first = 0, second] = levels;
  const isTitle = first === 1 && heads.filter(({ level }) => level === 1).length === 1;
  return isTitle && second !== undefined ? second : first;
}

/**
 * Tells whether a task stands below a head. Heads of one id, and bold ones, have the same lines below them: what is
 * known of a line is not looked for again.
 */
function tasksBelow(lines: readonly Line[]): (head: Head) => boolean {
  const byLevel = new Map<number, (boolean | undefined)[]>();
  return (head) => {
    const known = byLevel.get(head.level) ?? [];
    byLevel.set(head.level, known);
    let answer: boolean | undefined;
    let index = head.index;
    for (; answer === undefined && index < lines.length; index++) {
      const below = lines[index + 1];
      if (known[index] !== undefined) answer = known[index];
      else if (below === undefined || endsTasks(below, head)) answer = false;
      else if (taskAt(below) !== null) answer = true;
    }
    for (let told = head.index; told < index; told++) known[told] = answer === true;
    return answer === true;
  };
}

function hasTasksOf(lines: readonly Line[], head: Head, major: string): boolean {
  for (let index = head.index + 1; index < lines.length; index++) {
    const line = lines[index] as Line;
    if (endsTasks(line, head)) return false;
    const id = taskAt(line);
    if (id !== null && majorOf(id).toLowerCase() === major) return true;
  }
  return false;
}

function endsTasks(line: Line, head: Head): boolean {
  return line.kind === 'heading' && line.level <= head.level && taskHeader(line.text)?.named !== true;
}

/** The id of the task that a heading or a box is; null where it is none. */
function taskAt(line: Line): string | null {
  if (line.kind !== 'heading' && line.box === 'none') return null;
  const header = taskHeader(line.text);
  const is = header !== null && (header.strong || (header.named && line.kind === 'heading'));
  return is ? header.id : null;
}

function outline(lines: readonly Line[], heads: readonly Head[], looking: Looking): Outline {
  const outside: Line[] = lines.slice(0, heads[0]?.index ?? 0);
  const sections = heads.map((head, position) => {
    const until = heads[position + 1]?.index ?? lines.length;
    const end = endOf(lines, head, until);
    for (const line of lines.slice(end, until)) outside.push(line);
    return { head, lines: lines.slice(head.index + 1, end) };
  });
  const beyond = divide(outside, looking, ['heading']);
  const used = new Set<TaskDraft>();
  const byKey = new Map(beyond.tasks.map((task) => [taskKey(task.id), task]));
  const phases = sections.map((section): PhaseDraft => {
    const walked = dividePhase(section.lines, looking, byKey);
    for (const task of walked.tasks) used.add(task);
    return {
      ...draftOf(section.head, (lines[section.head.index] as Line).number, walked),
      ownCriteria: looking.ownCriteria || walked.tasks.every(({ id }) => id === ''),
    };
  });
  return adopt({ phases, outside: { ...beyond, tasks: beyond.tasks.filter((task) => !used.has(task)) } });
}

/** Where a phase ends: at a heading of its level that is neither one of its tasks nor its gate nor about it. */
function endOf(lines: readonly Line[], head: Head, until: number): number {
  for (let index = head.index + 1; index < until; index++) {
    const line = lines[index] as Line;
    if (line.kind === 'heading' && line.level <= head.level && !belongsTo(line, head)) return index;
  }
  return until;
}

function belongsTo(line: Line, head: Head): boolean {
  const task = taskHeader(line.text);
  if (task?.named === true) return ['', head.id.toLowerCase()].includes(majorOf(task.id).toLowerCase());
  const gate = gateTitle(line.text);
  if (gate !== null && !gate.several) {
    if (gate.phaseId !== null) return gate.phaseId.toLowerCase() === head.id.toLowerCase();
    return !/\b(?:final|overall|project)\b/i.test(line.text);
  }
  const about = /^[^\x21-\x7E]*phase\s+(\S+)\s+[A-Za-z(]/i.exec(line.text)?.[1];
  return about !== undefined && about.toLowerCase() === head.id.toLowerCase();
}

/** The tasks of a phase: its own, else those it names that are defined outside every phase. */
function dividePhase(
  lines: readonly Line[],
  looking: Looking,
  outside: ReadonlyMap<string, TaskDraft>,
): Walked {
  const own = divide(lines, looking, ['heading']);
  if (own.tasks.length > 0) return own;
  const { tasks: named, bullets } = referencedTasks(own.rest, outside);
  if (named.length === 0) return divide(lines, looking, ALL_STYLES);
  return { ...own, tasks: named, rest: own.rest.filter((line) => !bullets.has(line)) };
}

interface Referenced {
  readonly tasks: readonly TaskDraft[];
  /** The lines that name them. */
  readonly bullets: ReadonlySet<Line>;
}

function referencedTasks(lines: readonly Line[], outside: ReadonlyMap<string, TaskDraft>): Referenced {
  const tasks = new Set<TaskDraft>();
  const bullets = new Set<Line>();
  for (const line of outside.size === 0 ? [] : lines) {
    if (line.kind !== 'bullet') continue;
    for (const [id] of line.text.matchAll(
      /\b(?:task[-_](?:[A-Z]+[-_])*[\d.]*\d|P\d+-T\d+[a-z]?|\d+\.\d+)\b/gi,
    )) {
      const task = outside.get(taskKey(id));
      if (task === undefined) continue;
      tasks.add(task);
      bullets.add(line);
    }
  }
  return { tasks: [...tasks], bullets };
}

/** Tasks outside every phase go to the phase of their number, if it has no task of that id. */
function adopt(outline: Outline): Outline {
  const left: TaskDraft[] = [];
  const adopted = new Map<string, TaskDraft[]>();
  const byMajor = new Map(outline.phases.map((phase) => [phase.id.toLowerCase(), phase]));
  const known = new Set(outline.phases.flatMap(({ tasks }) => tasks.map(({ id }) => taskKey(id))));
  for (const task of outline.outside.tasks) {
    const phase = byMajor.get(majorOf(task.id).toLowerCase());
    if (phase === undefined || known.has(taskKey(task.id)) || taskHeader(task.head.text)?.named !== true) {
      left.push(task);
      continue;
    }
    known.add(taskKey(task.id));
    const tasks = adopted.get(phase.id) ?? [];
    tasks.push(task);
    adopted.set(phase.id, tasks);
  }
  const phases = outline.phases.map((phase) => ({
    ...phase,
    tasks: [...phase.tasks, ...(adopted.get(phase.id) ?? [])],
  }));
  return { phases, outside: { ...outline.outside, tasks: left } };
}
