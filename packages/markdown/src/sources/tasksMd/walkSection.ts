import { gateTitle } from './gateTitle.ts';
import { boxedTaskHeader, type TaskHeader, taskHeader, taskKey } from './headers.ts';
import { endsCriteria, type LabelKind, labelKind, labelsOf } from './labels.ts';
import type { Line } from './readLines.ts';
import type { GateDraft, TaskDraft } from './taskDraft.ts';

/** How the tasks of a section are written. */
export type TaskStyle = 'heading' | 'numbered' | 'unnumbered' | 'plain';

/** A part of the document to look through. */
export interface Section {
  readonly lines: readonly Line[];
  readonly style: TaskStyle;
  /** Keys of all tasks that are headings somewhere: a bullet with such an id is a reference. */
  readonly headings: ReadonlySet<string>;
  /** Whether `Quality Gate:` inside a task is the task's own affair. */
  readonly gatesInTasks: boolean;
  /** Whether `1.` over `1.1` stands for a phase and its tasks, rather than for a task and its steps. */
  readonly majors: boolean;
  /** Whether criteria below the last task are the section's own, as those of a task group are. */
  readonly ownCriteria: boolean;
}

/** What a section is made of. */
export interface Walked {
  readonly tasks: readonly TaskDraft[];
  readonly gates: readonly GateDraft[];
  /** Everything that belongs to no task and no gate. */
  readonly rest: readonly Line[];
  /** How many gates without a phase's id stood inside a task. */
  readonly gatesInTasks: number;
}

/** Divides the lines of a section among its tasks, its gates and the rest. */
export function walkSection(section: Section): Walked {
  const walk = new Walk(section);
  for (const [index, line] of section.lines.entries()) walk.take(line, index);
  return { tasks: walk.tasks, gates: walk.gates, rest: walk.rest, gatesInTasks: walk.gatesInTasks };
}

const ABOUT_PHASE = /^[^\x21-\x7E]*phase\s+\d/i;
const OF_THE_DOCUMENT =
  /dependenc|\brisks?\b|timeline|summary|success|strategy|deliverables|appendix|references|rollout|milestone|week\s+\d|overview/i;

class Walk {
  readonly tasks: TaskDraft[] = [];
  readonly gates: GateDraft[] = [];
  readonly rest: Line[] = [];
  gatesInTasks = 0;
  private task: TaskDraft | null = null;
  private gate: GateDraft | null = null;
  /** Below a label or heading whose boxes are not tasks. */
  private closed = false;
  private afterRule = false;
  /** The body's last line that is text or a bullet; kept, because bodies are long and every line asks. */
  private lastSaid: Line | null = null;
  /** The body has text that is not below the task's bullet. */
  private listed = false;
  /** The task has a label or heading for criteria already. */
  private hasCriteria = false;
  private readonly seen = new Set<string>();
  private readonly section: Section;
  /** Some heading of the section says `Task`. */
  private readonly named: boolean;

  constructor(section: Section) {
    this.section = section;
    this.named = section.lines.some((line) => line.level > 0 && taskHeader(line.text)?.named === true);
  }

  take(line: Line, index: number): void {
    if (line.kind === 'heading') this.takeHeading(line);
    else if (line.kind === 'rule') this.takeRule(line);
    else if (line.kind === 'bullet') this.takeBullet(line, index);
    else if (line.kind === 'text') this.takeText(line, index);
    else this.keep(line);
    if (line.kind !== 'blank') this.afterRule = line.kind === 'rule';
  }

  private takeHeading(line: Line): void {
    const header = taskHeader(line.text);
    if (header !== null && this.isHeadingTask(header, line)) {
      this.start(header, line, 'heading');
      return;
    }
    const gate = gateTitle(line.text);
    if (gate !== null) {
      this.open({ ...gate, head: line, inline: '', lines: [] });
      return;
    }
    if (this.gate !== null && line.level > this.gate.head.level && this.gate.head.level > 0) {
      this.gate.lines.push(line);
      return;
    }
    this.gate = null;
    const kind = labelKind(line.text);
    if (!this.isInTask(line, kind)) this.task = null;
    else if (kind === 'criteria') this.hasCriteria = true;
    this.closed = kind === 'criteria' || kind === 'other_criteria';
    this.keep(line);
  }

