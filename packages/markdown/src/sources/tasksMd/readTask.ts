import type { SourceCriterion, SourceStatus } from '@phasegate/core/ports';
import { createChecklist } from './checklist.ts';
import { cleanName, statusOf } from './cleanName.ts';
import { descriptionOf } from './descriptionOf.ts';
import { endsCriteria, type Label, type LabelKind, labelKind } from './labels.ts';
import type { Line } from './readLines.ts';
import type { TaskDraft } from './taskDraft.ts';

/** A task with everything its own lines say. */
export interface ReadTask {
  readonly id: string;
  readonly name: string;
  readonly line: number;
  readonly description: string;
  readonly estimate: string;
  /** What stands after the label `Dependencies`, one entry for each line. */
  readonly dependencies: readonly { readonly text: string; readonly line: number }[];
  readonly criteria: readonly SourceCriterion[];
  /** The line of a criteria label under which nothing was found; 0 when there is none. */
  readonly emptyCriteria: number;
  readonly status: SourceStatus;
}

/** Reads a task's title and body. */
export function readTask(draft: TaskDraft): ReadTask {
  const title = cleanName(draft.title);
  const wanted = wantedCriteria(draft.body);
  const reading = new Reading(draft, wanted);
  for (const [index, line] of draft.body.entries()) reading.take(line, index);
  const criteria = reading.criteria.items();
  const remarks = title.remarks.map((remark) => ({
    ...draft.head,
    kind: 'text' as const,
    box: 'none' as const,
    indent: 0,
    raw: remark,
  }));
  return {
    id: draft.id,
    name: title.name,
    line: draft.head.number,
    description: descriptionOf([...remarks, ...reading.rest]),
    estimate: estimateOf(reading.estimates, title.duration),
    dependencies: reading.dependencies,
    criteria:
      criteria.length > 0 || reading.inline === '' ? criteria : [{ text: reading.inline, checked: false }],
    emptyCriteria: criteria.length === 0 && reading.inline === '' ? reading.labelledAt : 0,
    status: draft.box === 'ticked' ? 'completed' : (reading.status ?? title.status ?? 'pending'),
  };
}

/** Which lists of the body are the criteria: those after the label, else the checklist, else the steps. */
type Wanted = 'criteria' | 'other_criteria' | 'boxes' | 'steps';

function wantedCriteria(body: readonly Line[]): Wanted {
  const kinds = new Set<LabelKind>();
  for (const line of body) {
    if (line.kind === 'heading') kinds.add(labelKind(line.text));
    else for (const { kind } of line.labels) kinds.add(kind);
  }
  if (kinds.has('criteria')) return 'criteria';
  if (kinds.has('other_criteria')) return 'other_criteria';
  return body.some(({ box }) => box !== 'none') ? 'boxes' : 'steps';
}

/** Where the reader is: what the lines that follow belong to. */
interface Place {
  readonly kind: 'rest' | 'criteria' | 'dependencies';
  /** Column of the bullet that holds the label; -1 where the label is a line or a heading of its own. */
  readonly under: number;
  readonly boxesOnly: boolean;
}

const TIME = /^[⏱⏰⌛⏳🕐🕒]\uFE0F?\s*\**(~?\d[^*]{0,30})\**$/u;

const REST: Place = { kind: 'rest', under: -1, boxesOnly: false };

class Reading {
  readonly criteria = createChecklist();
  readonly rest: Line[] = [];
  readonly estimates: Label[] = [];
  readonly dependencies: { text: string; line: number }[] = [];
  inline = '';
  labelledAt = 0;
  status: SourceStatus | null = null;
  private place: Place = REST;
  private grouped = false;
  private afterBlank = false;
  private readonly draft: TaskDraft;
  private readonly wanted: Wanted;

  constructor(draft: TaskDraft, wanted: Wanted) {
    this.draft = draft;
    this.wanted = wanted;
  }

  take(line: Line, index: number): void {
    this.sort(line, index);
    this.afterBlank = line.kind === 'blank';
  }

  private sort(line: Line, index: number): void {
    switch (line.kind) {
      case 'blank':
      case 'code':
        this.rest.push(line);
        return;
      case 'rule':
        this.place = REST;
        return;
      case 'heading':
        this.takeHeading(line);
        return;
      case 'text':
        this.takeText(line, index);
        return;
      case 'bullet':
        this.takeBullet(line);
    }
  }

  private takeHeading(line: Line): void {
    const kind = labelKind(line.text);
    this.place = REST;
    if (kind === this.wanted) this.startCriteria(line, -1, '');
    else if (kind === 'dependencies' && line.level > this.draft.head.level)
      this.place = { ...REST, kind: 'dependencies' };
    else if (kind !== 'purpose') this.rest.push(line);
  }

