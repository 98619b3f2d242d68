import type { Phase, Workflow } from '@phasegate/core';
import type { Hear } from './compare.ts';
import type { Asked } from './interpreter.ts';
import type { Completion, State, Told } from './state.ts';

/** How often each thing worth reaching was reached. */
export class Coverage {
  readonly counts = new Map<string, number>();

  readonly hear: Hear = ({ asked, before, after, told }) => {
    const isAllowed = told.codes.length === 0;
    for (const code of told.codes) this.#count(`code ${code}`);
    for (const code of told.would) this.#count(`would ${code}`);
    if (after !== null) this.#count(`status ${after.status}`);
    if (asked === null || before === null || after === null) {
      this.#count(isAllowed ? 'start allowed' : 'start refused');
      if (after !== null) for (const kind of kindsOf(after.workflow)) this.#count(`workflow with ${kind}`);
      return;
    }
    this.#noticed(before, after, told);
    const { kind } = asked.command;
    this.#count(`${kind} ${isAllowed ? 'allowed' : 'refused'}`);
    if (after.status === 'escalated' && before.status !== 'escalated')
      this.#count(`escalated ${after.escalated}`);
    const phase = after.workflow.phases.find(({ id }) => id === before.phase);
    if (phase === undefined) return;
    if (kind === 'complete' && isAllowed) this.#completed(phase, before, after);
    if (kind === 'decide' && before.gate !== null) this.#decided(phase, { asked, after, told });
  };

  /** What became of values, names and items. */
  #noticed(before: State, after: State, told: Told): void {
    const isWork = told.codes.length > 0 && before.phase === after.phase;
    if (isWork && [...before.items].some(([key, { status }]) => status === 'completed' && isOpen(after, key)))
      this.#count('join reopened');
    if (after.others.length > 0 && after.refusals > before.refusals) this.#count('refusals that take turns');
    if (after.owed.size > before.owed.size) this.#count('attempts owed');
    if (after.settled.length < before.settled.length) this.#count('decision dropped on entering again');
    if (told.codes.length === 0 && after.done.length > before.done.length + 1)
      this.#count('empty phase left');
    for (const visit of after.done.slice(before.done.length)) this.#left(visit);
  }

  #left({ outcome, word, letThrough, approved, outcomes }: Completion): void {
    const said = {
      'outcome rejected': outcome === 'rejected',
      'outcome overridden': outcome === 'overridden',
      'word beside the evidence': word !== undefined,
      'let through': letThrough === true,
      approved: approved !== undefined,
      'context approved': Object.keys(approved ?? {}).length > 0,
      'join of different outcomes': new Set(Object.values(outcomes ?? {})).size > 1,
      [`join ${outcome}`]: outcomes !== undefined,
    };
    for (const [name, holds] of Object.entries(said)) if (holds) this.#count(name);
  }

  #completed(phase: Phase, before: State, after: State): void {
    const left = after.done.at(-1);
    if (after.gate !== null) {
      this.#count(`gate opened by ${after.gate.done.outcome}`);
      if (phase.parallel !== null) this.#count('join at a gate');
    } else if (after.epoch > before.epoch && left?.phase === phase.id) {
      this.#count(`route ${phase.next.kind}`);
      this.#count(`outcome ${left.outcome}`);
      if (phase.parallel !== null) this.#count('join left');
    }
  }

  #decided(phase: Phase, { asked, after, told }: { asked: Asked; after: State; told: Told }): void {
    const { option } = asked.command as Extract<typeof asked.command, { kind: 'decide' }>;
    const next = phase.humanGate?.options.find(({ label }) => label === option)?.next;
    const way = next === undefined ? 'the route' : next === null ? 'a stop' : 'a phase of its own';
    if (told.codes.length === 0) this.#count(after.gate === null ? `decided for ${way}` : 'voted');
    if (told.codes.includes('precondition_failed')) this.#count('human held by a precondition');
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

/** What a workflow has that is worth counting. */
export function kindsOf({ phases, enforcement }: Workflow): string[] {
  const some = (has: (phase: Phase) => boolean) => phases.some(has);
  const options = phases.flatMap(({ humanGate }) => humanGate?.options ?? []);
  const found = {
    'a gate': some(({ humanGate }) => humanGate !== null),
    'a gate with context': some(({ humanGate }) => (humanGate?.context.length ?? 0) > 0),
    'written `approves`': options.some(({ approves }) => approves !== undefined),
    'a loop': some(({ next }) => next.kind !== 'to' && next.maxIterations !== null),
    'a parallel phase': some(({ parallel }) => parallel !== null),
    'a way for no items': some(({ parallel }) => parallel?.onEmpty !== undefined),
    'a handler': some(({ work }) => work.kind === 'handler'),
    'a free result': some(({ evidence }) => evidence.fields.length + evidence.artifacts.length === 0),
    'declared evidence': some(({ evidence }) => evidence.fields.length + evidence.artifacts.length > 0),
    'a way for `fail`': some(({ next }) => next.kind === 'outcomes' && 'fail' in next.map),
    'permissive mode': enforcement.mode === 'permissive',
  };
  return Object.entries(found).flatMap(([kind, has]) => (has ? [kind] : []));
}

const isOpen = (s: State, key: string) => s.items.get(key)?.status === 'pending';