  private isHeadingTask(header: TaskHeader, line: Line): boolean {
    if (header.named) return isDefinition(header);
    // A bare number is a task only where no heading says `Task`, and `1.1.1` below `1.1` is a part of it.
    if (this.named || this.section.style !== 'heading') return false;
    const { task } = this;
    return task === null || line.level <= task.head.level || !header.id.startsWith(`${task.id}.`);
  }

  /** Whether a heading that is not a task and no gate is a part of the task above it. */
  private isInTask(line: Line, kind: LabelKind): boolean {
    const { task } = this;
    if (task === null || task.style !== 'heading' || ABOUT_PHASE.test(line.text)) return false;
    const deeper = line.level > task.head.level;
    const isCriteria = kind === 'criteria' && line.level >= task.head.level;
    if (isCriteria) return deeper || !this.hasCriteria;
    if (this.afterRule) return deeper && kind !== 'other';
    // Authors set the parts of a task as headings of its own level; `##` and these titles are the document's.
    return deeper || (line.level === task.head.level && line.level > 2 && !OF_THE_DOCUMENT.test(line.text));
  }

  private takeRule(line: Line): void {
    if (this.gate?.several !== true) this.gate = null;
    if (this.task?.style === 'bullet') this.task = null;
    this.keep(line);
  }

  private takeBullet(line: Line, index: number): void {
    const header = this.definition(line);
    if (header !== null) {
      this.start(header, line, 'bullet');
      return;
    }
    if (this.takeLabel(line, index) || this.takeBoxedGate(line)) return;
    if (this.leavesTask(line)) this.task = null;
    this.keep(line);
  }

  /** `- [ ] **Validation Gate**: all tests pass` among the tasks is a gate of one condition. */
  private takeBoxedGate(line: Line): boolean {
    const mentions = line.box !== 'none' && this.gate === null && /gate|checkpoint/i.test(line.text);
    const [label] = mentions ? labelsOf(line.text) : [];
    const title = label?.kind === 'gate' && label.value !== '' ? gateTitle(label.label) : null;
    if (label === undefined || title === null) return false;
    const { task } = this;
    if (task !== null && (task.style === 'heading' || line.indent > task.head.indent)) return false;
    this.open({ ...title, head: line, inline: '', lines: [{ ...line, text: label.value }] });
    this.gate = null;
    return true;
  }

  private takeText(line: Line, index: number): void {
    if (this.section.style === 'plain' && this.task?.style !== 'heading') {
      const header = taskHeader(line.text);
      if (header?.strong === true && line.text.startsWith('**')) {
        this.start(header, line, 'heading');
        return;
      }
    }
    if (this.takeLabel(line, index)) return;
    if (this.leavesTask(line)) this.task = null;
    this.keep(line);
  }

  /** Handles a line that starts with a label which changes what follows; true when the line is used up. */
  private takeLabel(line: Line, index: number): boolean {
    const [label] = line.labels;
    if (label === undefined) return false;
    if (label.kind === 'criteria') this.hasCriteria = true;
    if (label.kind === 'gate') return this.takeGateLabel(line, label.label, label.value);
    if (this.gate !== null && this.gate.head.level === 0 && line.kind === 'text') {
      // A group of boxes inside the gate, or something new.
      if (label.kind !== 'other' || endsCriteria(label.label, true) || !this.boxFollows(index))
        this.gate = null;
    }
    if (line.kind === 'text' && ABOUT_PHASE.test(label.label) && line.indent === 0) this.task = null;
    const inTask = this.task !== null && !this.leavesTask(line);
    if (!inTask && this.gate === null && line.kind === 'text') {
      this.closed = label.kind === 'criteria' || label.kind === 'other_criteria';
    }
    return false;
  }

  private takeGateLabel(line: Line, label: string, inline: string): boolean {
    const title = gateTitle(label);
    if (title === null) return false;
    const { task } = this;
    const nested = task?.style === 'bullet' && line.indent > task.head.indent;
    if (nested) return false;
    if (
      this.gate !== null &&
      (title.phaseId === null || title.phaseId === this.gate.phaseId || this.gate.several)
    ) {
      this.gate.lines.push(line);
      return true;
    }
    if (task?.style === 'heading' && title.phaseId === null) {
      if (this.section.gatesInTasks) return false;
      this.gatesInTasks++;
    }
    this.open({ ...title, head: line, inline, lines: [] });
    return true;
  }