  private takeText(line: Line, index: number): void {
    if (this.takeTime(line)) return;
    const { labels } = line;
    const [first] = labels;
    if (first !== undefined) {
      if (this.isGroup(first, index)) return;
      this.takeLabels(line, labels, -1);
      return;
    }
    if (this.place.kind === 'criteria') {
      if (line.indent <= this.place.under) this.place = REST;
      else if (this.criteria.extend(line, this.afterBlank)) return;
      // A paragraph between the boxes is a remark; after it only boxes still are criteria.
      else if (/:$/.test(line.text) && !this.isGroup({ label: line.text, kind: 'other', value: '' }, index))
        this.place = REST;
      else this.place = { ...this.place, boxesOnly: this.criteria.indent() >= 0 };
    } else if (this.place.kind === 'dependencies') this.place = REST;
    this.rest.push(line);
  }

  private takeBullet(line: Line): void {
    // Boxes in the column of the label's own bullet are still below it; another bullet there is not.
    const { under } = this.place;
    if (line.indent < under || (line.indent === under && line.box === 'none')) this.place = REST;
    if (this.takeTime(line)) return;
    const { labels } = line;
    const inCriteria = this.place.kind === 'criteria';
    if (labels.some(({ kind }) => kind !== 'other') || (labels.length > 0 && !inCriteria)) {
      this.takeLabels(line, labels, line.indent);
      return;
    }
    if (
      inCriteria &&
      !(this.place.boxesOnly && line.box === 'none' && line.indent <= this.criteria.indent())
    ) {
      this.criteria.add(line);
    } else if (this.place.kind === 'dependencies') {
      this.dependencies.push({ text: line.text, line: line.number });
    } else if (this.wanted === 'boxes' && this.isStep(line)) this.criteria.add(line);
    else if (this.wanted === 'steps' && this.draft.style === 'bullet' && !/^_.*_$/.test(line.text)) {
      this.criteria.add(line);
    } else this.rest.push(line);
  }

  /** `⏱️ 2 hours` on a line of its own. */
  private takeTime(line: Line): boolean {
    const time = line.box === 'none' ? TIME.exec(line.text)?.[1] : undefined;
    if (time === undefined) return false;
    this.estimates.push({ label: 'Time', kind: 'estimate', value: time });
    return true;
  }

  /** A box, or a detail right below one. */
  private isStep(line: Line): boolean {
    return line.box !== 'none' || (this.criteria.indent() >= 0 && line.indent > this.criteria.indent());
  }

  private takeLabels(line: Line, labels: readonly Label[], under: number): void {
    this.place = REST;
    for (const label of labels) {
      if (label.kind === this.wanted) this.startCriteria(line, under, label.value);
      else if (label.kind === 'estimate' || label.kind === 'actual') this.estimates.push(label);
      else if (label.kind === 'status') this.status ??= statusOf(label.value);
      else if (label.kind === 'dependencies') {
        if (label.value === '') this.place = { kind: 'dependencies', under, boxesOnly: false };
        else this.dependencies.push({ text: label.value, line: line.number });
      } else if (label.kind === 'purpose') {
        if (label.value !== '') this.rest.push({ ...line, kind: 'text', indent: 0, raw: label.value });
      } else if (labels.length === 1) this.rest.push(line);
      else this.rest.push({ ...line, kind: 'text', raw: `**${label.label}:** ${label.value}` });
    }
  }

  private startCriteria(line: Line, under: number, value: string): void {
    this.place = { kind: 'criteria', under, boxesOnly: false };
    this.labelledAt = line.number;
    if (!/^\(.*\)$|:$/.test(value)) this.inline ||= value;
  }

  /** A label between criteria that names a group of them rather than something else. */
  private isGroup({ label, value }: Label, index: number): boolean {
    if (this.place.kind !== 'criteria' || value !== '') return false;
    const grouped = this.grouped || this.criteria.indent() < 0;
    if (endsCriteria(label, grouped)) return false;
    const next = this.draft.body.slice(index + 1, index + 4).find(({ kind }) => kind !== 'blank');
    if (next === undefined || next.box === 'none') return false;
    this.grouped = grouped;
    return true;
  }
}

/** The author's estimate; several are kept with their labels, what it really took counts only without one. */
export function estimateOf(labels: readonly Label[], fromTitle: string): string {
  const estimates = labels.filter(({ kind, value }) => kind === 'estimate' && value !== '');
  const [only] = estimates;
  if (estimates.length > 1) return estimates.map(({ label, value }) => `${label}: ${value}`).join('; ');
  if (only !== undefined) return only.value;
  if (fromTitle !== '') return fromTitle;
  return labels.find(({ kind }) => kind === 'actual')?.value ?? '';
}
