import { oneLine } from '../model/oneLine.ts';
import { fillTemplate } from '../model/template.ts';
import type { Content, Phase, Workflow } from '../model/workflow.ts';
import { quoteLines, quoteRest } from './foreignText.ts';
import { type ItemStand, type Keyed, standOf } from './itemStand.ts';
import { QUESTION_RELAY_HANDLER } from './questionRelay.ts';
import type { Answer, PhaseWork } from './run.ts';

/** Title and instructions made by a phase's own function, in place of the written ones. */
export interface RenderedText {
  readonly title: string;
  readonly body: string;
}

/** What is known beside the phase itself. */
export interface Told {
  /** The work on it so far; absent for a phase that is only reviewed. */
  readonly work?: PhaseWork | null | undefined;
  readonly rendered?: RenderedText | undefined;
  /** The agent that reads it: of many items, those it holds come first. */
  readonly reader?: string | undefined;
}

/** All of a phase an agent reads: instructions, rules, what must be shown, and why the last attempt failed. */
export function phaseText(workflow: Workflow, phase: Phase, told: Told = {}): string {
  const { work = null, rendered, reader } = told;
  const served = contentOf(phase.content, workflow.templates?.phase);
  if (served !== null) return [...feedbackLines(work), served, ...itemLines(work, reader)].join('\n\n');
  const title = rendered?.title ?? phase.name;
  const heading = title === String(phase.id) ? `# Phase ${phase.id}` : `# Phase ${phase.id}: ${title}`;
  const parts = [
    heading,
    ...feedbackLines(work),
    phase.description,
    rendered?.body ?? phase.instructions,
    ...workLines(phase),
    ...taskLines(phase),
    ...toolLines(phase),
    ...evidenceLines(phase),
    ...itemLines(work, reader),
  ];
  return parts
    .map((part) => part.trimEnd())
    .filter((part) => part !== '')
    .join('\n\n');
}

/** One task as an agent reads it. */
export function taskText(workflow: Workflow, phase: Phase, number: number): string {
  const task = phase.tasks[number - 1];
  if (task === undefined) throw new RangeError('there is no such task');
  const served = contentOf(task.content, workflow.templates?.task);
  if (served !== null) return served;
  const criteria = task.acceptanceCriteria.map((criterion) => `- ${criterion}`).join('\n');
  const parts = [
    `# Task ${number} of ${phase.tasks.length} in Phase ${phase.id}: ${task.name}`,
    task.instructions.trimEnd(),
    criteria === '' ? '' : `Acceptance criteria:\n${criteria}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** What the next attempt must know, in one text; null when there is nothing. */
export function feedbackOf(work: PhaseWork): string | null {
  const lines = feedbackLines(work);
  return lines.length === 0 ? null : lines.join('\n');
}

/** What the next attempt is told of the last; what a command printed is not the engine's word. */
export function previousAttempt(error: string): string {
  return `Previous attempt failed: ${quoteRest(error)}`;
}

// Filled once: workflows are frozen, so the content object stands for its text.
const filled = new WeakMap<Content, string>();

function contentOf(content: Content | null, template: string | undefined): string | null {
  if (content === null) return null;
  if (content.kind === 'text') return content.text;
  const known = filled.get(content);
  if (known !== undefined) return known;
  const text = fillTemplate(template ?? '', content.values);
  filled.set(content, text);
  return text;
}

function feedbackLines(work: PhaseWork | null): readonly string[] {
  if (work === null) return [];
  return [
    work.failure === null ? '' : previousAttempt(work.failure),
    work.note === null ? '' : `From a human: ${quoteRest(work.note)}`,
    ...work.answers.map(answerText),
  ].filter((line) => line !== '');
}

/** An answer means nothing without its question, and a client's hook may have given it. */
function answerText({ question, asked, text, by, elicited }: Answer): string {
  const who = elicited
    ? `through the client of agent \`${by}\`, not by a known human`
    : `by the human \`${by}\``;
  return [
    ...(asked === undefined ? [] : [`Question ${question}, asked by an agent:`, quoteLines(asked)]),
    `Answer to question ${question}, ${who}:`,
    quoteLines(text),
  ].join('\n');
}

function workLines(phase: Phase): readonly string[] {
  if (phase.work.kind === 'command') return [`Command: \`${phase.work.command}\``];
  if (phase.work.kind === 'dispatch') {
    return [
      `Done by a sub-agent in the role \`${phase.work.agent}\`${phase.work.script ? ` with \`${phase.work.script}\`` : ''}`,
      ...(phase.work.supportsQuestions ? [QUESTION_RELAY_HANDLER] : []),
    ];
  }
  return [];
}

function taskLines(phase: Phase): readonly string[] {
  if (phase.tasks.length === 0) return [];
  const list = phase.tasks.map((task, index) => `${index + 1}. ${task.name}`).join('\n');
  return [`Tasks, fetched one at a time:\n${list}`];
}

function toolLines(phase: Phase): readonly string[] {
  const { allowed, forbidden } = phase.tools;
  const { hosts = [] } = phase;
  if ([allowed, forbidden, phase.writes, hosts].every(({ length }) => length === 0)) return [];
  const lines = [
    `Allowed tools: ${allowed.length === 0 ? 'none' : allowed.join(', ')}`,
    forbidden.length === 0 ? '' : `Forbidden tools: ${forbidden.join(', ')}`,
    `May write: ${phase.writes.length === 0 ? 'nothing' : phase.writes.join(', ')}`,
    hosts.length === 0 ? '' : `May reach from a sandbox: ${hosts.join(', ')}`,
  ];
  return [lines.filter((line) => line !== '').join('\n')];
}

function evidenceLines(phase: Phase): readonly string[] {
  const lines = [
    ...phase.evidence.fields.map((field) => `- \`${field.name}\` (${field.type})${about(field.description)}`),
    ...phase.evidence.artifacts.map((artifact) => `- \`${artifact.type}\`${about(artifact.description)}`),
  ];
  const conditions = [...phase.postconditions, ...phase.blockers].map((check) => `- ${check.label}`);
  return [
    lines.length === 0 ? '' : `Evidence to submit:\n${lines.join('\n')}`,
    conditions.length === 0 ? '' : `Checked before the phase is complete:\n${conditions.join('\n')}`,
    phase.humanGate === null
      ? ''
      : `A human decides before ${endsRun(phase) ? 'the run is complete' : 'the next phase'}.`,
  ];
}