  private definition(line: Line): TaskHeader | null {
    const { style, headings } = this.section;
    if (line.box === 'none') return style === 'plain' ? this.plainDefinition(line) : null;
    const header = boxedTaskHeader(line.text);
    if (style === 'heading') {
      const own = header?.strong === true && line.text.startsWith('**') && !headings.has(taskKey(header.id));
      return own && this.gate === null && line.indent === 0 ? header : null;
    }
    if (style === 'numbered') {
      return header === null ? this.siblingDefinition(line) : this.numberedDefinition(header, line);
    }
    const nested = this.task !== null && line.indent > this.task.head.indent;
    if (style !== 'unnumbered' || nested || this.gate !== null || this.closed) return null;
    return header ?? { id: '', rest: line.text, named: false, strong: false };
  }

  private numberedDefinition(header: TaskHeader, line: Line): TaskHeader | null {
    const known = this.seen.has(taskKey(header.id));
    if (this.gate !== null) return header.strong && !known ? header : null;
    const nested = this.task !== null && line.indent > this.task.head.indent;
    if (!nested) return header.strong || !this.closed ? header : null;
    // `1.1` below `1.` is a step that is told apart later; `1.1.1` below `1.1` is a detail.
    const parent = this.task?.id ?? '';
    const over = this.section.majors ? /^\d+(?:\.0)?$/ : /^\d+\.0$/;
    const umbrella = over.test(parent) && header.id.startsWith(`${parent.replace(/\.0$/, '')}.`);
    return umbrella && /^\d+\.\d+$/.test(header.id) ? header : null;
  }

  /** A box without a number in a list of numbered ones. */
  private siblingDefinition(line: Line): TaskHeader | null {
    const { task } = this;
    const sibling = task?.style === 'bullet' && line.indent === task.head.indent && this.gate === null;
    if (!sibling || this.closed || taskHeader(task.head.text)?.named === true) return null;
    return { id: '', rest: line.text, named: false, strong: false };
  }

  private plainDefinition(line: Line): TaskHeader | null {
    const header = taskHeader(line.text);
    const nested = this.task !== null && line.indent > this.task.head.indent;
    if (header === null || !header.strong || nested || this.gate !== null) return null;
    return this.section.headings.has(taskKey(header.id)) ? null : header;
  }

  /** A bullet's task ends where the text is no longer below the bullet, unless it is clearly about the task. */
  private leavesTask(line: Line): boolean {
    const { task } = this;
    if (task === null || task.style !== 'bullet' || line.indent > task.head.indent) return false;
    const kind = line.labels[0]?.kind;
    const own = kind === 'criteria' || kind === 'dependencies' || kind === 'estimate';
    const shared = this.section.ownCriteria || this.section.style === 'unnumbered';
    if (own) return shared || line.indent < task.head.indent;
    const last = task.body.at(-1);
    if (line.kind === 'text' && kind === undefined) return last?.kind === 'blank';
    // Boxes right below an unindented criteria label belong to it.
    const label = this.lastSaid;
    return !(this.listed && line.kind === 'bullet' && label !== null && label.indent <= task.head.indent);
  }

  private boxFollows(index: number): boolean {
    const next = this.section.lines.slice(index + 1, index + 4).find(({ kind }) => kind !== 'blank');
    return next !== undefined && next.box !== 'none';
  }

  private start(header: TaskHeader, line: Line, style: TaskDraft['style']): void {
    this.gate = null;
    this.closed = false;
    this.hasCriteria = false;
    this.seen.add(taskKey(header.id));
    this.task = { id: header.id, title: header.rest, head: line, box: line.box, style, body: [] };
    this.tasks.push(this.task);
    this.lastSaid = null;
    this.listed = false;
  }

  private open(gate: GateDraft): void {
    this.task = null;
    this.closed = false;
    this.gate = gate;
    this.gates.push(gate);
  }

  private keep(line: Line): void {
    (this.gate?.lines ?? this.task?.body ?? this.rest).push(line);
    if (this.gate !== null || this.task === null) return;
    if (line.kind === 'text' || line.kind === 'bullet') this.lastSaid = line;
    if (line.kind === 'text' && line.indent <= this.task.head.indent) this.listed = true;
  }
}

/** A heading that is about a task without being it: `Task 1.1 Acceptance Criteria`. */
function isDefinition(header: TaskHeader): boolean {
  return header.strong || labelKind(header.rest) === 'other';
}