/** Whether no way of the phase's own leads to another. */
function endsRun({ next }: Phase): boolean {
  if (next.kind === 'to') return next.target === null;
  const ways =
    next.kind === 'when' ? [next.onTrue, next.onFalse] : [...Object.values(next.map), next.otherwise];
  return ways.every((target) => target === null || target === undefined);
}

/** Of many items the text tells some, and how many there are: no view grows with their number. */
function itemLines(work: PhaseWork | null, reader: string | undefined): readonly string[] {
  if (work === null || work.items === null) return [];
  const stand = standOf(work.items);
  if (stand.total <= MOST_ITEMS_TOLD) {
    return [`Items, each completed on its own:\n${Object.entries(work.items).map(itemLine).join('\n')}`];
  }
  const told = firstItems(stand, reader);
  const { total, open, held, completed, failed } = stand;
  const counts = `${open.length} open (${held.length} of them held), ${completed} completed, ${failed.length} failed`;
  const others = 'others follow as these are done, and a claim gives the next one that nobody holds';
  return [
    `Items, each completed on its own, ${total} in all: ${counts}`,
    ...(told.length === 0 ? [] : [`${told.length} of them; ${others}:\n${told.map(itemLine).join('\n')}`]),
  ];
}

/** Up to so many items are all told. */
export const MOST_ITEMS_TOLD = 200;

/** What the reader holds, then what is open, then what failed; of those that are completed only the number is told. */
function firstItems({ open, failed, byHolder }: ItemStand, reader: string | undefined): readonly Keyed[] {
  const own = (reader === undefined ? undefined : byHolder.get(reader)) ?? [];
  const some = [own, open, failed].flatMap((list) => list.slice(0, MOST_ITEMS_TOLD));
  return [...new Map(some)].slice(0, MOST_ITEMS_TOLD);
}

function itemLine([key, { status, holder, error }]: Keyed): string {
  const heldBy = holder === undefined ? '' : `, held by \`${holder}\``;
  return `- \`${oneLine(key)}\`: ${status}${heldBy}${error === null ? '' : ` (${previousAttempt(error)})`}`;
}

function about(description: string): string {
  return description === '' ? '' : `: ${description}`;
}
